//! The cleaning of strings, once, between a backend's reader and everyone else.
//!
//! Texts lose what a terminal would obey, and for agents their secrets; they are bounded. Nodeids stay verbatim, because
//! each must name its test when it is given back (whoever shows one writes [`visible`] instead); file names and workers'
//! names are made visible.

mod events;
mod redact;
mod strip_ansi;

pub use redact::{REDACTED, Redactor};
use runner_core::visible::visible;
use runner_core::words::{self, LEFT_OUT};
pub use strip_ansi::strip_ansi;

/// The most that is kept of one text (a message, a failure's text, a captured section), in bytes.
const LONGEST_TEXT: usize = 64 * 1024;
/// The same once a run's texts together have passed [`FULL_TEXTS`].
const LONGEST_LATE_TEXT: usize = 2 * 1024;
/// How many bytes of long texts one run keeps at full length.
const FULL_TEXTS: usize = 16 * 1024 * 1024;
/// Longer texts are cut before they are cleaned, so that cleaning costs a bounded time.
const LONGEST_CLEANED: usize = 512 * 1024;

/// Cleans the strings of one run.
#[derive(Debug, Default)]
pub struct Cleaner {
    /// `None`: secrets are the caller's own, at their own terminal.
    redactor: Option<Redactor>,
    kept: usize,
}

impl Cleaner {
    pub fn new(redactor: Option<Redactor>) -> Self {
        Self { redactor, kept: 0 }
    }

    /// How many secrets were taken out so far.
    pub fn redacted(&self) -> u64 {
        self.redactor.as_ref().map_or(0, |redactor| redactor.count)
    }

    /// A text: cleaned, redacted, bounded.
    pub fn text(&mut self, text: &mut String) {
        if let Some(cut) = cut_middle(text, LONGEST_CLEANED) {
            *text = cut;
        }
        if let std::borrow::Cow::Owned(clean) = strip_ansi(text) {
            *text = clean;
        }
        if let Some(redactor) = &mut self.redactor
            && let std::borrow::Cow::Owned(redacted) = redactor.text(text)
        {
            *text = redacted;
        }
        let longest = if self.kept < FULL_TEXTS {
            LONGEST_TEXT
        } else {
            LONGEST_LATE_TEXT
        };
        if let Some(cut) = cut_middle(text, longest) {
            *text = cut;
        }
        self.kept += text.len();
    }

    /// One line of a process's output: cleaned and redacted.
    pub fn line(&mut self, line: &str) -> String {
        let line = strip_ansi(line);
        match &mut self.redactor {
            Some(redactor) => redactor.line(&line).into_owned(),
            None => line.into_owned(),
        }
    }

    /// Lines of the output were left out here.
    pub fn gap(&mut self) {
        if let Some(redactor) = &mut self.redactor {
            redactor.gap();
        }
    }

    fn optional(&mut self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.text(text);
        }
    }
}

/// A name, made visible in place.
fn make_visible(id: &mut String) {
    if let std::borrow::Cow::Owned(changed) = visible(id) {
        *id = changed;
    }
}

/// The text with its middle left out and counted in words, if it is longer than `longest` bytes: three quarters of
/// the head, one quarter of the tail.
fn cut_middle(text: &str, longest: usize) -> Option<String> {
    if text.len() <= longest {
        return None;
    }
    let head = boundary_before(text, longest / 4 * 3);
    let tail = boundary_before(text, text.len() - longest / 4);
    // A cut may have been cut before: its count is carried over.
    let earlier: usize = text[head..tail]
        .split(LEFT_OUT.0)
        .skip(1)
        .filter_map(earlier_count)
        .sum();
    let left_out = tail - head + earlier;
    Some(format!(
        "{}\n{}\n{}",
        &text[..head],
        words::left_out(left_out as u64),
        &text[tail..]
    ))
}

fn boundary_before(text: &str, mut place: usize) -> usize {
    while !text.is_char_boundary(place) {
        place -= 1;
    }
    place
}

fn earlier_count(after_mark: &str) -> Option<usize> {
    let (count, _) = after_mark.split_once(LEFT_OUT.1)?;
    count.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_lose_their_middle_and_say_how_much() {
        let mut cleaner = Cleaner::default();
        let mut text = format!("head{}tail", "é".repeat(10 * 1024 * 1024));
        let length = text.len();
        cleaner.text(&mut text);
        assert!(text.len() <= LONGEST_TEXT + 64);
        assert!(text.starts_with("headé") && text.ends_with("étail"));
        let (before, rest) = text.split_once(LEFT_OUT.0).unwrap();
        let (count, after) = rest.split_once(LEFT_OUT.1).unwrap();
        let count: usize = count.parse().unwrap();
        assert!(
            length.abs_diff(before.len() + count + after.len()) < 64,
            "{count} of {length}"
        );
    }

    #[test]
    fn a_run_with_endless_texts_keeps_less_of_the_later_ones() {
        let mut cleaner = Cleaner::default();
        for _ in 0..400 {
            cleaner.text(&mut "x".repeat(100_000));
        }
        assert!(cleaner.kept < FULL_TEXTS + 400 * (LONGEST_LATE_TEXT + 64));
    }

    #[test]
    fn secrets_are_found_after_the_escapes_that_hide_them_are_gone() {
        let redactor = Redactor::new([("A_TOKEN", "correct-horse")]);
        let mut cleaner = Cleaner::new(Some(redactor));
        let mut text = "correct\u{1b}[0m-ho\u{200b}rse".to_owned();
        cleaner.text(&mut text);
        assert_eq!(text, REDACTED);
        assert_eq!(cleaner.redacted(), 1);
    }
}
