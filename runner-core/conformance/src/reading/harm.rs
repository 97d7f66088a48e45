//! What broken input must not do to an answer.

use super::super::recording::Replay;

/// That damaged input did no harm: no panic, and not green unless with all the rows of the whole.
pub(super) fn not_green(played: &Replay, whole: Option<&Replay>, what: &str) -> Result<(), String> {
    if let Some(crash) = &played.crash {
        return Err(format!("{what}: {crash}"));
    }
    let same = whole.is_some_and(|whole| whole.passed() && whole.rows() == played.rows());
    if played.passed() && !same {
        return Err(format!("{what}: {}", played.words()));
    }
    Ok(())
}

/// That ([`not_green`]), and no row that the whole does not have.
pub(super) fn harmless(played: &Replay, whole: Option<&Replay>, what: &str) -> Result<(), String> {
    not_green(played, whole, what)?;
    let known = whole.map(Replay::rows).unwrap_or_default();
    match played.rows().keys().find(|id| !known.contains_key(*id)) {
        Some(new) => Err(format!("{what}: a row `{new}` that no test stands for")),
        None => Ok(()),
    }
}
