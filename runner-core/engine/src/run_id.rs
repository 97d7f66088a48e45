//! Names and dates of runs.

use std::time::{Duration, SystemTime};

use crate::clock;

/// Crockford's base 32, lower-case: no letters that look like digits, and in the order of their values.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const TIME_DIGITS: usize = 9;
const RANDOM_DIGITS: usize = 14;

/// A new run's id: unguessable (70 random bits), short, lower-case. Its first nine characters are the time, so that
/// ids sort by age.
pub fn new_run_id() -> String {
    let millis = since_epoch(clock::now()).as_millis() as u64;
    let mut id: String = (0..TIME_DIGITS)
        .rev()
        .map(|place| digit(millis >> (5 * place)))
        .collect();
    id.push_str(&random_word(RANDOM_DIGITS));
    id
}

/// Whether `text` looks like an id made by [`new_run_id`]. Anything else never becomes part of a path.
pub fn is_run_id(text: &str) -> bool {
    text.len() == TIME_DIGITS + RANDOM_DIGITS && text.bytes().all(|byte| DIGITS.contains(&byte))
}

/// `length` random characters, five bits each.
pub(crate) fn random_word(length: usize) -> String {
    let mut bytes = vec![0; length];
    getrandom::fill(&mut bytes).expect("the system hands out random bytes");
    bytes.into_iter().map(|byte| digit(u64::from(byte))).collect()
}

/// `time` as RFC 3339 in UTC, whole seconds. A label for people, never computed with.
pub(crate) fn label(time: SystemTime) -> String {
    let seconds = since_epoch(time).as_secs();
    let (year, month, day) = civil_date(seconds / 86_400);
    let of_day = seconds % 86_400;
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of the Gregorian calendar, `days` after 1970-01-01.
fn civil_date(days: u64) -> (u64, u64, u64) {
    // Counted from 0000-03-01, so that a leap day ends its year; eras of 400 years are all alike.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

fn since_epoch(time: SystemTime) -> Duration {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

fn digit(bits: u64) -> char {
    char::from(DIGITS[(bits & 31) as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_sort_by_time_and_are_recognised() {
        let first = new_run_id();
        std::thread::sleep(Duration::from_millis(2));
        let second = new_run_id();
        assert!(first < second);
        assert!(is_run_id(&first) && is_run_id(&second));
        for not in [
            "",
            "../../etc/passwd",
            "UPPER",
            &first[1..],
            &format!("{first}x"),
            &first.replace(|_| true, "/"),
        ] {
            assert!(!is_run_id(not), "{not}");
        }
    }

    #[test]
    fn labels_are_calendar_dates() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_709_251_200, "2024-03-01T00:00:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(
                label(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)),
                expected
            );
        }
    }
}
