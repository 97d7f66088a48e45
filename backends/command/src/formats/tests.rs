use runner_core::model::Outcome;

use super::*;

/// One line a test: id fields, outcome, the message's first line.
fn rows(format: Format, bytes: &[u8]) -> (Vec<String>, Result<(), String>) {
    let mut said = Vec::new();
    let read = format.read_whole(bytes, &mut said);
    (said.iter().filter_map(shown).collect(), read)
}

fn shown(said: &ReportItem) -> Option<String> {
    let fields = |fields: &Fields| {
        let parts = [&fields.file, &fields.suite, &fields.classname, &fields.name];
        let parts: Vec<&str> = parts
            .iter()
            .map(|part| part.as_str())
            .filter(|part| !part.is_empty())
            .collect();
        parts.join("|")
    };
    match said {
        ReportItem::Finished(name, row) => {
            let line = row.message.as_deref().and_then(|message| message.lines().next());
            let tries = if row.attempts.is_empty() {
                String::new()
            } else {
                format!(" x{}", row.attempt)
            };
            let line = line.map(|line| format!(": {line}")).unwrap_or_default();
            Some(format!("{} {}{tries}{line}", row.outcome, fields(name)))
        }
        ReportItem::Found(name) => Some(format!("found {}", fields(name))),
        ReportItem::Exact(TestEvent::CollectFailed(error)) => Some(format!("collect {}", error.nodeid)),
        _ => None,
    }
}

fn whole(format: Format, bytes: &[u8]) -> Vec<String> {
    let (rows, read) = rows(format, bytes);
    assert_eq!(read, Ok(()));
    rows
}

const NODE_TAP: &[u8] = include_bytes!("../../fixtures/node.tap");
const NODE_XML: &[u8] = include_bytes!("../../fixtures/node.xml");
const VITEST_TAP: &[u8] = include_bytes!("../../fixtures/vitest.tap");
const VITEST_FLAT: &[u8] = include_bytes!("../../fixtures/vitest-flat.tap");
const VITEST_XML: &[u8] = include_bytes!("../../fixtures/vitest.xml");
const VITEST_JSON: &[u8] = include_bytes!("../../fixtures/vitest.json");
const JEST_JSON: &[u8] = include_bytes!("../../fixtures/jest.json");
const NEXTEST: &[u8] = include_bytes!("../../fixtures/nextest.jsonl");
const NEXTEST_LIST: &[u8] = include_bytes!("../../fixtures/nextest-list.json");
const CARGO_TEST: &[u8] = include_bytes!("../../fixtures/cargo-test.txt");

const RECORDED: [(Format, &[u8]); 10] = [
    (Format::Tap, NODE_TAP),
    (Format::Junit, NODE_XML),
    (Format::Tap, VITEST_TAP),
    (Format::Tap, VITEST_FLAT),
    (Format::Junit, VITEST_XML),
    (Format::VitestJson, VITEST_JSON),
    (Format::JestJson, JEST_JSON),
    (Format::LibtestJson, NEXTEST),
    (Format::NextestList, NEXTEST_LIST),
    (Format::LibtestText, CARGO_TEST),
];

#[test]
fn tap_of_node_with_its_subtests() {
    assert_eq!(
        whole(Format::Tap, NODE_TAP),
        [
            "collect /repo/nt/broken.test.mjs",
            "passed math|adds",
            "failed math|fails: duration_ms: 1.151325",
            "skipped math|is left out",
            "skipped math|later",
            "passed outer|inner",
            "failed outer|bad: duration_ms: 0.171815",
            "passed top [a::b] \"quoted\" (x|y) é",
        ]
    );
}

#[test]
fn tap_of_vitest_flat_and_in_braces() {
    let rows = whole(Format::Tap, VITEST_FLAT);
    assert_eq!(rows.len(), 9);
    assert_eq!(rows[1], "passed vt/math.test.js > math > adds");
    let rows = whole(Format::Tap, VITEST_TAP);
    assert_eq!(rows.len(), 9, "{rows:#?}");
    assert_eq!(rows[1], "passed vt/math.test.js::math|adds");
    assert_eq!(rows[8], "passed vt/math.test.js|top [a::b] \"quoted\" (x|y) é");
}

#[test]
fn junit_of_node_whose_failures_are_attributes_too() {
    let rows = whole(Format::Junit, NODE_XML);
    assert_eq!(rows[1], "passed math|test|adds");
    assert_eq!(
        rows[2],
        "failed math|test|fails: Error [ERR_TEST_FAILURE]: 2 == 3"
    );
    assert_eq!(rows[3], "skipped math|test|is left out");
    assert_eq!(rows.len(), 8);
}

#[test]
fn junit_of_vitest_and_its_json_and_jests() {
    let rows = whole(Format::Junit, VITEST_XML);
    assert_eq!(
        rows[2],
        "failed vt/math.test.js|vt/math.test.js|math > fails: AssertionError: expected 2 to be 3 // Object.is equality"
    );
    assert_eq!(
        rows[8],
        "passed vt/math.test.js|vt/math.test.js|top [a::b] \"quoted\" (x|y) é"
    );
    let rows = whole(Format::VitestJson, VITEST_JSON);
    assert!(
        rows.contains(&"collect /repo/vt/broken.test.js".to_owned()),
        "{rows:#?}"
    );
    assert!(
        rows.contains(&"passed /repo/vt/math.test.js|math::adds".to_owned()),
        "{rows:#?}"
    );
    let rows = whole(Format::JestJson, JEST_JSON);
    assert!(
        rows.contains(&"collect /repo/jt/broken.test.cjs".to_owned()),
        "{rows:#?}"
    );
    assert!(
        rows.contains(&"skipped /repo/jt/math.test.cjs|math::later".to_owned()),
        "{rows:#?}"
    );
}

#[test]
fn nextests_lines_and_its_list_name_the_same_tests() {
    let listed = whole(Format::NextestList, NEXTEST_LIST);
    assert_eq!(listed.len(), 5);
    let rows = whole(Format::LibtestJson, NEXTEST);
    assert_eq!(rows.len(), 5);
    for found in listed {
        let id = found.strip_prefix("found ").unwrap();
        assert!(rows.iter().any(|row| row.contains(id)), "{id} not in {rows:#?}");
    }
    assert!(rows.contains(&"skipped demo::demo|tests::left_out".to_owned()));
}

#[test]
fn a_test_that_nextest_ignored_without_saying_so_is_skipped_and_a_running_one_is_not() {
    let started = r#"{"type":"suite","event":"started","test_count":1}
{"type":"test","event":"started","name":"d::d$slow"}
"#;
    let end = |ignored: u32| format!(r#"{started}{{"type":"suite","event":"ok","ignored":{ignored}}}"#);
    assert_eq!(
        whole(Format::LibtestJson, end(1).as_bytes()),
        ["skipped d::d|slow"]
    );
    let (found, read) = rows(Format::LibtestJson, end(0).as_bytes());
    assert!(found.is_empty() && read.unwrap_err().contains("d::d$slow"));
}

#[test]
fn what_cargo_test_prints() {
    assert_eq!(
        whole(Format::LibtestText, CARGO_TEST),
        [
            "passed tests::adds",
            "skipped tests::left_out: slow",
            "passed tests::panics",
            "failed tests::fails: printed before",
            "passed adds",
        ]
    );
    let lying = String::from_utf8_lossy(CARGO_TEST)
        .replace("test tests::fails ... FAILED", "test tests::fails ... ok");
    assert!(
        rows(Format::LibtestText, lying.as_bytes())
            .1
            .unwrap_err()
            .contains("add up")
    );
}

#[test]
fn junit_in_its_dialects() {
    let found = whole(
        Format::Junit,
        br#"<testsuite name="s" file="a/b.rb"><properties><property name="x" value="y"/></properties>
        <testcase name="comma" time="1,5"/><testcase name="both"><failure message="m"><![CDATA[m
        at line 1]]></failure><error type="T"/></testcase>
        <testcase name="rerun"><rerunFailure message="first"><stackTrace>x</stackTrace></rerunFailure></testcase>
        <testcase name="a&#10;b&lt;&unknown;" classname="C"><skipped/></testcase>
        <testcase name="not run" status="notrun"/><testcase name="x"><skipped type="pytest.xfail" message="why"/></testcase>
        <testsuite name="inner"><testcase name="deep"/></testsuite></testsuite><testsuite name="t"><testcase/></testsuite>"#,
    );
    assert_eq!(
        found,
        [
            "passed a/b.rb|s|comma",
            "failed a/b.rb|s|both: m",
            "passed a/b.rb|s|rerun x2",
            "skipped a/b.rb|s|C|a\nb<&unknown;",
            "skipped a/b.rb|s|not run",
            "xfailed a/b.rb|s|x: why",
            "passed a/b.rb|s::inner|deep",
            "passed t",
        ]
    );
    let (_, doctype) = rows(Format::Junit, b"<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite/>");
    assert!(doctype.unwrap_err().contains("document type"));
}

#[test]
fn tap_directives_plans_and_bail_out() {
    let text = "TAP version 13\nok 1 - a # SKIP no db\nnot ok 2 b # TODO later\nok 3 - c \\# d\nok\n1..4\n";
    assert_eq!(
        whole(Format::Tap, text.as_bytes()),
        [
            "skipped a: no db",
            "xfailed b: later",
            "passed c # d",
            "passed test 4"
        ]
    );
    for (text, why) in [
        ("1..2\nok 1\n", "plans 2"),
        ("ok 1\n", "no plan"),
        ("1..1\nok 1\nBail out! db\n", "given up"),
        ("hello\n", "no test line"),
        ("", "no test line"),
    ] {
        assert!(
            rows(Format::Tap, text.as_bytes()).1.unwrap_err().contains(why),
            "{text:?}"
        );
    }
}

#[test]
fn go_with_interleaved_packages_and_a_build_that_failed() {
    let text = r#"{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestX"}
{"Action":"run","Package":"m/b","Test":"TestY"}
{"Action":"output","Package":"m/b","Test":"TestY","Output":"    y_test.go:3: boom\n"}
{"Action":"output","Package":"m/b","Test":"TestY","Output":"--- FAIL: TestY (0.00s)\n"}
{"Action":"pass","Package":"m/a","Test":"TestX","Elapsed":0.1}
{"Action":"fail","Package":"m/b","Test":"TestY","Elapsed":0}
{"Action":"pass","Package":"m/a"}
{"Action":"fail","Package":"m/b"}
{"ImportPath":"m/c","Action":"build-output","Output":"c.go:1: syntax error\n"}
{"Action":"fail","Package":"m/c","FailedBuild":"m/c"}
"#;
    assert_eq!(
        whole(Format::GoJson, text.as_bytes()),
        [
            "passed m/a|TestX",
            "failed m/b|TestY: y_test.go:3: boom",
            "collect m/c"
        ]
    );
    let cut: Vec<&str> = text.lines().take(7).collect();
    assert!(
        rows(Format::GoJson, cut.join("\n").as_bytes())
            .1
            .unwrap_err()
            .contains("m/a, m/b")
    );
}

#[test]
fn ctrf_with_retries_and_qaas_own_events() {
    let text = br#"{"results": {"tool": {"name": "x"}, "summary": {}, "tests": [
        {"name": "a", "status": "passed", "duration": 1500, "filePath": "t/a.js", "suite": "m > n", "retries": 1, "flaky": true},
        {"name": "b", "status": "failed", "duration": 1, "message": "boom", "trace": "at x"},
        {"name": "c", "status": "pending", "duration": 0}, {"name": "d", "status": "other", "duration": 0}]}}"#;
    assert_eq!(
        whole(Format::Ctrf, text),
        [
            "passed t/a.js|m::n|a x2",
            "failed b: boom",
            "skipped c",
            "error d"
        ]
    );
    let text = b"{\"event\": \"finished\", \"nodeid\": \"a\", \"outcome\": \"passed\"}\nnoise\n{\"event\": \"ended\"}\n";
    let mut said = Vec::new();
    assert_eq!(Format::Events.read_whole(text, &mut said), Ok(()));
    assert!(matches!(&said[0], ReportItem::Exact(TestEvent::Finished(row)) if row.nodeid == "a"));
    assert!(matches!(&said[1], ReportItem::Warning(message) if message.contains("line 2")));
    assert!(
        Format::Events
            .read_whole(&text[..70], &mut said)
            .unwrap_err()
            .contains("before its end")
    );
}

/// Wherever a report is cut, the reader says so, and what it hands out before is the beginning of the whole.
#[test]
fn a_cut_report_is_told_from_a_whole_one() {
    for (format, bytes) in RECORDED {
        let all = whole(format, bytes);
        // Between two binaries libtest's text is whole, and only the exit code knows that another was to come.
        let first = String::from_utf8_lossy(bytes).find("\n\nrunning 1 test");
        let bytes = first.map_or(bytes, |first| &bytes[..first - 200]);
        for at in (0..bytes.len() * 9 / 10).step_by(37) {
            // Lines come whole, or not at all.
            let lines = bytes[..at]
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |end| end + 1);
            let at = if format.streams() { lines } else { at };
            let (some, read) = rows(format, &bytes[..at]);
            assert!(read.is_err(), "{format:?} cut at {at}");
            assert!(some.len() <= all.len(), "{format:?} cut at {at}");
        }
    }
}

proptest::proptest! {
    #[test]
    fn of_arbitrary_bytes_no_reader_makes_a_row_that_passed(
        bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        which in 0..RECORDED.len(), at in 0..5000_usize, keep in proptest::bool::ANY,
    ) {
        let (format, recorded) = RECORDED[which];
        let at = at % recorded.len();
        let mut mixed = recorded[..at].to_vec();
        mixed.extend(&bytes);
        if keep {
            mixed.extend(&recorded[at..]);
        }
        for (_, format) in FORMATS {
            let (rows, _) = rows(format, &bytes);
            proptest::prop_assert!(!rows.iter().any(|row| row.starts_with("passed")), "{:?}: {:?}", format, rows);
        }
        // With a report in it, anything may come out; a reader that panics fails this test.
        let _ = rows(format, &mixed);
    }
}

#[test]
fn rows_before_the_cut_of_a_test_binary_are_kept() {
    let text = "running 3 tests\ntest a ... ok\ntest b ... FAILED\n";
    let mut reader = Format::LibtestText.line_reader().unwrap();
    let mut said = Vec::new();
    text.lines().for_each(|line| reader.line(line, &mut said));
    assert!(reader.end(&mut said).is_err());
    assert_eq!(said.len(), 2, "{said:?}");
}

/// What standard output and standard error say together, the latter last: as late as it can be.
fn beside(format: Format, out: &str, err: &str) -> (Vec<ReportItem>, Result<(), String>) {
    let mut reader = format.line_reader().unwrap();
    let mut said = Vec::new();
    out.lines().for_each(|line| reader.line(line, &mut said));
    err.lines().for_each(|line| reader.aside(line, &mut said));
    reader.exited(Some(100));
    let read = reader.end(&mut said);
    (said, read)
}

fn row_of<'a>(said: &'a [ReportItem], id: &str) -> &'a TestResult {
    let found = said.iter().find_map(|one| match one {
        ReportItem::Finished(fields, row) if format!("{}${}", fields.suite, fields.name) == id => Some(row),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no row of {id}: {said:#?}"))
}

#[test]
fn each_test_of_cargo_test_is_in_its_binary_and_what_tests_print_is_no_row() {
    let (said, read) = beside(
        Format::LibtestText,
        include_str!("../../fixtures/cargo-test-units.txt"),
        include_str!("../../fixtures/cargo-test-units.err"),
    );
    let rows: Vec<String> = said.iter().filter_map(shown).collect();
    assert_eq!(
        rows,
        [
            "skipped b|m::ign: why",
            "failed b|m::prints: test fake ... ok",
            "passed b|m::quick",
            "passed b|m::sp",
            "skipped pkg-a|m::ign: why",
            "failed pkg-a|m::prints: test fake ... ok",
            "passed pkg-a|m::quick",
            "passed pkg-a|m::sp",
            "passed pkg-a::it|it",
            "skipped b/src/lib.rs - bad (line 14)",
            "passed b/src/lib.rs - bad (line 11)",
            "passed b/src/lib.rs - bad (line 8)",
            "passed b/src/lib.rs - ok (line 1)",
            "failed b/src/lib.rs - bad (line 5): Test executable failed (exit status: 101).",
            "failed b/src/lib.rs - bad (line 20): error: expected one of `!` or `::`, found `not`",
            "passed b/src/lib.rs - bad (line 17)",
            "skipped a/src/lib.rs - bad (line 14)",
            "passed a/src/lib.rs - bad (line 17)",
            "failed a/src/lib.rs - bad (line 20): error: expected one of `!` or `::`, found `not`",
            "passed a/src/lib.rs - bad (line 11)",
            "passed a/src/lib.rs - bad (line 8)",
            "failed a/src/lib.rs - bad (line 5): Test executable failed (exit status: 101).",
            "passed a/src/lib.rs - ok (line 1)",
            "collect b::it",
            "failed pkg-a::own: exit status: 3",
        ]
    );
    assert_eq!(
        row_of(&said, "b$m::prints").failures[0].summary.as_deref(),
        Some("p")
    );
    let why = read.unwrap_err();
    assert!(why.contains("end of b::it: 0 of its 1 tests"), "{why}");
}

#[test]
fn tries_of_nextest_are_one_row_with_the_reason_of_silent_ends() {
    let (said, read) = beside(
        Format::LibtestJson,
        include_str!("../../fixtures/nextest-retries.jsonl"),
        include_str!("../../fixtures/nextest-retries.err"),
    );
    assert_eq!(read, Ok(()));
    for (id, outcome, attempt, message) in [
        ("shop-x$m::res", Outcome::Failed, 3, "Error: \"bad res\""),
        (
            "shop-x$m::sig",
            Outcome::Failed,
            3,
            "test aborted with signal 11: SIGSEGV",
        ),
        ("shop-x$m::hangs", Outcome::Failed, 3, "time limit exceeded"),
        (
            "shop-x::bin/shop-x$quick",
            Outcome::Failed,
            3,
            "panicked at src/main.rs",
        ),
        ("shop-x::bin/other$quick", Outcome::Passed, 1, ""),
        ("shop-x::t$t", Outcome::Passed, 1, ""),
        ("shop-x$m::ign", Outcome::Skipped, 1, ""),
    ] {
        let row = row_of(&said, id);
        assert_eq!((row.outcome, row.attempt), (outcome, attempt), "{id}");
        let text = row.message.as_deref().unwrap_or_default();
        assert!(text.contains(message), "{id}: {text}");
    }
    let tries = said
        .iter()
        .filter(|one| matches!(one, ReportItem::Reran(..)))
        .count();
    assert_eq!(tries, 4 * 2);
}

#[test]
fn a_test_that_nextest_ended_because_it_was_stopped_has_no_result() {
    let (said, read) = beside(
        Format::LibtestJson,
        include_str!("../../fixtures/nextest-stopped.jsonl"),
        include_str!("../../fixtures/nextest-stopped.err"),
    );
    assert_eq!(read, Ok(()));
    let rows: Vec<String> = said.iter().filter_map(shown).collect();
    assert!(!rows.iter().any(|row| row.contains("m::hangs")), "{rows:#?}");
    assert!(
        rows.contains(&"failed shop-x|m::sig: test aborted with signal 11: SIGSEGV".to_owned()),
        "{rows:#?}"
    );
}

#[test]
fn a_stress_run_has_one_row_for_each_test() {
    let (said, read) = beside(
        Format::LibtestJson,
        include_str!("../../fixtures/nextest-stress.jsonl"),
        "",
    );
    assert_eq!(read, Ok(()));
    let mut rows: Vec<String> = said.iter().filter_map(shown).collect();
    rows.sort();
    assert_eq!(
        rows,
        [
            "failed shop-x|m::res: Error: \"bad res\"",
            "failed shop-x|m::sig",
            "passed shop-x|m::ex",
            "passed shop-x|m::hangs",
            "passed shop-x|m::quick",
            "passed shop-x|m::sp",
            "skipped shop-x|m::ign",
            "skipped shop-x|m::ign2",
        ]
    );
    assert_eq!(row_of(&said, "shop-x$m::quick").attempt, 2);
}

#[test]
fn a_library_and_a_program_of_one_name_keep_their_tests() {
    let suite = |event: &str, kind: &str| {
        format!(
            r#"{{"type":"suite","event":"{event}","nextest":{{"crate":"shop","test_binary":"shop","kind":"{kind}"}}}}"#
        )
    };
    let test = |event: &str, time: &str| {
        format!(
            r#"{{"type":"test","event":"{event}","name":"shop::shop$m::same","exec_time":{time},"stdout":"panicked at x\nbad"}}"#
        )
    };
    let out = [
        suite("started", "bin"),
        test("started", "0.0"),
        suite("started", "lib"),
        test("started", "0.0"),
        test("ok", "0.050373"),
        suite("ok", "lib"),
        test("failed", "0.380317"),
        suite("failed", "bin"),
    ];
    let err = "  PASS [   0.050s] (1/2) shop m::same\n  FAIL [   0.380s] (2/2) shop::bin/shop m::same\n";
    let (said, read) = beside(Format::LibtestJson, &out.join("\n"), err);
    assert_eq!(read, Ok(()));
    assert_eq!(row_of(&said, "shop$m::same").outcome, Outcome::Passed);
    assert_eq!(row_of(&said, "shop::bin/shop$m::same").outcome, Outcome::Failed);
}

#[test]
fn a_summary_of_nextest_that_counts_other_tests_is_told() {
    let out = r#"{"type":"suite","event":"started"}
{"type":"test","event":"started","name":"a::a$x"}
{"type":"test","event":"ok","name":"a::a$x"}
{"type":"suite","event":"ok"}"#;
    let (_, read) = beside(
        Format::LibtestJson,
        out,
        "     Summary [   0.1s] 2 tests run: 2 passed, 0 skipped",
    );
    assert!(read.unwrap_err().contains("summary of 2"));
}

#[test]
fn a_go_package_that_does_not_build_is_an_error_row_with_the_compilers_text() {
    // As go 1.19 to 1.23 have it: in plain words, the reason on standard error.
    let plain = "FAIL\texample.com/b [build failed]
{\"Action\":\"run\",\"Package\":\"example.com/a\",\"Test\":\"TestOne\"}
{\"Action\":\"pass\",\"Package\":\"example.com/a\",\"Test\":\"TestOne\"}
{\"Action\":\"pass\",\"Package\":\"example.com/a\"}
";
    let compiler = "# example.com/b [example.com/b.test]\nb/b_test.go:4:2: undefined: foo\n";
    // And go 1.24: in JSON.
    let told = "{\"ImportPath\":\"example.com/b [example.com/b.test]\",\"Action\":\"build-output\",\"Output\":\"b/b_test.go:4:2: undefined: foo\\n\"}
{\"Action\":\"start\",\"Package\":\"example.com/b\"}
{\"Action\":\"fail\",\"Package\":\"example.com/b\",\"FailedBuild\":\"example.com/b [example.com/b.test]\"}
";
    for (out, err) in [(plain, compiler), (told, "")] {
        let (said, read) = beside(Format::GoJson, out, err);
        assert_eq!(read, Ok(()));
        let errors: Vec<_> = said
            .iter()
            .filter_map(|one| match one {
                ReportItem::Exact(TestEvent::CollectFailed(error)) => {
                    Some((error.nodeid.as_str(), error.message.as_str()))
                }
                _ => None,
            })
            .collect();
        assert_eq!(
            errors,
            [("example.com/b", "b/b_test.go:4:2: undefined: foo")],
            "{said:#?}"
        );
    }
}
