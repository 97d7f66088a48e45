//! What a number of runs says about how often a test does not behave as it mostly does.

use serde::Serialize;

/// The normal distribution's point for 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's interval at 95 % for the share that `count` of `runs` stands for: unlike the plain one it says something where
/// none or all of a few runs differ. `None` without a run.
pub(super) fn wilson(count: u32, runs: u32) -> Option<[f64; 2]> {
    if runs == 0 {
        return None;
    }
    let (n, share) = (f64::from(runs), f64::from(count) / f64::from(runs));
    let middle = share + Z * Z / (2.0 * n);
    let reach = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    Some([
        ((middle - reach) / whole).max(0.0),
        ((middle + reach) / whole).min(1.0),
    ])
}

/// How likely so many runs are to show a flake of a certain rate at least once.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Power {
    /// Share of the runs that would differ.
    pub rate: f64,
    /// Share of such repeats in which at least one run does.
    pub seen: f64,
}

/// For a rare, a usual and a frequent flake.
pub(super) fn power(runs: u32) -> Vec<Power> {
    let seen = |rate: f64| Power {
        rate,
        seen: super::rows::round(1.0 - (1.0 - rate).powf(f64::from(runs)), 2),
    };
    [0.01, 0.05, 0.2].map(seen).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        assert_eq!(wilson(0, 0), None);
        // Values of the formula as published tables have them.
        for (count, runs, low, high) in [
            (0, 20, 0.0, 0.1611),
            (1, 20, 0.0089, 0.2361),
            (10, 20, 0.2993, 0.7007),
            (20, 20, 0.8389, 1.0),
        ] {
            let [from, to] = wilson(count, runs).unwrap();
            assert!(
                (from - low).abs() < 5e-4 && (to - high).abs() < 5e-4,
                "{count}/{runs}: {from} {to}"
            );
        }
    }

    #[test]
    fn twenty_runs_see_a_flake_of_five_percent_64_times_in_100() {
        let powers = power(20);
        assert_eq!((powers[1].rate, powers[1].seen), (0.05, 0.64));
    }
}
