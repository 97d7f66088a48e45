//! `tap`: the Test Anything Protocol, versions 12 to 14, with the two ways of subtests that are in use: `# Subtest:`
//! with deeper lines before the parent's own line, and a parent's line that ends with `{`.

use runner_core::event::TestEvent;
use runner_core::model::{CollectionError, Outcome, TestResult};

use super::row::{add_failure, result, seconds};
use super::{LineReader, ReportItem};
use crate::id::Fields;

#[derive(Default)]
pub(super) struct Tap {
    /// The blocks that are open, outermost first; the first is the report itself.
    blocks: Vec<Block>,
    /// The point whose details may follow.
    pending: Option<Point>,
    /// Indentation of the details that are being told.
    details: Option<usize>,
    detail_text: Vec<String>,
    bailed: bool,
    any: bool,
}

#[derive(Default)]
struct Block {
    indent: usize,
    name: String,
    /// How many points were planned, and came.
    planned: Option<u64>,
    seen: u64,
    bad_inside: bool,
    /// Its parent's line came first and said how it ended.
    parent: Option<Point>,
}

struct Point {
    ok: bool,
    name: String,
    outcome: Outcome,
    note: String,
    seconds: Option<f64>,
    details: Vec<String>,
    /// Subtests were told of before it, and one was bad.
    children: Option<bool>,
}

impl LineReader for Tap {
    fn line(&mut self, line: &str, said: &mut Vec<ReportItem>) {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if let Some(start) = self.details {
            if indent <= start && text.trim_end() == "..." {
                self.end_details();
            } else {
                self.detail_text
                    .push(line.get(start..).unwrap_or(text).to_owned());
            }
            return;
        }
        let text = text.trim_end();
        if text == "---" && self.pending.is_some() {
            self.details = Some(indent);
            return;
        }
        self.understand(indent, text, said);
    }

    fn end(&mut self, said: &mut Vec<ReportItem>) -> Result<(), String> {
        if self.details.is_some() {
            self.end_details();
        }
        self.flush(said);
        if self.bailed {
            return Err("says that the tests were given up (\"Bail out!\")".to_owned());
        }
        if !self.any {
            return Err("holds no test line".to_owned());
        }
        if self.blocks.len() > 1 {
            return Err("stops inside a subtest".to_owned());
        }
        match self.blocks.first() {
            Some(Block {
                planned: Some(planned),
                seen,
                ..
            }) if planned != seen => Err(format!("plans {planned} tests and tells of {seen}")),
            Some(Block { planned: None, .. }) => {
                Err("has no plan (\"1..N\"), so it may have been cut".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Tap {
    fn understand(&mut self, indent: usize, text: &str, said: &mut Vec<ReportItem>) {
        if let Some(name) = text.strip_prefix("# Subtest:") {
            self.flush(said);
            self.leave_deeper(indent);
            self.root();
            self.blocks.push(Block {
                // The block's own lines stand deeper than this one; how much deeper, its first line tells.
                indent: indent + 1,
                name: name.trim().to_owned(),
                ..Block::default()
            });
        } else if text == "}" {
            self.flush(said);
            self.close_braces(said);
        } else if let Some(count) = plan(text) {
            self.flush(said);
            self.leave_deeper(indent);
            self.any = true;
            self.root();
            let block = self.blocks.last_mut().expect("there is the report itself");
            block.planned = Some(count);
        } else if let Some(why) = text.strip_prefix("Bail out!") {
            self.flush(said);
            self.bailed = true;
            said.push(ReportItem::Exact(TestEvent::Warning {
                message: format!("Bail out!{why}"),
            }));
        } else if let Some((point, opens)) = point(text) {
            self.flush(said);
            self.any = true;
            self.root();
            self.add(indent, point, opens);
        }
    }

    fn root(&mut self) {
        if self.blocks.is_empty() {
            self.blocks.push(Block::default());
        }
    }

    /// Takes in a test line. A subtest's line that stands where its block began closes the block.
    fn add(&mut self, indent: usize, mut point: Point, opens: bool) {
        if self.blocks.len() > 1 {
            let last = self.blocks.last().expect("there are several");
            if last.parent.is_none() && indent < last.indent {
                let block = self.blocks.pop().expect("there are several");
                // A block that told of no test was only announced.
                if block.seen > 0 {
                    point.children = Some(block.bad_inside);
                }
                self.bad_inside(block.bad_inside);
            }
        }
        let block = self.blocks.last_mut().expect("there is the report itself");
        block.seen += 1;
        if opens {
            self.blocks.push(Block {
                indent: indent + 1,
                name: point.name.clone(),
                parent: Some(point),
                ..Block::default()
            });
        } else {
            self.pending = Some(point);
        }
    }

    fn bad_inside(&mut self, bad: bool) {
        if let Some(block) = self.blocks.last_mut() {
            block.bad_inside |= bad;
        }
    }

    fn close_braces(&mut self, said: &mut Vec<ReportItem>) {
        if self.blocks.last().is_none_or(|block| block.parent.is_none()) {
            return;
        }
        let mut block = self.blocks.pop().expect("it was just looked at");
        self.bad_inside(block.bad_inside);
        if let Some(mut parent) = block.parent.take() {
            parent.children = (block.seen > 0).then_some(block.bad_inside);
            self.pending = Some(parent);
            self.flush(said);
        }
    }

    /// Forgets subtests that were announced at this depth or deeper and never told of.
    fn leave_deeper(&mut self, indent: usize) {
        while self.blocks.len() > 1
            && self
                .blocks
                .last()
                .is_some_and(|block| block.parent.is_none() && block.indent > indent && block.seen == 0)
        {
            self.blocks.pop();
        }
    }

    fn end_details(&mut self) {
        self.details = None;
        let text = std::mem::take(&mut self.detail_text);
        if let Some(point) = &mut self.pending {
            point.details = text;
        }
    }

    /// Hands out the point whose details are complete.
    fn flush(&mut self, said: &mut Vec<ReportItem>) {
        let Some(point) = self.pending.take() else {
            return;
        };
        let bad = !point.ok && point.outcome.is_bad();
        self.bad_inside(bad);
        // A parent is the frame of its subtests. It speaks for itself only where it failed and none of them did.
        if point.children == Some(true) || (point.children == Some(false) && !bad) {
            return;
        }
        let parts: Vec<&str> = self
            .blocks
            .iter()
            .map(|block| block.name.as_str())
            .filter(|name| !name.is_empty())
            .collect();
        let mut fields = Fields {
            classname: parts.join("::"),
            name: point.name.clone(),
            ..Fields::default()
        };
        if fields.name.is_empty() {
            let seen = self.blocks.last().map_or(0, |block| block.seen);
            fields.name = format!("test {seen}");
        }
        said.push(row(fields, point));
    }
}

fn row(fields: Fields, point: Point) -> ReportItem {
    let details = Details::read(&point.details);
    let mut row: TestResult = result(point.outcome);
    row.duration_s = point.seconds.or(details.seconds);
    if point.outcome.is_bad() {
        add_failure(&mut row, &point.details.join("\n"), details.error.as_deref());
        // A file that could not be run at all is reported as a test of the file's own name.
        if details.code.as_deref() == Some("ERR_TEST_FAILURE")
            && std::path::Path::new(&fields.name).is_absolute()
        {
            return ReportItem::Exact(TestEvent::CollectFailed(CollectionError {
                nodeid: fields.name,
                message: row.message.unwrap_or_default(),
                summary: None,
                location: None,
            }));
        }
    } else if !point.note.is_empty() {
        row.message = Some(point.note);
    }
    ReportItem::Finished(fields, Box::new(row))
}

/// The few details that are common to most writers.
#[derive(Default)]
struct Details {
    seconds: Option<f64>,
    error: Option<String>,
    code: Option<String>,
}

impl Details {
    fn read(lines: &[String]) -> Self {
        let mut details = Self::default();
        for line in lines {
            let Some((key, value)) = line.trim().split_once(':') else {
                continue;
            };
            let value = value.trim().trim_matches(['"', '\'']);
            match key {
                "duration_ms" => {
                    details.seconds = value.parse().ok().map(|ms: f64| ms / 1000.0).and_then(seconds);
                }
                "error" | "message"
                    if details.error.is_none() && !matches!(value, "" | "|-" | "|" | ">-") =>
                {
                    details.error = Some(value.to_owned());
                }
                "code" => details.code = Some(value.to_owned()),
                _ => {}
            }
        }
        details
    }
}

/// `1..4`, perhaps with a comment behind.
fn plan(text: &str) -> Option<u64> {
    let count = text.strip_prefix("1..")?;
    count.split([' ', '#']).next()?.parse().ok()
}

/// `not ok 3 - name # SKIP why`, and whether a block of subtests follows.
fn point(text: &str) -> Option<(Point, bool)> {
    let (ok, rest) = match text.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, text.strip_prefix("ok")?),
    };
    if !rest.is_empty() && !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start();
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start();
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let (rest, opens) = match rest.strip_suffix('{') {
        Some(rest) if rest.is_empty() || rest.ends_with(' ') => (rest.trim_end(), true),
        _ => (rest, false),
    };
    let (name, directive) = match split_directive(rest) {
        Some((name, directive)) => (name, directive),
        None => (rest, ""),
    };
    let word: String = directive.chars().take(4).collect::<String>().to_ascii_uppercase();
    let reason = matches!(word.as_str(), "SKIP" | "TODO");
    let note = directive
        .get(4..)
        .unwrap_or_default()
        .trim_start_matches(|c: char| c.is_alphabetic());
    let outcome = match (word.as_str(), ok) {
        // A test that is yet to be written, as most writers mean it, did not run either.
        ("SKIP", _) | ("TODO", true) => Outcome::Skipped,
        ("TODO", false) => Outcome::Xfailed,
        (_, true) => Outcome::Passed,
        (_, false) => Outcome::Failed,
    };
    let seconds = directive
        .strip_prefix("time=")
        .and_then(|time| time.strip_suffix("ms"))
        .and_then(|time| time.parse::<f64>().ok())
        .and_then(|ms| seconds(ms / 1000.0));
    let point = Point {
        ok,
        name: unescaped(name.trim_end()),
        outcome,
        note: if reason {
            note.trim().to_owned()
        } else {
            String::new()
        },
        seconds,
        details: Vec::new(),
        children: None,
    };
    Some((point, opens))
}

/// The last ` # ` that begins something known; any other `#` belongs to the name.
fn split_directive(text: &str) -> Option<(&str, &str)> {
    let at = text
        .rfind('#')
        .filter(|at| *at == 0 || text[..*at].ends_with(' '))?;
    let directive = text[at + 1..].trim();
    let upper = directive.to_ascii_uppercase();
    let known = ["SKIP", "TODO", "TIME="]
        .iter()
        .any(|word| upper.starts_with(word));
    known.then(|| (&text[..at], directive))
}

fn unescaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('#' | '\\')) => out.extend(chars.next()),
            _ => out.push(c),
        }
    }
    out
}
