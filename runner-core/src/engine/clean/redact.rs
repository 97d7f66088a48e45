//! Takes secrets out of texts: values of secret-named variables, and words of known shapes.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::{Captures, Regex};

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// Shorter values are words like `true` or `dev`: taking them out would only garble texts.
const SHORTEST_SECRET: usize = 8;

/// Whether a variable of this name holds a secret, by the names that programs give to secrets.
pub fn is_secret_name(name: &str) -> bool {
    static NAMES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?ix) (^|_) (TOKENS? | API_?KEY | KEY | SECRETS? | PASS | PWD | PASSWD | PASSPHRASE | AUTH | PAT
                | CREDENTIALS? | CREDS | COOKIE) $
            | PASSWORD | SECRET | CREDENTIAL | ACCESS_KEY | PRIVATE_KEY | (^|_)TOKEN_(VALUE|STRING)$ ",
        )
        .expect("a constant pattern compiles")
    });
    static PLACES: LazyLock<Regex> = LazyLock::new(|| {
        // These name where a secret is, not the secret. PWD is the shell's working folder.
        Regex::new(r"(?i)(_(FILE|PATH|DIR|URL|URI|NAME|SOCK|HELPER)|^(OLD)?PWD)$")
            .expect("a constant pattern compiles")
    });
    NAMES.is_match(name) && !PLACES.is_match(name)
}

/// Words that are secrets by their look, whatever they are called.
static SHAPES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        (?P<key> -----BEGIN\ [A-Z\ ]*PRIVATE\ KEY-----  (?s:.*?)  (?: -----END\ [A-Z\ ]*PRIVATE\ KEY----- | \z ) )
        | \b (?: AKIA | ASIA ) [0-9A-Z]{16} \b
        | \b gh[pousr]_ [A-Za-z0-9]{30,}
        | \b github_pat_ [A-Za-z0-9_]{22,}
        | \b glpat- [A-Za-z0-9_-]{20,}
        | \b (?: sk | rk | pk )_(?: live | test )_ [A-Za-z0-9]{16,}
        | (?P<sk> \b sk- [A-Za-z0-9_-]{20,} )
        | \b xox[abeoprs]- [A-Za-z0-9-]{10,}
        | \b AIza [0-9A-Za-z_-]{35}
        | \b npm_ [A-Za-z0-9]{36}
        | \b pypi-AgE [A-Za-z0-9_-]{16,}
        | \b hf_ [A-Za-z0-9]{30,}
        | \b eyJ [A-Za-z0-9_-]{8,} \. eyJ [A-Za-z0-9_-]{8,} \. [A-Za-z0-9_-]*
        | (?P<scheme> \b [Bb]earer\ + ) [A-Za-z0-9._~+/=-]{16,}
        ",
    )
    .expect("a constant pattern compiles")
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
    /// Lines are inside a private key that began on an earlier one.
    in_key: bool,
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
            in_key: false,
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
        if self.in_key {
            let Some(end) = KEY_ENDS.find(line) else {
                return Cow::Borrowed("");
            };
            self.in_key = false;
            return Cow::Owned(self.text(&line[end.end()..]).into_owned());
        }
        let last_begin = KEY_BEGINS.find_iter(line).last();
        self.in_key = last_begin.is_some_and(|begin| !KEY_ENDS.is_match(&line[begin.end()..]));
        self.text(line)
    }

    /// The stream lost some lines: what follows may be the end of a key, but need not be.
    pub fn gap(&mut self) {
        self.in_key = false;
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
        let orphan_end = KEY_ENDS
            .find(text)
            .filter(|end| !KEY_BEGINS.is_match(&text[..end.start()]));
        let (head, text) = match orphan_end {
            // The beginning of a key was cut off: all before its end belongs to it.
            Some(end) => (REDACTED, &text[end.end()..]),
            None => ("", text),
        };
        if head.is_empty() && !SHAPES.is_match(text) {
            return None;
        }
        self.count += u64::from(!head.is_empty());
        let count = &mut self.count;
        let replaced = SHAPES.replace_all(text, |found: &Captures<'_>| {
            if found
                .name("sk")
                .is_some_and(|word| !word.as_str().contains(|c: char| c.is_ascii_digit()))
            {
                return found[0].to_owned();
            }
            *count += 1;
            match found.name("scheme") {
                Some(scheme) => format!("{}{REDACTED}", scheme.as_str()),
                None => REDACTED.to_owned(),
            }
        });
        Some(format!("{head}{replaced}"))
    }
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
    fn names_of_secrets_are_known_and_names_of_places_are_not() {
        for name in [
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "ANTHROPIC_API_KEY",
            "DATABASE_PASSWORD",
            "NPM_CONFIG__AUTH",
            "api_key",
            "GOOGLE_CREDENTIALS",
            "PGPASSWORD",
            "MY_SECRET_VALUE",
            "TWINE_PASSWORD",
            "APIKEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "GOOGLE_CREDENTIALS_FILE",
            "KEYBOARD",
            "MONKEY",
            "AUTHOR",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

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
        let mut redactor = Redactor::default();
        assert_eq!(
            redactor.text(&format!("a {begin}\nAAAA\n{end} b")),
            "a [redacted] b"
        );
        assert_eq!(redactor.text(&format!("cut {begin}\nAAAA")), "cut [redacted]");
        assert_eq!(redactor.text(&format!("AAAA\n{end} b")), "[redacted] b");
        assert_eq!(redactor.line(begin), "[redacted]");
        assert_eq!(redactor.line("AAAA"), "");
        assert_eq!(redactor.line(end), "");
        assert_eq!(redactor.line("after"), "after");
    }
}
