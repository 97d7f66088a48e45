//! One fault at a time, and the cases that must see it.

use conformance::{Case, Finding};

use crate::sheet::{Fault, Sheet, cases, names};

fn failed(finding: &Finding) -> bool {
    matches!(finding, Finding::Failed(_))
}

/// The backend with this fault fails exactly these cases; what came stands in the first of them.
async fn fails(fault: Fault, live: bool, expected: &[&str], words: &str) {
    let cases = cases(Sheet::with(fault), live).await;
    let told: Vec<&Case> = cases.iter().filter(|case| failed(&case.finding)).collect();
    assert_eq!(names(&cases, failed), expected, "{fault:?}: {told:#?}");
    let came = told.first().map(|case| case.finding.came()).unwrap_or_default();
    assert!(came.contains(words), "{fault:?}: {came}");
    assert!(told.iter().all(|case| !case.expected.is_empty()));
}

macro_rules! faults {
    ($($test:ident: $fault:ident, $live:literal, [$($case:literal),*], $words:literal;)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                fails(Fault::$fault, $live, &[$($case),*], $words).await;
            }
        )*
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sound_backend_holds_everything() {
    let cases = cases(Sheet::with(Fault::None), true).await;
    let told: Vec<&Case> = cases.iter().filter(|case| failed(&case.finding)).collect();
    assert_eq!(names(&cases, failed), Vec::<String>::new(), "{told:#?}");
    let skipped = names(&cases, |finding| matches!(finding, Finding::Skipped(_)));
    assert_eq!(skipped, ["planning/keyword", "planning/wrap", "live/keyword-run"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_sample_project_what_is_left_out_is_said() {
    let cases = cases(Sheet::with(Fault::None), false).await;
    assert_eq!(names(&cases, failed), Vec::<String>::new());
    let live = cases.iter().filter(|case| case.group.as_str() == "live");
    for case in live {
        let said = Finding::Skipped("no sample project was given (--project DIR)".to_owned());
        assert_eq!(case.finding, said, "{}", case.name);
    }
    assert!(names(&cases, |finding| matches!(finding, Finding::Passed(_))).len() > 20);
}

/// Which other cases see it depends on how the streams were interleaved.
#[tokio::test(flavor = "multi_thread")]
async fn rows_from_prints() {
    let cases = cases(Sheet::with(Fault::BelievesPrints), true).await;
    let all = cases.iter().find(|case| case.name == "all").unwrap();
    assert!(all.failed() && all.finding.came().contains("forged"), "{all:?}");
}

faults! {
    silence_that_passes: SilencePasses, true,
        ["reading/silence", "reading/garbage", "reading/shapes", "reading/long-line", "reading/many-lines",
         "reading/bad-reports", "reading/cut-green"], "passed with 1 rows";
    readers_that_share_state: SharedState, true, ["reading/two-readers", "live/at-once"], "beside another reader";
    a_panic: PanicsOnNul, true,
        ["reading/garbage", "reading/many-lines", "reading/noise", "reading/noise-green"], "panicked: a NUL";
    ids_as_text_of_a_shell: ShellText, true,
        ["planning/ids-plain", "planning/ids-shell", "planning/ids-colons", "planning/ids-options",
         "planning/ids-many"], "text of a program";
    ids_as_one_word: OneWord, false, ["planning/ids-many"], "a word of";
    rows_without_the_frameworks_end: NoEnd, true, ["reading/cut-green"], "cut at line";
    any_exit_is_good: AnyExit, true, ["reading/bad-exit", "reading/killed", "reading/killed-listing"],
        "exit code 2: passed";
    rows_that_come_late: LateRows, true, ["reading/limits", "live/live-rows", "live/hang"], "time limit";
    ears_that_close: DeafAtStderr, true, ["reading/streams"], "streams one after another";
    a_test_with_two_names: RenamesAlone, true, ["live/alone"], "TESTS/A";
    a_short_listing: ListsTooLittle, true, ["live/list"], "8 listed, 9 ran";
    plans_that_change: Impure, false, ["planning/pure", "planning/scratch"], "then";
    steps_outside_the_root: OutsideCwd, false, ["planning/cwd"], "step `sheet` in /";
    reports_outside_the_root: OutsideReport, false, ["planning/artifacts"], "/var/tmp/report";
    plans_for_what_is_not_offered: PlansAnything, false, ["claims/absent"], "`keyword` was planned";
    offers_that_are_not_kept: Boasts, false, ["claims/declared", "planning/keyword"], "`keyword`";
    questions_passed_over: PassesOver, false, ["planning/workers"], "passed over in silence";
    a_bad_name: Nameless, false, ["claims/name"], "a sheet";
}
