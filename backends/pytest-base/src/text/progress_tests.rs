use super::*;

fn exact(lines: &[&str]) -> Vec<(String, bool)> {
    let mut progress = Progress::default();
    for line in lines {
        progress.line(line);
    }
    let rows = progress.rows.into_iter();
    rows.map(|row| (row.id, row.exact)).collect()
}

#[test]
fn verdicts_printed_by_a_test_that_has_none_yet_are_not_exact() {
    let rows = exact(&[
        "a.py::outer ===== test session starts =====",
        "in/b.py::one PASSED [1/2]",
        "in/b.py::two FAILED [2/2]",
    ]);
    assert_eq!(
        rows,
        [("in/b.py::one".into(), false), ("in/b.py::two".into(), false)]
    );
    let rows = exact(&[
        "a.py::one noted",
        "a.py::one PASSED [1/2]",
        "a.py::two PASSED [2/2]",
    ]);
    assert_eq!(rows, [("a.py::one".into(), false), ("a.py::two".into(), true)]);
}

#[test]
fn a_character_of_no_width_does_not_hide_a_counter() {
    let mut progress = Progress {
        width: Some(40),
        ..Progress::default()
    };
    // One more character than columns.
    progress.line("a.py::t[\u{7}] PASSED                    [1/1]");
    assert!(progress.rows[0].exact);
}
