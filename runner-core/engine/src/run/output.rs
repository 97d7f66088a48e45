//! What the processes printed: the last of it for the answer, head and tail of it for the store.

use std::collections::VecDeque;

use super::clean::Cleaner;
use crate::store::RunFolder;
use runner_core::words::left_out;

/// Length of the tail that a report keeps, in characters: a bound of memory. Faces may show less of it.
const TAIL_CHARS: usize = 6_000;
/// Lines are cleaned and stored as they come up to here, in bytes; of the rest the last [`TAIL_BYTES`] are kept.
const HEAD_BYTES: usize = 256 * 1024;
const TAIL_BYTES: usize = 64 * 1024;

/// Collects the output of one iteration in bounded memory.
#[derive(Debug, Default)]
pub(super) struct Output {
    head: usize,
    /// Lines after the head, as they came. The answer's tail comes from here and from `recent`.
    tail: VecDeque<String>,
    tail_bytes: usize,
    /// The last of the head, cleaned.
    recent: VecDeque<String>,
    recent_bytes: usize,
    left_out: u64,
}

impl Output {
    /// Lines of standard output or error.
    pub(super) fn lines(&mut self, lines: &[String], cleaner: &mut Cleaner, folder: Option<&mut RunFolder>) {
        let mut clean = Vec::new();
        for line in lines {
            if self.head < HEAD_BYTES {
                self.head += line.len() + 1;
                let line = cleaner.line(bounded(line));
                push(
                    &mut self.recent,
                    &mut self.recent_bytes,
                    line.clone(),
                    TAIL_CHARS * 4,
                );
                clean.push(line);
            } else {
                let line = bounded(line).to_owned();
                self.left_out += push(&mut self.tail, &mut self.tail_bytes, line, TAIL_BYTES);
            }
        }
        if let Some(folder) = folder {
            folder.output(&clean);
        }
    }

    /// The answer's tail. Hands the rest to the store.
    pub(super) fn finish(mut self, cleaner: &mut Cleaner, folder: Option<&mut RunFolder>) -> String {
        let mut last: Vec<String> = Vec::new();
        if self.left_out > 0 {
            cleaner.gap();
            last.push(left_out(self.left_out));
        }
        last.extend(self.tail.iter().map(|line| cleaner.line(line)));
        if let Some(folder) = folder {
            folder.output(&last);
        }
        self.recent.extend(last);
        let lines: Vec<String> = self.recent.into();
        tail_chars(lines.join("\n"))
    }
}

/// Adds a line and drops the oldest ones beyond `limit` bytes. Returns how many bytes went.
fn push(lines: &mut VecDeque<String>, bytes: &mut usize, line: String, limit: usize) -> u64 {
    *bytes += line.len() + 1;
    lines.push_back(line);
    let mut dropped = 0;
    while *bytes > limit && lines.len() > 1 {
        let oldest = lines.pop_front().map_or(0, |line| line.len() + 1);
        *bytes -= oldest;
        dropped += oldest as u64;
    }
    dropped
}

/// The end of a line that is longer than all that would be kept of it.
fn bounded(line: &str) -> &str {
    if line.len() <= TAIL_BYTES {
        return line;
    }
    let mut from = line.len() - TAIL_BYTES;
    while !line.is_char_boundary(from) {
        from += 1;
    }
    &line[from..]
}

fn tail_chars(text: String) -> String {
    let length = text.chars().count();
    if length <= TAIL_CHARS {
        return text;
    }
    text.chars().skip(length - TAIL_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(lines: impl IntoIterator<Item = String>) -> String {
        let (mut output, mut cleaner) = (Output::default(), Cleaner::default());
        for line in lines {
            output.lines(&[line], &mut cleaner, None);
        }
        output.finish(&mut cleaner, None)
    }

    #[test]
    fn little_output_is_kept_whole_and_clean() {
        assert_eq!(tail_of(["\u{1b}[1mone".into(), "two".into()]), "one\ntwo");
    }

    #[test]
    fn much_output_keeps_its_end_in_bounded_memory() {
        let (mut output, mut cleaner) = (Output::default(), Cleaner::default());
        for number in 0..300_000 {
            output.lines(&[format!("line {number}")], &mut cleaner, None);
        }
        assert!(output.tail_bytes <= TAIL_BYTES && output.recent_bytes <= TAIL_CHARS * 4);
        let tail = output.finish(&mut cleaner, None);
        assert!(tail.ends_with("\nline 299999"));
        assert_eq!(tail.chars().count(), TAIL_CHARS);
    }

    #[test]
    fn one_endless_line_keeps_its_end() {
        let tail = tail_of([format!("{}end", "é".repeat(1_000_000))]);
        assert_eq!(tail.chars().count(), TAIL_CHARS);
        assert!(tail.ends_with("ééend"));
    }
}
