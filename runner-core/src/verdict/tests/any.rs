//! The rule that everything rests on, over whatever may be seen.

use proptest::prelude::*;

use super::*;

fn any_seen() -> impl Strategy<Value = Seen> {
    let kinds = prop::sample::select(vec![
        EndingKind::Completed,
        EndingKind::Stopped,
        EndingKind::NoTests,
        EndingKind::Interrupted,
        EndingKind::Broken,
        EndingKind::Cut,
    ]);
    let meanings = prop::sample::select(vec![
        ExitMeaning::Ok,
        ExitMeaning::TestsFailed,
        ExitMeaning::NoTests,
        ExitMeaning::Other,
    ]);
    let rows = prop::collection::vec(prop::sample::select(Outcome::ALL.to_vec()), 0..4);
    let lists = (0..2_usize, 0..2_usize, prop::option::of(0..6_u64), any::<bool>());
    (rows, prop::option::of((kinds, meanings)), lists).prop_map(
        |(rows, end, (broken, running, selected, timed_out))| Seen {
            rows,
            collection_errors: ["c.py"][..broken].to_vec(),
            running: ["t::running"][..running].to_vec(),
            selected,
            code: None,
            timed_out,
            ending: end.map(|(kind, exit)| ending(kind, exit)),
        },
    )
}

proptest! {
    /// The rule that everything rests on, said once more and differently.
    #[test]
    fn passed_needs_results_no_failure_and_an_exit_that_agrees(seen in any_seen()) {
        let complete = Some(ending(EndingKind::Completed, ExitMeaning::Ok));
        let may_pass = !seen.rows.is_empty()
            && !seen.rows.iter().any(|row| row.is_bad())
            && seen.collection_errors.is_empty()
            && seen.running.is_empty()
            && !seen.timed_out
            && seen.selected.is_none_or(|selected| selected <= seen.rows.len() as u64)
            && seen.ending == complete;
        let verdict = verdict_of(&seen);
        prop_assert_eq!(verdict.status.is_green(), may_pass);
        let skips = seen.rows.iter().all(|row| *row == Outcome::Skipped);
        prop_assert_eq!(verdict.status == Status::AllSkipped, may_pass && skips);
        prop_assert!(verdict.status.is_final());
        prop_assert!(verdict.reason.is_some() || verdict.status.is_complete());
        if verdict.status == Status::Broken {
            prop_assert!(seen.rows.is_empty() || !seen.rows.iter().any(|row| row.is_bad()));
        }
    }
}
