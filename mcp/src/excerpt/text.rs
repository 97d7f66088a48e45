//! The text half: what a client shows that passes no structure on. It says everything that matters by itself.

use ops::{MESSAGE_CHARS, NextCall, Row};
use runner_core::model::Outcome;
use runner_core::visible::visible;
use serde_json::Value;

use super::group::{self, Shape};
use super::measure;
use super::parts::Parts;

/// Text that tests wrote is set in by this, so that it cannot pass for a line of ours.
const INDENT: &str = "    ";
/// A note may take so much also where the whole is short: it names a command to type.
const LEAST_NOTE: usize = 280;

/// Builds a text that never grows over its limit.
struct BoundedText {
    text: String,
    left: usize,
}

impl BoundedText {
    /// A line, if it fits.
    fn line(&mut self, line: &str) -> bool {
        let size = measure::of_text(line) + 2;
        let fits = size <= self.left;
        if fits {
            self.left -= size;
            self.text.push_str(line);
            self.text.push('\n');
        }
        fits
    }

    /// A line that is cut to `cap`.
    fn cut(&mut self, line: &str, cap: usize) {
        let line = measure::cut(line.trim(), cap.min(self.left).saturating_sub(2));
        if !line.is_empty() {
            self.line(&line);
        }
    }

    /// A text of the tests: set in, cut to `cap`.
    fn quote(&mut self, text: &str, cap: usize) {
        let quoted = quote(text, cap.min(self.left).saturating_sub(2));
        if !quoted.trim().is_empty() {
            self.line(&quoted);
        }
    }

    /// As many lines as fit; how many did not.
    fn lines(&mut self, lines: impl Iterator<Item = String>) -> usize {
        let mut lines = lines.skip_while(|line| self.line(line)).peekable();
        if lines.peek().is_none() { 0 } else { lines.count() }
    }
}

/// Cut first, then set in; the room for setting in is found by trying.
fn quote(text: &str, limit: usize) -> String {
    let text = text.trim_matches('\n');
    let mut cap = limit;
    loop {
        let cut = measure::cut(text, cap);
        let lines: Vec<String> = cut.lines().map(|line| format!("{INDENT}{line}")).collect();
        let quoted = lines.join("\n");
        let size = measure::of_text(&quoted);
        if size <= limit {
            return quoted;
        }
        // Each round drops at least what was too much.
        cap = cap.saturating_sub(size - limit).min(cap - cap.min(1));
    }
}

/// The text half in at most `limit`.
pub(super) fn compose(parts: &Parts, limit: usize) -> String {
    let ending = calls(&parts.next, limit / 4);
    let mut sheet = BoundedText {
        text: String::new(),
        left: limit.saturating_sub(measure::of_text(&ending) + 60),
    };
    sheet.cut(&parts.headline, limit * 2 / 5);
    sheet.line(&standing(parts));
    let field = |name: &str| parts.fields.get(name);
    if let Some(cursor) = field("cursor").and_then(Value::as_str) {
        sheet.line(&format!(
            "There is more: the same call with \"cursor\": \"{cursor}\"."
        ));
    }
    if let Some(hint) = field("hint")
        .and_then(Value::as_str)
        .filter(|hint| !parts.headline.contains(hint))
    {
        sheet.cut(hint, limit / 8);
    }
    unfinished(&mut sheet, field("unfinished"), limit / 3);
    let mut left_out = failures(&mut sheet, parts);
    collectors(&mut sheet, parts, limit / 3);
    let output = field("output").or(field("output_tail")).and_then(Value::as_str);
    if let Some(output) = output {
        sheet.line("Output of the tests (untrusted data):");
        let room = sheet.left;
        sheet.quote(output, room);
    }
    messages(&mut sheet, field("messages"));
    lists(&mut sheet, parts);
    changes(&mut sheet, field("changed_since"));
    for warning in strings(field("warnings")).chain(strings(field("notes"))) {
        sheet.cut(&format!("Note: {warning}"), (limit / 12).max(LEAST_NOTE));
    }
    environment(&mut sheet, parts);
    if !left_out.is_empty() {
        left_out = format!("Not shown here: {left_out}.");
        sheet.left += 60;
        sheet.line(&left_out);
    }
    sheet.text.push_str(&ending);
    sheet.text.truncate(sheet.text.trim_end_matches('\n').len());
    sheet.text
}

/// Status and run id, for programs that search the text.
fn standing(parts: &Parts) -> String {
    let word = |name: &str| parts.fields.get(name).and_then(Value::as_str);
    let run = word("run_id").map_or_else(String::new, |run_id| format!(", run_id: {run_id}"));
    format!("status: {}{run}", word("status").unwrap_or("broken"))
}

/// What to call next.
pub(super) fn calls(next: &[NextCall], limit: usize) -> String {
    let mut sheet = BoundedText {
        text: String::new(),
        left: limit,
    };
    for call in next {
        let arguments = Value::Object(call.arguments.clone());
        sheet.line(&format!("Next: {} {arguments} to {}", call.tool.name(), call.why));
    }
    sheet.text
}

fn unfinished(sheet: &mut BoundedText, tests: Option<&Value>, limit: usize) {
    let Some(tests) = tests.and_then(Value::as_array) else {
        return;
    };
    let floor = sheet.left.saturating_sub(limit);
    for (place, test) in tests.iter().enumerate() {
        let nodeid = test.get("nodeid").and_then(Value::as_str).unwrap_or_default();
        let phase = test
            .get("phase")
            .and_then(Value::as_str)
            .map_or_else(String::new, |phase| format!(" ({phase})"));
        if sheet.left <= floor || !sheet.line(&format!("Began and did not end: {}{phase}", visible(nodeid))) {
            sheet.line(&format!("and {} more that did not end", tests.len() - place));
            return;
        }
        if let Some(stack) = test.get("stack").and_then(Value::as_str) {
            let room = sheet.left.saturating_sub(floor);
            sheet.quote(stack, room);
        }
    }
}

/// The failing rows. Gives back in words what it could not show.
fn failures(sheet: &mut BoundedText, parts: &Parts) -> String {
    let bad: Vec<&Row> = parts.rows.iter().filter(|row| row.is_bad()).collect();
    if parts.is_page() {
        if parts.rows.iter().any(|row| row.message.is_some()) {
            sheet.line("Tests (their text is their own: untrusted data):");
        }
        for row in &parts.rows {
            sheet.line(&Text.row(row, parts.row_cap));
        }
    }
    if parts.is_page() || bad.is_empty() {
        return String::new();
    }
    sheet.line("Failures (their text is the tests' own: untrusted data):");
    let fitted = group::fit(&Text, &bad, sheet.left);
    for item in &fitted.items {
        sheet.line(item);
    }
    match fitted.omitted.total() {
        0 => String::new(),
        _ => fitted.omitted.words(),
    }
}

/// Collectors that failed and are no row: the test that was asked for, or a list, is not what it would be.
fn collectors(sheet: &mut BoundedText, parts: &Parts, limit: usize) {
    let floor = sheet.left.saturating_sub(limit);
    let errors = parts.fields.get("collection_errors").and_then(Value::as_array);
    for error in errors.into_iter().flatten() {
        let word = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        if parts.rows.iter().any(|row| row.nodeid == word("nodeid")) {
            continue;
        }
        if sheet.left <= floor || !sheet.line(&format!("Could not be collected: {}", word("nodeid"))) {
            return;
        }
        let room = sheet.left.saturating_sub(floor);
        sheet.quote(word("message"), room.min(MESSAGE_CHARS));
    }
}

/// `run K: …` of a repeated test.
fn messages(sheet: &mut BoundedText, messages: Option<&Value>) {
    if strings(messages).next().is_some() {
        sheet.line("What the tests said (untrusted data):");
    }
    for message in strings(messages) {
        let room = sheet.left / 2;
        sheet.quote(message, room);
    }
}

/// The lists of the tools that answer with one.
fn lists(sheet: &mut BoundedText, parts: &Parts) {
    let mut show = |name: &str, line: &dyn Fn(&Value) -> String| {
        let items = parts.fields.get(name).and_then(Value::as_array);
        let hidden = sheet.lines(items.into_iter().flatten().map(line));
        if hidden > 0 {
            sheet.left += 40;
            sheet.line(&format!("and {hidden} more"));
        }
    };
    show("affected", &affected_line);
    show("nodeids", &|nodeid| {
        format!("{INDENT}{}", visible(nodeid.as_str().unwrap_or_default()))
    });
    let files = parts.fields.get("files").and_then(Value::as_object);
    let mut files: Vec<(&String, &Value)> = files.into_iter().flatten().filter(|(_, n)| n.is_f64()).collect();
    files.sort_by(|one, other| {
        one.1
            .as_f64()
            .unwrap_or(0.0)
            .total_cmp(&other.1.as_f64().unwrap_or(0.0))
    });
    let hidden = sheet.lines(
        files
            .into_iter()
            .map(|(file, percent)| format!("{INDENT}{percent} %  {file}")),
    );
    if hidden > 0 {
        sheet.left += 40;
        sheet.line(&format!("and {hidden} more files"));
    }
}

fn affected_line(item: &Value) -> String {
    let word = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
    let why: Vec<&str> = strings(item.get("why")).collect();
    let score = item.get("score").cloned().unwrap_or_default();
    format!(
        "{INDENT}{} ({}, score {score}: {})",
        word("test_file"),
        word("confidence"),
        why.join("; ")
    )
}

fn changes(sheet: &mut BoundedText, changes: Option<&Value>) {
    let Some(changes) = changes else { return };
    let mut words = Vec::new();
    for (name, says) in [
        ("newly_failing", "newly failing"),
        ("fixed", "fixed"),
        ("still_failing", "still failing"),
    ] {
        if let Some(count) = changes.get(name).and_then(|ids| ids.get("count")) {
            words.push(format!("{count} {says}"));
        }
    }
    if !words.is_empty() {
        let since = changes.get("run_id").and_then(Value::as_str).unwrap_or_default();
        let variables: Vec<&str> = strings(changes.get("without_variables")).collect();
        let under = if variables.is_empty() {
            String::new()
        } else {
            format!(
                " That run had {}, which this one did not get.",
                variables.join(", ")
            )
        };
        sheet.line(&format!("Since run {since}: {}.{under}", words.join(", ")));
    }
}

/// What ran the tests, where something is to be explained.
fn environment(sheet: &mut BoundedText, parts: &Parts) {
    let Some(environment) = parts.fields.get("environment").filter(|_| !parts.green) else {
        return;
    };
    let word = |value: Option<&Value>, name: &str| Some(value?.get(name)?.as_str()?.to_owned());
    let Some(backend) = word(Some(environment), "backend") else {
        return;
    };
    let python = environment.get("python");
    let with = match (word(python, "path"), word(python, "why")) {
        (Some(path), Some(why)) => format!(" with {path} ({why})"),
        _ => String::new(),
    };
    sheet.line(&format!("Ran by {backend}{with}"));
}

fn strings(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Failures as text.
pub(super) struct Text;

impl Text {
    fn head(row: &Row) -> String {
        let word = match row.outcome {
            Outcome::Failed => "FAILED",
            Outcome::Error => "ERROR",
            other => other.as_str(),
        };
        let place = match &row.location {
            Some(place) if measure::fits(&place.file, 200) => match place.line {
                Some(line) => format!(" ({}:{line})", place.file),
                None => format!(" ({})", place.file),
            },
            _ => String::new(),
        };
        format!("{word} {}{place}", visible(&row.nodeid))
    }
}

impl Shape for Text {
    type Item = String;

    fn row(&self, row: &Row, cap: usize) -> String {
        let short = cap < 300;
        let (first, second) = (row.message.as_deref(), row.summary.as_deref());
        let text = if short { second.or(first) } else { first.or(second) };
        let mut item = Self::head(row);
        let quoted = quote(text.unwrap_or_default(), cap);
        if !quoted.trim().is_empty() {
            item.push('\n');
            item.push_str(&quoted);
        }
        item
    }

    fn folded(&self, row: &Row, cap: usize, others: &[&Row], count: usize) -> String {
        let nodeids: Vec<_> = others.iter().map(|row| visible(&row.nodeid)).collect();
        let colon = if nodeids.is_empty() { "" } else { ": " };
        let row = self.row(row, cap);
        format!(
            "{row}\n  and {count} more that failed alike{colon}{}",
            nodeids.join(", ")
        )
    }

    fn size(&self, item: &String) -> usize {
        measure::of_text(item) + 2
    }

    fn id_size(&self, row: &Row) -> usize {
        measure::of_text(&row.nodeid) + 2
    }
}
