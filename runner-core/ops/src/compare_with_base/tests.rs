use std::collections::BTreeMap;

use super::judge::{Lists, Side, bare, judge};
use runner_core::change::{Renamed, TestChanges};
use runner_core::model::Outcome::{self, Error, Failed, Passed, Skipped, Xpassed};

fn side(rows: &[(&str, &[Outcome])]) -> Side {
    Side {
        outcomes: rows
            .iter()
            .map(|(id, outcomes)| ((*id).to_owned(), outcomes.to_vec()))
            .collect(),
        ..Side::default()
    }
}

fn judged(head: &[(&str, &[Outcome])], base: &[(&str, &[Outcome])]) -> Lists {
    judge(&side(head), Ok(&side(base)), &TestChanges::default())
}

#[test]
fn whose_a_failure_is() {
    const BAD: &[Outcome] = &[Failed, Failed, Failed];
    const GOOD: &[Outcome] = &[Passed, Passed, Passed];
    const BOTH: &[Outcome] = &[Failed, Passed, Failed];
    let id = "a.py::test_a";
    let lists = |head, base| judged(&[(id, head)], &[(id, base)]);
    assert_eq!(lists(BAD, GOOD).broken_here[0].nodeid, id);
    assert_eq!(lists(BAD, BAD).broken_before[0].nodeid, id);
    assert_eq!(lists(GOOD, BAD).fixed[0].nodeid, id);
    for (head, base) in [(BOTH, GOOD), (BOTH, BAD), (GOOD, BOTH), (BAD, BOTH)] {
        let lists = lists(head, base);
        assert_eq!(lists.flaky[0].nodeid, id);
        assert!(lists.broken_here.is_empty() && lists.fixed.is_empty() && lists.broken_before.is_empty());
    }
    assert_eq!(lists(&[Skipped], GOOD).muted[0].nodeid, id);
    assert_eq!(lists(&[Xpassed], GOOD).muted[0].nodeid, id);
    assert_eq!(lists(&[Skipped], BAD).muted[0].nodeid, id);
    assert_eq!(lists(&[Skipped], &[Skipped]), Lists::default());
    assert_eq!(lists(GOOD, &[Skipped]), Lists::default());
    let new = judged(&[(id, BAD)], &[]);
    assert_eq!((new.added.len(), new.broken_here.len()), (1, 1));
}

#[test]
fn a_failing_test_that_is_skipped_now_is_no_fix() {
    let lists = judged(&[("a.py::t", &[Skipped])], &[("a.py::t", &[Failed])]);
    assert!(lists.fixed.is_empty());
    assert_eq!(lists.muted.len(), 1);
}

#[test]
fn a_renamed_test_that_failed_before_is_not_broken_here() {
    let tests = TestChanges {
        renamed: vec![Renamed {
            was: "a.py::old".into(),
            id: "b.py::new".into(),
        }],
        ..TestChanges::default()
    };
    let head = side(&[("b.py::new[1]", &[Failed])]);
    let base = side(&[("a.py::old[1]", &[Failed])]);
    let lists = judge(&head, Ok(&base), &tests);
    assert_eq!(lists.broken_before.len(), 1);
    assert_eq!(lists.renamed.len(), 1);
    assert!(lists.added.is_empty() && lists.removed.is_empty() && lists.muted.is_empty());
}

#[test]
fn what_is_gone_is_removed_if_its_body_is_and_muted_if_not() {
    let tests = TestChanges {
        removed: vec!["a.py::gone".into()],
        ..TestChanges::default()
    };
    let base = side(&[
        ("a.py::gone", &[Passed]),
        ("a.py::hidden", &[Passed]),
        ("a.py::p[1]", &[Passed]),
        ("a.py::p[2]", &[Passed]),
    ]);
    let lists = judge(&side(&[("a.py::p[1]", &[Passed])]), Ok(&base), &tests);
    let removed: Vec<_> = lists.removed.iter().map(|test| test.nodeid.as_str()).collect();
    assert_eq!(removed, ["a.py::gone", "a.py::p[2]"]);
    assert_eq!(lists.muted[0].nodeid, "a.py::hidden");
}

#[test]
fn a_file_that_cannot_be_collected_stands_for_its_tests() {
    let head = side(&[("a.py", &[Error])]);
    let base = side(&[("a.py::t", &[Passed])]);
    let lists = judge(&head, Ok(&base), &TestChanges::default());
    assert_eq!(lists.broken_here[0].nodeid, "a.py");
    assert!(lists.removed.is_empty() && lists.muted.is_empty() && lists.added.is_empty());
    let lists = judge(&base, Ok(&head), &TestChanges::default());
    assert_eq!(lists.fixed[0].nodeid, "a.py");
    assert!(lists.added.is_empty());
}

#[test]
fn where_the_base_was_cut_short_nothing_is_blamed() {
    let head = side(&[("a.py::t", &[Failed]), ("a.py::u", &[Passed])]);
    let base = Side {
        cut_short: Some("time limit".into()),
        ..Side::default()
    };
    let lists = judge(&head, Ok(&base), &TestChanges::default());
    assert_eq!(lists.unjudged.len(), 1);
    assert!(lists.broken_here.is_empty() && lists.added.is_empty());
}

#[test]
fn without_a_base_failures_are_unjudged_and_the_sources_still_speak() {
    let tests = TestChanges {
        removed: vec!["a.py::gone".into()],
        muted: BTreeMap::from([("a.py::s".into(), vec!["@pytest.mark.skip".into()])]),
        weakened: BTreeMap::from([("a.py::w".into(), vec!["assertion removed".into()])]),
        ..TestChanges::default()
    };
    let head = side(&[
        ("a.py::f", &[Failed]),
        ("a.py::s", &[Skipped]),
        ("a.py::w", &[Passed]),
    ]);
    let lists = judge(&head, Err("not allowed here"), &tests);
    assert_eq!(lists.unjudged[0].nodeid, "a.py::f");
    assert_eq!(
        (lists.muted.len(), lists.weakened.len(), lists.removed.len()),
        (1, 1, 1)
    );
    assert!(lists.broken_here.is_empty());
}

#[test]
fn brackets_in_a_path_are_no_parameters() {
    assert_eq!(bare("a[1].py::t[x::y]"), "a[1].py::t");
    assert_eq!(bare("a[1].py"), "a[1].py");
}
