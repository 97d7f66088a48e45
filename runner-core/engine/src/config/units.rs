//! Durations and sizes as people write them.

use std::time::Duration;

/// Units of a duration from large to small, in milliseconds.
const DURATION_UNITS: [(&str, u64); 5] = [
    ("d", 86_400_000),
    ("h", 3_600_000),
    ("m", 60_000),
    ("s", 1_000),
    ("ms", 1),
];

const SIZE_UNITS: [(&str, u64); 9] = [
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TB", 1_000_000_000_000),
];

/// `5m`, `90s`, `1h30m`, `500ms`: whole numbers with units, from large to small, each unit once.
pub fn duration(text: &str) -> Option<Duration> {
    let mut rest = text;
    let mut allowed = &DURATION_UNITS[..];
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (number, unit, after) = split_number(rest)?;
        let place = allowed.iter().position(|(name, _)| *name == unit)?;
        total = total.checked_add(number.checked_mul(allowed[place].1)?)?;
        allowed = &allowed[place + 1..];
        rest = after;
    }
    (!text.is_empty()).then(|| Duration::from_millis(total))
}

/// What somebody may have meant who wrote `5 minutes`, `2 hrs` or `300`.
pub fn duration_meant(text: &str) -> Option<String> {
    let compact: String = text.to_lowercase().split_whitespace().collect();
    let (number, word, after) = split_number(&compact)?;
    let unit = match word {
        "" => "s",
        word if word == "ms" || word.starts_with("mil") => "ms",
        word => DURATION_UNITS
            .iter()
            .map(|(unit, _)| *unit)
            .find(|unit| word.starts_with(*unit))?,
    };
    let meant = format!("{number}{unit}");
    // Not one that is too long to be a duration.
    (after.is_empty() && duration(&meant).is_some()).then_some(meant)
}

/// `512MB`, `1GiB`: a whole number of bytes with a unit.
pub(super) fn size(text: &str) -> Option<u64> {
    let (number, unit, after) = split_number(text)?;
    let (_, factor) = SIZE_UNITS.iter().find(|(name, _)| *name == unit)?;
    if after.is_empty() {
        number.checked_mul(*factor)
    } else {
        None
    }
}

/// Splits `30m15s` into 30, `m` and `15s`.
fn split_number(text: &str) -> Option<(u64, &str, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number = text[..digits].parse().ok()?;
    let rest = &text[digits..];
    let unit = rest
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(rest.len());
    Some((number, &rest[..unit], &rest[unit..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_every_unit_add_up() {
        let milliseconds = |text| duration(text).map(|d| d.as_millis());
        assert_eq!(milliseconds("5m"), Some(300_000));
        assert_eq!(milliseconds("90s"), Some(90_000));
        assert_eq!(milliseconds("1h30m"), Some(5_400_000));
        assert_eq!(milliseconds("500ms"), Some(500));
        assert_eq!(milliseconds("1d2h3m4s5ms"), Some(93_784_005));
        assert_eq!(milliseconds("0s"), Some(0));
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "5",
            "5 m",
            "5 minutes",
            "m",
            "-5s",
            "1.5h",
            "5M",
            "30m1h",
            "5s5s",
            "5m ",
            "１s",
            "99999999999999999999s",
            "9999999999999999999d",
        ] {
            assert_eq!(duration(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_spelled_out_duration_is_understood_for_the_hint() {
        let meant = |text| duration_meant(text).unwrap_or_default();
        assert_eq!(meant("5 minutes"), "5m");
        assert_eq!(meant("2 hrs"), "2h");
        assert_eq!(meant("300"), "300s");
        assert_eq!(meant("10 Seconds"), "10s");
        assert_eq!(meant("20 millis"), "20ms");
        assert_eq!(meant("soon"), "");
        assert_eq!(meant("5 parsecs"), "");
    }

    #[test]
    fn sizes_know_both_kinds_of_units() {
        assert_eq!(size("512MB"), Some(512_000_000));
        assert_eq!(size("1GiB"), Some(1 << 30));
        assert_eq!(size("7B"), Some(7));
        for text in [
            "",
            "512",
            "512 MB",
            "1.5GB",
            "-1MB",
            "1mb",
            "99999999999999TB",
            "1GB1MB",
        ] {
            assert_eq!(size(text), None, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_duration_written_from_its_parts_reads_back(h in 0u64..1000, m in 0u64..100, s in 0u64..100, ms in 0u64..2000) {
            let text = format!("{h}h{m}m{s}s{ms}ms");
            let expected = h * 3_600_000 + m * 60_000 + s * 1000 + ms;
            proptest::prop_assert_eq!(duration(&text), Some(Duration::from_millis(expected)));
        }

        #[test]
        fn what_is_read_of_any_text_is_what_its_smallest_unit_says(text in "(.{0,20}|[0-9]{1,22}[a-zA-Z]{0,3})") {
            if let Some(read) = duration(&text) {
                proptest::prop_assert_eq!(duration(&format!("{}ms", read.as_millis())), Some(read));
            }
            if let Some(meant) = duration_meant(&text) {
                proptest::prop_assert!(duration(&meant).is_some(), "{}", meant);
            }
            if let Some(bytes) = size(&text) {
                proptest::prop_assert_eq!(size(&format!("{bytes}B")), Some(bytes));
            }
        }
    }
}
