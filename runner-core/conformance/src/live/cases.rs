//! Cases on the sample's ordinary tests.

use std::collections::{BTreeMap, BTreeSet};

use super::super::case_log::Finding;
use super::super::planning::lacks;
use super::super::recording::{rows, words};
use super::super::subject::Subject;
use super::harness::{Harness, SampleRun};
use super::{Tapes, Tried};
use runner_core::backend::Capability;
use runner_core::model::{Outcome, Status};
use runner_core::report::Report;

/// At most so many ids are run one by one.
const MOST_ALONE: usize = 40;

pub(super) fn outcome(harness: &Harness, all: &Tried, outcome: Outcome) -> Finding {
    let ids = harness.sample().with(outcome);
    if ids.is_empty() {
        return Finding::Skipped(harness.sample().why_absent(outcome.as_str()));
    }
    let report = match Tapes::report(all) {
        Ok(report) => report,
        Err(finding) => return finding,
    };
    let iteration = report.first();
    let wrong = ids.iter().find_map(|id| match iteration.row(id) {
        Some(row) if row.outcome == outcome => None,
        Some(row) => Some(format!("`{id}` is {}", row.outcome)),
        None => Some(format!("`{id}` has no row ({})", words(report))),
    });
    match wrong {
        Some(wrong) => Finding::Failed(wrong),
        None => Finding::Passed(format!("{} tests", ids.len())),
    }
}

/// The difference between what is true and what was reported.
fn compared(known: &BTreeMap<String, Outcome>, report: &Report) -> Result<(), String> {
    let rows = rows(report.first());
    if rows == *known {
        return Ok(());
    }
    let said = words(report);
    if let Some(id) = rows.keys().find(|id| !known.contains_key(*id)) {
        return Err(format!("a row `{id}` that the sample does not have ({said})"));
    }
    if let Some(id) = known.keys().find(|id| !rows.contains_key(*id)) {
        return Err(format!("no row of `{id}` ({said})"));
    }
    let wrong = rows.iter().find(|(id, outcome)| known[*id] != **outcome);
    Err(wrong.map_or(said, |(id, outcome)| format!("`{id}` is {outcome}")))
}

pub(super) fn all(harness: &Harness, all: &Tried) -> Finding {
    let report = match Tapes::report(all) {
        Ok(report) => report,
        Err(finding) => return finding,
    };
    let known = &harness.sample().file.outcomes;
    let wanted = if known.values().any(|outcome| outcome.is_bad()) {
        Status::Failed
    } else {
        Status::Passed
    };
    let fits = || {
        compared(known, report)?;
        if report.status() == wanted {
            return Ok(words(report));
        }
        Err(format!("{} instead of {wanted}", words(report)))
    };
    fits().into()
}

pub(super) fn messages(all: &Tried) -> Finding {
    let report = match Tapes::report(all) {
        Ok(report) => report,
        Err(finding) => return finding,
    };
    let bad = report.first().rows.iter().filter(|row| row.outcome.is_bad());
    let silent = |row: &&&runner_core::model::TestResult| {
        let told = row.message.as_deref().is_some_and(|text| !text.trim().is_empty());
        !told && row.failures.is_empty()
    };
    let bad: Vec<_> = bad.collect();
    match bad.iter().find(silent) {
        Some(row) => Finding::Failed(format!("not a word about `{}`", row.nodeid)),
        None => Finding::Passed(format!("{} failed tests with their reasons", bad.len())),
    }
}

pub(super) fn live_rows(subject: &Subject, all: &Tried) -> Finding {
    if !subject.can(Capability::Stream) {
        return lacks(Capability::Stream);
    }
    match all {
        Err(why) => Finding::Skipped(why.clone()),
        Ok(recorded) if recorded.ran.live => Finding::Passed("they did".to_owned()),
        Ok(_) => Finding::Failed("every row came at the end".to_owned()),
    }
}

pub(super) fn green(harness: &Harness, green: &Tried) -> Finding {
    let report = match Tapes::report(green) {
        Ok(report) => report,
        Err(finding) => return finding,
    };
    let passing = harness.sample().with(Outcome::Passed);
    let known = passing.into_iter().map(|id| (id, Outcome::Passed)).collect();
    let fits = || {
        compared(&known, report)?;
        match report.status() {
            Status::Passed => Ok(words(report)),
            _ => Err(words(report)),
        }
    };
    fits().into()
}

pub(super) fn list(recordings: &Tapes) -> Finding {
    let (list, all) = match (Tapes::report(&recordings.list), Tapes::report(&recordings.all)) {
        (Ok(list), Ok(all)) => (list, all),
        (Err(finding), _) | (_, Err(finding)) => return finding,
    };
    let listed: BTreeSet<&str> = list
        .first()
        .found
        .iter()
        .map(|found| found.nodeid.as_str())
        .collect();
    let ran: BTreeMap<&str, Outcome> = all
        .first()
        .rows
        .iter()
        .map(|row| (row.nodeid.as_str(), row.outcome))
        .collect();
    let only_listed: Vec<_> = listed
        .iter()
        .filter(|id| !ran.contains_key(*id))
        .take(3)
        .collect();
    // Some frameworks set a skipped test aside before they list.
    let missing = |(id, outcome): &(&&str, &Outcome)| !listed.contains(**id) && **outcome != Outcome::Skipped;
    let only_ran: Vec<_> = ran.iter().filter(missing).map(|(id, _)| id).take(3).collect();
    if !only_listed.is_empty() || !only_ran.is_empty() {
        return Finding::Failed(format!(
            "{} listed, {} ran; only listed: {only_listed:?}, only ran: {only_ran:?} ({})",
            listed.len(),
            ran.len(),
            words(list)
        ));
    }
    match list.status() {
        Status::Passed => Finding::Passed(words(list)),
        _ => Finding::Failed(words(list)),
    }
}

pub(super) async fn alone(subject: &Subject, harness: &Harness) -> Finding {
    if !subject.can(Capability::Single) {
        return lacks(Capability::Single);
    }
    let outcomes = &harness.sample().file.outcomes;
    for (id, outcome) in outcomes.iter().take(MOST_ALONE) {
        let ran = match harness
            .run(subject, &SampleRun::of(std::slice::from_ref(id)))
            .await
        {
            Ok(ran) => ran,
            Err(why) => return Finding::Failed(why),
        };
        let known = BTreeMap::from([(id.clone(), *outcome)]);
        if let Err(why) = compared(&known, &ran.report) {
            return Finding::Failed(format!("`{id}` alone: {why}"));
        }
    }
    Finding::Passed(format!("{} ids came back", outcomes.len().min(MOST_ALONE)))
}

pub(super) async fn keyword(subject: &Subject, harness: &Harness) -> Finding {
    if !subject.can(Capability::Keyword) {
        return lacks(Capability::Keyword);
    }
    let Some(keyword) = &harness.sample().file.keyword else {
        return Finding::Skipped(harness.sample().why_absent("keyword"));
    };
    let wanted = SampleRun {
        keyword: Some(keyword.expression.clone()),
        ..SampleRun::default()
    };
    let outcomes = &harness.sample().file.outcomes;
    let known = keyword
        .finds
        .iter()
        .filter_map(|id| Some((id.clone(), *outcomes.get(id)?)));
    let known: BTreeMap<String, Outcome> = known.collect();
    match harness.run(subject, &wanted).await {
        Ok(ran) => compared(&known, &ran.report).map(|()| words(&ran.report)).into(),
        Err(why) => Finding::Failed(why),
    }
}

pub(super) async fn max_failures(subject: &Subject, harness: &Harness) -> Finding {
    if !subject.can(Capability::MaxFailures) {
        return lacks(Capability::MaxFailures);
    }
    let outcomes = &harness.sample().file.outcomes;
    if !outcomes.values().any(|outcome| outcome.is_bad()) {
        return Finding::Skipped("none of the sample's tests fails".to_owned());
    }
    let wanted = SampleRun {
        max_failures: Some(1),
        ..SampleRun::default()
    };
    let ran = match harness.run(subject, &wanted).await {
        Ok(ran) => ran,
        Err(why) => return Finding::Failed(why),
    };
    let rows = rows(ran.report.first());
    let foreign = rows
        .iter()
        .find(|(id, outcome)| outcomes.get(*id) != Some(outcome));
    let bad = rows.values().any(|outcome| outcome.is_bad());
    match foreign {
        Some((id, outcome)) => Finding::Failed(format!("`{id}` is {outcome}")),
        None if ran.report.status() == Status::Failed && bad => Finding::Passed(words(&ran.report)),
        None => Finding::Failed(words(&ran.report)),
    }
}

pub(super) async fn missing(subject: &Subject, harness: &Harness) -> Finding {
    if !subject.can(Capability::Single) {
        return lacks(Capability::Single);
    }
    let id = harness.sample().missing();
    let ran = match harness
        .run(subject, &SampleRun::of(std::slice::from_ref(&id)))
        .await
    {
        Ok(ran) => ran,
        Err(why) => return Finding::Failed(why),
    };
    let said = format!("`{id}`: {}", words(&ran.report));
    if ran.report.status() == Status::Passed || ran.report.first().finished_tests() > 0 {
        Finding::Failed(said)
    } else {
        Finding::Passed(said)
    }
}

pub(super) async fn at_once(subject: &Subject, harness: &Harness, recordings: &Tapes) -> Finding {
    let (all, green) = match (Tapes::report(&recordings.all), Tapes::report(&recordings.green)) {
        (Ok(all), Ok(green)) => (all, green),
        (Err(finding), _) | (_, Err(finding)) => return finding,
    };
    let everything = SampleRun::default();
    let passing = SampleRun::of(&harness.sample().with(Outcome::Passed));
    let (first, second) = tokio::join!(harness.run(subject, &everything), harness.run(subject, &passing));
    for (ran, known) in [(first, all), (second, green)] {
        let ran = match ran {
            Ok(ran) => ran,
            Err(why) => return Finding::Failed(why),
        };
        if let Err(why) = compared(&rows(known.first()), &ran.report) {
            return Finding::Failed(why);
        }
        if ran.report.status() != known.status() {
            return Finding::Failed(format!("{} instead of {}", words(&ran.report), known.status()));
        }
    }
    Finding::Passed(format!(
        "{} and {} rows",
        all.first().rows.len(),
        green.first().rows.len()
    ))
}
