//! A qaas backend for Rust's documentation tests: `cargo test --doc`.
//!
//! Its ids are `src/lib.rs::add (line 3)`, so that a file selects its tests. A table in `qaas.toml` would not do: rustdoc
//! splits a filter at its spaces, so it cannot be told to run exactly one test; here the others are dropped.

use dylib_plugin::runner_core::{
    backend::*, event::*, facts::Project, model::*, plan::*, selector::Selection,
};

struct Doctest;

struct Reader {
    selected: Selection,
    printed: String,
}

impl TestBackend for Doctest {
    fn info(&self) -> BackendInfo {
        BackendInfo {
            name: "rustdoc".to_owned(),
            framework: "cargo test --doc".to_owned(),
            language: "rust".to_owned(),
            capabilities: [Capability::Run, Capability::Single].into(),
            needs: vec![Need::Program("cargo".to_owned())],
            options: Vec::new(),
        }
    }

    fn plan(&self, request: &RunRequest, project: &Project) -> Result<Plan, BackendError> {
        if request.filters.markers.is_some() || request.filters.workers.is_some() {
            return Err(BackendError::new(
                "unsupported",
                "rustdoc knows no markers and no workers",
            ));
        }
        let mut args = vec!["test".to_owned(), "--doc".to_owned()];
        args.extend(request.filters.extra_args.iter().cloned());
        args.push("--".to_owned());
        let files = request.selection.words().into_iter();
        args.extend(files.filter_map(|word| Some(word.split("::").next()?.to_owned())));
        Ok(Plan::from(Step {
            name: "cargo test --doc".to_owned(),
            program: project.programs.get("cargo").cloned().unwrap_or_default(),
            args,
            cwd: request.cwd.clone(),
            ..Step::default()
        }))
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        let selected = request.selection.clone();
        let printed = String::new();
        Box::new(Reader { selected, printed })
    }
}

impl OutputReader for Reader {
    fn read(&mut self, lines: &Lines, _: &mut Vec<TestEvent>) {
        if lines.stream == Stream::Stdout {
            let lines = lines.lines.iter().flat_map(|line| [line.as_str(), "\n"]);
            self.printed.extend(lines);
        }
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        _: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        let rows: Vec<_> = self.printed.lines().filter_map(|line| self.row(line)).collect();
        let announced =
            |line: &str| -> Option<usize> { line.strip_prefix("running ")?.split(' ').next()?.parse().ok() };
        let complete = rows.len() == self.printed.lines().filter_map(announced).sum::<usize>();
        let bad = |row: &TestResult| row.outcome.is_bad();
        let admitted = |row: &TestResult| self.selected.admits(&row.nodeid);
        let (rows, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(admitted);
        let exit = match exits.first().and_then(|exit| exit.code) {
            Some(101) if rows.iter().any(bad) => ExitMeaning::TestsFailed,
            Some(101) if others.iter().any(bad) => ExitMeaning::Ok,
            Some(0) => ExitMeaning::Ok,
            _ => ExitMeaning::Other,
        };
        let ending = if !complete || exit == ExitMeaning::Other {
            Ending::because(EndingKind::Cut, exit, "cargo stopped before the end")
        } else if rows.is_empty() {
            Ending::because(EndingKind::NoTests, exit, "there is no such documentation test")
        } else {
            Ending::completed(exit)
        };
        events.extend(rows.into_iter().map(|row| TestEvent::Finished(Box::new(row))));
        Ok(ending)
    }
}

impl Reader {
    /// `test src/lib.rs - add (line 3) - compile fail ... ok`, with the text of a failure, which comes later.
    fn row(&self, line: &str) -> Option<TestResult> {
        let (name, word) = line.strip_prefix("test ")?.split_once(" ... ")?;
        let outcome = match word {
            "ok" => Outcome::Passed,
            "FAILED" => Outcome::Failed,
            _ => Outcome::Skipped,
        };
        let mut parts = name.split(" - ");
        let mut row = TestResult::new(format!("{}::{}", parts.next()?, parts.next()?), outcome);
        let text = self.printed.split_once(&format!("\n---- {name} stdout ----\n"));
        let text = text.and_then(|(_, text)| text.split("\n---- ").next()?.split("\nfailures:\n").next());
        row.message = text.map(|text| text.trim().to_owned());
        Some(row)
    }
}

dylib_plugin::export!(Doctest);
