//! What rustc and cargo say of code that does not build, on standard error.

use runner_core::event::TestEvent;
use runner_core::model::{CollectionError, Location};

use super::ReportItem;

/// Collects errors, one block of text each. They are believed once cargo says that something could not be compiled: only
/// then are they the compiler's and not what some test printed.
#[derive(Default)]
pub(super) struct Diagnostics {
    block: Vec<String>,
    errors: Vec<CollectionError>,
    /// The first error, whatever it was of.
    first: Option<String>,
    failed: Vec<CollectionError>,
}

impl Diagnostics {
    pub(super) fn line(&mut self, line: &str) {
        let begins = line.starts_with("error:") || line.starts_with("error[");
        if begins || line.trim().is_empty() || line.starts_with("warning") {
            self.close();
        }
        if let Some(what) = line.strip_prefix("error: could not compile ") {
            self.believe(what);
        } else if begins || !self.block.is_empty() {
            self.block.push(line.to_owned());
        }
    }

    fn close(&mut self) {
        let block = std::mem::take(&mut self.block);
        let Some(head) = block.first() else {
            return;
        };
        self.first.get_or_insert_with(|| head.clone());
        let location = block.iter().find_map(|line| place(line));
        let message = block.join("\n");
        let nodeid = location
            .as_ref()
            .map(|place| place.file.clone())
            .unwrap_or_default();
        match self.errors.iter_mut().find(|error| error.nodeid == nodeid) {
            Some(error) => error.message = format!("{}\n\n{message}", error.message),
            None => self.errors.push(CollectionError {
                nodeid,
                summary: message.lines().next().map(str::to_owned),
                message,
                location,
            }),
        }
    }

    /// `what` is "`shop` (test "bad") due to 1 previous error": what an error without a place is of.
    fn believe(&mut self, what: &str) {
        let package = what.split('`').nth(1).unwrap_or(what);
        for mut error in std::mem::take(&mut self.errors) {
            if error.nodeid.is_empty() {
                package.clone_into(&mut error.nodeid);
            }
            self.failed.push(error);
        }
    }

    /// Tells of what could not be built, beside tests that ran.
    pub(super) fn tell(&mut self, said: &mut Vec<ReportItem>) {
        let failed = self.failed.drain(..).map(TestEvent::CollectFailed);
        said.extend(failed.map(ReportItem::Exact));
    }

    /// Why nothing ran: the first thing that could not be built, else the first error of cargo's.
    pub(super) fn why(&self) -> String {
        let headline = |error: &CollectionError| {
            let line = error.message.lines().next().unwrap_or_default();
            let at = error.location.as_ref().and_then(|place| place.line);
            let at = at.map(|line| format!(":{line}")).unwrap_or_default();
            format!(": {}{at}: {line}", error.nodeid)
        };
        let first = || self.first.as_ref().map(|line| format!(": {line}"));
        self.failed
            .first()
            .map(headline)
            .or_else(first)
            .unwrap_or_default()
    }
}

/// `  --> tests/bad.rs:1:31`
fn place(line: &str) -> Option<Location> {
    let rest = line.trim_start().strip_prefix("--> ")?;
    let mut parts = rest.rsplitn(3, ':');
    let (_, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Location {
        file: file.to_owned(),
        line: line.parse().ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Diagnostics {
        let mut diagnostics = Diagnostics::default();
        text.lines().for_each(|line| diagnostics.line(line));
        diagnostics
    }

    #[test]
    fn each_file_that_does_not_build_is_told_with_the_compilers_text() {
        let text = "warning: unused variable: `x`
 --> src/lib.rs:1:5
  |

error[E0308]: mismatched types
 --> tests/bad.rs:1:31
  |
1 | #[test] fn bad() { let _x: i32 = \"a\"; }
  |                            ---   ^^^ expected `i32`, found `&str`

error: linking with `cc` failed: exit status: 1
  = note: ld: cannot find -lnowhere

For more information about this error, try `rustc --explain E0308`.
error: could not compile `shop` (test \"bad\") due to 2 previous errors
";
        let mut diagnostics = read(text);
        assert_eq!(
            diagnostics.why(),
            ": tests/bad.rs:1: error[E0308]: mismatched types"
        );
        let errors = diagnostics.failed.clone();
        assert_eq!(errors.len(), 2, "{errors:#?}");
        assert!(errors[0].message.contains("expected `i32`"), "{errors:#?}");
        assert!(
            errors[1].nodeid == "shop" && errors[1].message.contains("-lnowhere"),
            "{errors:#?}"
        );
        let mut said = Vec::new();
        diagnostics.tell(&mut said);
        assert_eq!(said.len(), 2);
    }

    #[test]
    fn what_a_test_prints_is_no_error_of_the_compilers() {
        let mut diagnostics = read("error: of the program under test\n --> x.rs:1:1\n\n");
        let mut said = Vec::new();
        diagnostics.tell(&mut said);
        assert_eq!(said, []);
    }
}
