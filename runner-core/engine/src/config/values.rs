//! Single values: places, paths, durations, sizes.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use super::fault::Fault;
use super::settings::Place;
use super::units;
use super::words::{DurationWord, SizeWord};

/// The longest time limit that makes sense.
const MAX_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 3600);
/// A grace longer than this only keeps the caller waiting.
const MAX_GRACE: Duration = Duration::from_secs(60);

/// Makes faults at the place of a key.
pub(super) struct Places<'a>(pub(super) &'a BTreeMap<String, Place>);

impl Places<'_> {
    pub(super) fn place(&self, key: &str) -> Place {
        self.0.get(key).copied().unwrap_or(Place { line: 1, column: 1 })
    }

    pub(super) fn fault(&self, key: &str, message: impl Into<String>, hint: impl Into<String>) -> Fault {
        Fault::at(key, self.place(key), message).with_hint(hint)
    }
}

/// A path below `base`, by its text alone; links are looked at when the folder is used.
pub(super) fn inside(at: &Places<'_>, key: &str, text: &str, base: &str) -> Result<PathBuf, Fault> {
    let hint = format!("write a path relative to {base}, without `..`");
    if text.is_empty() {
        return Err(at.fault(key, "is empty", "write `.` for the folder itself"));
    }
    if text.chars().any(char::is_control) {
        return Err(at.fault(key, format!("{text:?} holds a control character"), hint));
    }
    if text.starts_with('~') || text.contains('\\') || text.contains('$') {
        return Err(at.fault(
            key,
            format!("{text:?} is not a plain path"),
            format!("`~`, `$` and `\\` are not replaced here: {hint}"),
        ));
    }
    let path = Path::new(text);
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            Component::ParentDir => {
                return Err(at.fault(key, format!("{text:?} leads out of the repository"), hint));
            }
            Component::RootDir | Component::Prefix(_) => {
                return Err(at.fault(key, format!("{text:?} is an absolute path"), hint));
            }
        }
    }
    if clean.as_os_str().is_empty() {
        clean.push(".");
    }
    Ok(clean)
}

fn duration(at: &Places<'_>, key: &str, word: &DurationWord) -> Result<Duration, Fault> {
    match word {
        DurationWord::Text(text) => units::duration(text).ok_or_else(|| {
            let meant = units::duration_meant(text).map(|meant| format!("did you mean \"{meant}\"? "));
            at.fault(
                key,
                format!("{text:?} is not a duration"),
                format!(
                    "{}whole numbers with the units d, h, m, s, ms, without blanks: \"5m\", \"1h30m\", \"500ms\"",
                    meant.unwrap_or_default()
                ),
            )
        }),
        DurationWord::Seconds(seconds) => Duration::try_from_secs_f64(*seconds).map_err(|_| {
            let problem = if *seconds < 0.0 { "is negative" } else { "is too long" };
            at.fault(key, format!("{seconds} s {problem}"), "write a duration such as \"5m\"")
        }),
    }
}

pub(super) fn time_limit(at: &Places<'_>, key: &str, word: &DurationWord) -> Result<Duration, Fault> {
    let limit = duration(at, key, word)?;
    if limit < Duration::from_millis(1) {
        return Err(at.fault(
            key,
            "is zero: no test could run",
            "write a duration such as \"5m\", or leave the key out",
        ));
    }
    at_most(at, key, limit, MAX_TIMEOUT, "7 days")
}

pub(super) fn grace(at: &Places<'_>, key: &str, word: &DurationWord) -> Result<Duration, Fault> {
    at_most(at, key, duration(at, key, word)?, MAX_GRACE, "one minute")
}

fn at_most(
    at: &Places<'_>,
    key: &str,
    got: Duration,
    most: Duration,
    words: &str,
) -> Result<Duration, Fault> {
    if got > most {
        return Err(at.fault(
            key,
            format!("is longer than {words}"),
            format!("write at most {words}; units are d, h, m, s, ms, and a bare number means seconds"),
        ));
    }
    Ok(got)
}

pub(super) fn size(at: &Places<'_>, key: &str, word: &SizeWord) -> Result<u64, Fault> {
    match word {
        SizeWord::Bytes(bytes) => Ok(*bytes),
        SizeWord::Text(text) => units::size(text).ok_or_else(|| {
            at.fault(
                key,
                format!("{text:?} is not a size"),
                "a whole number with B, kB, MB, GB, KiB, MiB or GiB, without blanks: \"512MB\"",
            )
        }),
    }
}
