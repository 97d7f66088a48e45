//! Printing: the only place that writes to standard output and standard error.

use std::io::Write;

use mcp::Reply;
use ops::OpError;
use serde_json::Value;

use crate::cli::Format;
use crate::display::{Paint, for_people};

/// Prints lines for people. A reader that went away is no error.
pub(crate) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out
        .write_all(text.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush());
}

/// Prints one JSON value.
pub(crate) fn print_json(value: &Value, format: Format) {
    print(&match format {
        Format::Jsonl => value.to_string(),
        _ => serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string()),
    });
}

/// Prints to standard error.
pub(crate) fn print_stderr(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
}

/// Prints an error answer: a JSON value where one is expected, else what, why and what to do next.
pub(crate) fn print_error(error: &OpError, format: Format, paint: Paint) {
    if format != Format::Human {
        return print_json(&Value::Object(Reply::failed(error, None).structured), format);
    }
    let mut text = format!("{} {}", paint.bold("qaas:"), for_people(&error.error.message));
    if let Some(hint) = error.next_step() {
        text.push_str(&format!("\n{} {}", paint.bold("next:"), for_people(hint)));
    }
    for warning in &error.known.warnings {
        text.push_str(&format!("\n{} {warning}", paint.dim("note:")));
    }
    if let Some(tail) = &error.known.output_tail {
        text.push_str(&format!(
            "\n\n{}\n{}",
            paint.dim("the last of what was printed:"),
            tail.trim_end()
        ));
    }
    print_stderr(&text);
}
