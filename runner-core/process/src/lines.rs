//! Bytes to lines: every stream of a job is cut at line feeds, decoded lossily, and bounded.

/// A longer line of standard output or error is cut: its head is kept.
pub(super) const TEXT_LINE: usize = 1 << 20;
/// The same for the private event channel, where one line is one event.
pub(super) const CHANNEL_LINE: usize = 16 << 20;

/// Splits one stream. Holds at most one line.
#[derive(Debug)]
pub(super) struct LineSplitter {
    line: Vec<u8>,
    limit: usize,
    /// The head of the present line was handed on; the rest of it is being dropped.
    cutting: bool,
    dropped: u64,
}

impl LineSplitter {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            line: Vec::new(),
            limit,
            cutting: false,
            dropped: 0,
        }
    }

    /// Takes what one read brought, and adds the lines that are complete now. A line that reaches the limit is handed
    /// on at once.
    pub(super) fn push(&mut self, mut bytes: &[u8], lines: &mut Vec<String>) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            self.take(&bytes[..end], lines);
            self.end_line(lines);
            bytes = &bytes[end + 1..];
        }
        self.take(bytes, lines);
    }

    /// The last line, if it had no line feed.
    pub(super) fn finish(&mut self, lines: &mut Vec<String>) {
        if !self.line.is_empty() {
            self.end_line(lines);
        }
    }

    /// Bytes that were not handed on so far.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    fn take(&mut self, part: &[u8], lines: &mut Vec<String>) {
        if self.cutting {
            self.dropped += part.len() as u64;
            return;
        }
        let room = self.limit - self.line.len();
        if part.len() <= room {
            self.line.extend_from_slice(part);
            return;
        }
        self.line.extend_from_slice(&part[..room]);
        self.dropped += (part.len() - room) as u64;
        self.cutting = true;
        lines.push(self.decode());
    }

    fn end_line(&mut self, lines: &mut Vec<String>) {
        if std::mem::take(&mut self.cutting) {
            return;
        }
        if self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        lines.push(self.decode());
    }

    /// Decodes and forgets the line; a large buffer is given back, a small one is used again.
    fn decode(&mut self) -> String {
        let text = String::from_utf8_lossy(&self.line).into_owned();
        if self.line.capacity() > TEXT_LINE / 4 {
            self.line = Vec::new();
        } else {
            self.line.clear();
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::LineSplitter;

    fn split(limit: usize, reads: &[&[u8]]) -> (Vec<String>, u64) {
        let mut splitter = LineSplitter::new(limit);
        let mut lines = Vec::new();
        for read in reads {
            splitter.push(read, &mut lines);
        }
        splitter.finish(&mut lines);
        (lines, splitter.dropped())
    }

    #[test]
    fn cuts_at_line_feeds_and_strips_one_carriage_return() {
        let (lines, dropped) = split(100, &[b"a\r\nb\n\nc\r", b"\r\nlast"]);
        assert_eq!(lines, ["a", "b", "", "c\r", "last"]);
        assert_eq!(dropped, 0);
    }

    #[test]
    fn keeps_the_head_of_a_long_line_and_counts_the_rest() {
        let (lines, dropped) = split(4, &[b"abc", b"defg", b"hi\nxyz\n"]);
        assert_eq!(lines, ["abcd", "xyz"]);
        assert_eq!(dropped, 5);
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_whole() {
        assert_eq!(
            split(4, &[b"abcd\nabcd"]),
            (vec!["abcd".to_owned(), "abcd".to_owned()], 0)
        );
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced() {
        let (lines, _) = split(100, &[b"caf\xe9\n"]);
        assert_eq!(lines, ["caf\u{fffd}"]);
    }

    proptest! {
        #[test]
        fn how_the_bytes_were_read_makes_no_difference(
            text in "[ab\u{e9}\r\n]{0,60}",
            cuts in proptest::collection::vec(0usize..60, 0..6),
            limit in 1usize..20,
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut reads = Vec::new();
            let mut from = 0;
            for cut in cuts {
                reads.push(&bytes[from..cut]);
                from = cut;
            }
            reads.push(&bytes[from..]);
            prop_assert_eq!(split(limit, &reads), split(limit, &[bytes]));
        }
    }
}
