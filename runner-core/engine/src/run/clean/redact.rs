//! Takes secrets out of texts: values of secret-named variables, and words of known shapes.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Captures, Regex};

use crate::secrets::is_secret_name;

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// Shorter values are words like `true` or `dev`: taking them out would only garble texts.
const SHORTEST_SECRET: usize = 8;

/// A private key of 16,384 bits has this many lines, and some more.
const MOST_KEY_LINES: u32 = 256;

/// Words that are secrets by their look, whatever they are called. A private key goes with all between its edges; where
/// a cut took one edge away, with what looks like its body.
static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----
            (?: (?s:.*?) -----END\ [A-Z\ ]*PRIVATE\ KEY-----
              | (?: (?: [\s>E'\x22] | \\[nr] )* [A-Za-z0-9+/=]{16,} )* )
        | (?: [A-Za-z0-9+/=]{16,} (?: [\s>E'\x22] | \\[nr] )* )+ -----END\ [A-Z\ ]*PRIVATE\ KEY-----
        | (?-u:\b) (?: AKIA | ASIA ) [0-9A-Z]{16} (?-u:\b)
        | (?-u:\b) gh[pousr]_ [A-Za-z0-9]{30,}
        | (?-u:\b) github_pat_ [A-Za-z0-9_]{22,}
        | (?-u:\b) glpat- [A-Za-z0-9_-]{20,}
        | (?-u:\b) (?: sk | rk | pk )_(?: live | test )_ [A-Za-z0-9]{16,}
        | (?P<sk> (?-u:\b) sk- [A-Za-z0-9_-]{20,} )
        | (?-u:\b) xox[abeoprs]- [A-Za-z0-9-]{10,}
        | (?-u:\b) AIza [0-9A-Za-z_-]{35}
        | (?-u:\b) npm_ [A-Za-z0-9]{36}
        | (?-u:\b) pypi-AgE [A-Za-z0-9_-]{16,}
        | (?-u:\b) hf_ [A-Za-z0-9]{30,}
        | (?-u:\b) eyJ [A-Za-z0-9_-]{8,} \. eyJ [A-Za-z0-9_-]{8,} \. [A-Za-z0-9_-]*
        | (?P<scheme> (?-u:\b) [Bb]earer\ + ) [A-Za-z0-9._~+/=-]{16,}
        ",
    )
    .expect("a constant pattern compiles")
});

/// A text without any of these has none of [`SHAPES`]: told much faster.
static HINTS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::new([
        "PRIVATE KEY-----",
        "AKIA",
        "ASIA",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "glpat-",
        "sk_",
        "rk_",
        "pk_",
        "sk-",
        "xox",
        "AIza",
        "npm_",
        "pypi-AgE",
        "hf_",
        "eyJ",
        "earer",
    ])
    .expect("constant words make an automaton")
});

static KEY_BEGINS: LazyLock<Regex> = LazyLock::new(|| pem("BEGIN"));
static KEY_ENDS: LazyLock<Regex> = LazyLock::new(|| pem("END"));

fn pem(edge: &str) -> Regex {
    Regex::new(&format!("-----{edge} [A-Z ]*PRIVATE KEY-----")).expect("a constant pattern compiles")
}

/// Replaces secrets and counts them.
#[derive(Debug, Default)]
pub struct Redactor {
    values: Option<AhoCorasick>,
    /// Secrets taken out so far.
    pub count: u64,
    /// How many more lines may belong to a private key that began on an earlier one.
    key_lines: u32,
}

impl Redactor {
    /// `variables` are the caller's: names and values.
    pub fn new<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut values: Vec<&str> = Vec::new();
        for (name, value) in variables {
            if is_secret_name(name) {
                // A value of several lines is printed line by line, or with its line ends escaped.
                values.extend(value.lines().map(str::trim));
            } else if let Some(password) = password_in_url(value) {
                values.push(password);
            }
        }
        values.retain(|value| value.len() >= SHORTEST_SECRET && !value.starts_with("-----"));
        values.sort_unstable();
        values.dedup();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(&values);
        Self {
            values: automaton.ok().filter(|_| !values.is_empty()),
            count: 0,
            key_lines: 0,
        }
    }

    /// One whole text.
    pub fn text<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let text = self.known_values(text);
        match self.shapes(&text) {
            Some(redacted) => Cow::Owned(redacted),
            None => text,
        }
    }

    /// One line of a stream: a private key may go over many.
    pub fn line<'a>(&mut self, line: &'a str) -> Cow<'a, str> {
        if self.key_lines > 0 {
            if let Some(end) = KEY_ENDS.find(line) {
                self.key_lines = 0;
                return Cow::Owned(self.text(&line[end.end()..]).into_owned());
            }
            if is_key_line(line) {
                self.key_lines -= 1;
                return Cow::Borrowed("");
            }
            self.key_lines = 0;
        }
        let begins = KEY_BEGINS.find_iter(line).last();
        if begins.is_some_and(|begin| !KEY_ENDS.is_match(&line[begin.end()..])) {
            self.key_lines = MOST_KEY_LINES;
        }
        self.text(line)
    }

    /// The stream lost some lines: what follows may be the end of a key, but need not be.
    pub fn gap(&mut self) {
        self.key_lines = 0;
    }

    fn known_values<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        let Some(values) = &self.values else {
            return Cow::Borrowed(text);
        };
        let mut out = String::new();
        let mut from = 0;
        for found in values.find_iter(text) {
            out.push_str(&text[from..found.start()]);
            out.push_str(REDACTED);
            from = found.end();
            self.count += 1;
        }
        if from == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[from..]);
        Cow::Owned(out)
    }

    fn shapes(&mut self, text: &str) -> Option<String> {
        if !HINTS.is_match(text) || !SHAPES.is_match(text) {
            return None;
        }
        let count = &mut self.count;
        let replaced = SHAPES.replace_all(text, |found: &Captures<'_>| {
            let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
            if found.name("sk").is_some_and(|word| !has_digit(word.as_str())) {
                return found[0].to_owned();
            }
            *count += 1;
            match found.name("scheme") {
                Some(scheme) => format!("{}{REDACTED}", scheme.as_str()),
                None => REDACTED.to_owned(),
            }
        });
        Some(replaced.into_owned())
    }
}

/// Whether a line may stand between the edges of a private key: its body, or a header of an encrypted one.
fn is_key_line(line: &str) -> bool {
    let body = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    line.trim().chars().all(body) || line.starts_with("Proc-Type:") || line.starts_with("DEK-Info:")
}

/// The password of `scheme://user:password@host`.
fn password_in_url(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (user, _) = authority.rsplit_once('@')?;
    user.split_once(':').map(|(_, password)| password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secret_variables_are_taken_out_and_counted() {
        let mut redactor = Redactor::new([
            ("API_TOKEN", "hunter2hunter2"),
            ("SHORT_TOKEN", "dev"),
            ("HOME", "/home/somebody"),
            ("DATABASE_URL", "postgres://me:correct-horse@db/x"),
        ]);
        let text = redactor.text("hunter2hunter2 dev /home/somebody correct-horse hunter2hunter2");
        assert_eq!(text, "[redacted] dev /home/somebody [redacted] [redacted]");
        assert_eq!(redactor.count, 3);
    }

    #[test]
    fn known_shapes_are_taken_out() {
        for secret in [
            format!("AKIA{}", "IOSFODNN7EXAMPLE"),
            format!("ghp_{}", "a1B2".repeat(9)),
            format!("github_pat_{}", "a1B2".repeat(9)),
            format!("sk-{}", "0123456789abcdef".repeat(2)),
            format!("sk-ant-api03-{}", "0123456789abcdef".repeat(2)),
            format!("xoxb-{}", "123456789012-abcdef"),
            format!(
                "eyJ{}.eyJ{}.{}",
                "hbGciOiJIUzI1NiJ9", "zdWIiOiIxMjM0In0", "c2lnbmF0dXJlLXg"
            ),
        ] {
            let mut redactor = Redactor::default();
            let text = redactor.text(&format!("E  token = '{secret}'!")).into_owned();
            assert_eq!(text, "E  token = '[redacted]'!");
            assert_eq!(redactor.count, 1);
        }
        let mut redactor = Redactor::default();
        assert_eq!(
            redactor.text("Authorization: Bearer abcdefghijklmnop1234"),
            "Authorization: Bearer [redacted]"
        );
    }

    #[test]
    fn ordinary_texts_stay() {
        let mut redactor = Redactor::new([("A_TOKEN", "")]);
        for text in [
            "sk-learn-compatible-estimators",
            "a Bearer of news",
            "AKIA",
            "eyJ.eyJ.",
            "task-0123456789012345678901",
        ] {
            assert_eq!(redactor.text(text), text);
        }
        assert_eq!(redactor.count, 0);
    }

    #[test]
    fn private_keys_go_whole_or_line_by_line() {
        let (begin, end) = ("-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----");
        let body = "MIIEpAIBAAKCAQEA7bq+/0123456789abcdef";
        let mut redactor = Redactor::default();
        for (text, expected) in [
            (format!("a {begin}\n{body}\n{end} b"), "a [redacted] b"),
            (format!("cut {begin}\nE   {body}\nE   {body}"), "cut [redacted]"),
            (format!("x {body}\\n{body}\n{end} b"), "x [redacted] b"),
        ] {
            assert_eq!(redactor.text(&text), expected);
        }
        for (line, expected) in [(begin, REDACTED), (body, ""), (end, ""), ("after", "after")] {
            assert_eq!(redactor.line(line), expected);
        }
    }

    #[test]
    fn talking_of_private_keys_does_not_swallow_the_rest() {
        let mut redactor = Redactor::default();
        let text = "E  assert pem.startswith('-----BEGIN PRIVATE KEY-----')\nE  AssertionError: no";
        assert_eq!(
            redactor.text(text),
            text.replace("-----BEGIN PRIVATE KEY-----", REDACTED)
        );
        let text = "E  assert '-----END PRIVATE KEY-----' in pem";
        assert_eq!(redactor.text(text), text);
        redactor.line("-----BEGIN PRIVATE KEY-----");
        assert_eq!(
            redactor.line("that was the first line"),
            "that was the first line"
        );
    }
}
