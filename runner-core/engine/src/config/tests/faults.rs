use super::*;

fn bad(text: &str) -> ConfigError {
    let error = parse(Path::new("qaas.toml"), text).unwrap_err();
    assert!(
        error.hint.as_ref().is_some_and(|hint| !hint.is_empty()),
        "{error}: no hint"
    );
    assert!(
        error.line.is_some() && error.column.is_some(),
        "{error}: no place"
    );
    error
}

/// Place, key, and a part of message and hint of the error that `text` gives.
#[track_caller]
fn check_bad(text: &str, place: (u32, u32), key: &str, message: &str, hint: &str) {
    let error = bad(text);
    let found = (error.line.unwrap(), error.column.unwrap());
    assert_eq!((found, error.key.as_deref()), (place, Some(key)), "{error}");
    assert!(error.message.contains(message), "{:?}", error.message);
    assert!(error.hint.as_ref().unwrap().contains(hint), "{:?}", error.hint);
}

#[test]
fn an_unknown_key_is_named_with_its_place_and_the_nearest_right_one() {
    check_bad("[suites.unit]", (1, 2), "suites", "no key `suites`", "`suite`");
    check_bad(
        "[suite.unit]\n  tiemout = 3",
        (2, 3),
        "suite.unit.tiemout",
        "no key `tiemout`",
        "`timeout`",
    );
    check_bad(
        "[suite.unit]\nlimits = { mem = 3 }",
        (2, 12),
        "suite.unit.limits.mem",
        "no key `mem`",
        "memory",
    );
    check_bad(
        "[mcp]\ncolour = 1",
        (2, 1),
        "mcp.colour",
        "no key `colour`",
        "tools, max_bytes",
    );
    check_bad(
        "[suite.\"a.b\"]\nx = 1",
        (2, 1),
        "suite.\"a.b\".x",
        "no key `x`",
        "backend, ",
    );
}

#[test]
fn a_wrong_type_is_named_with_its_place() {
    check_bad(
        "[suite.unit]\ndir = 3",
        (2, 7),
        "suite.unit.dir",
        "a string, not a whole number",
        "quotes",
    );
    check_bad(
        "[suite.unit]\npaths = \"tests\"",
        (2, 9),
        "suite.unit.paths",
        "a list, not a string",
        "brackets",
    );
    check_bad(
        "[suite.unit]\npaths = [\"a\", 1]",
        (2, 15),
        "suite.unit.paths[1]",
        "a string",
        "quotes",
    );
    check_bad(
        "[suite]\nbackend = \"x\"",
        (2, 11),
        "suite.backend",
        "a table",
        "[suite.NAME]",
    );
    check_bad(
        "suite = 1",
        (1, 9),
        "suite",
        "a table, not a whole number",
        "[suite.NAME]",
    );
}

#[test]
fn a_wrong_type_where_several_may_stand_is_named_with_its_place() {
    check_bad(
        "[suite.unit]\nbackend = 1",
        (2, 11),
        "suite.unit.backend",
        "a list of names, not 1",
        "leave",
    );
    check_bad(
        "[suite.unit]\nbackend = [1]",
        (2, 12),
        "suite.unit.backend[0]",
        "a string",
        "quotes",
    );
    check_bad(
        "[suite.unit]\ncoverage = true",
        (2, 12),
        "suite.unit.coverage",
        "`false`, not true",
        "leave",
    );
    check_bad(
        "[suite.unit]\ntimeout = true",
        (2, 11),
        "suite.unit.timeout",
        "not true",
        "5m",
    );
    check_bad(
        "[suite.unit]\noptions = { a = 1979-05-27 }",
        (2, 17),
        "suite.unit.options.a",
        "a date",
        "quotes",
    );
    check_bad(
        "[suite.unit]\noptions = { a = nan }",
        (2, 17),
        "suite.unit.options.a",
        "finite",
        "",
    );
    check_bad("[env.set]\nA = 1", (2, 5), "env.set.A", "a string", "quotes");
    check_bad(
        "[suite.unit.limits]\nprocesses = -1",
        (2, 13),
        "suite.unit.limits.processes",
        "not negative",
        "",
    );
    check_bad(
        "[mcp]\nmax_bytes = 99999999999999999999",
        (2, 13),
        "mcp.max_bytes",
        "too large",
        "",
    );
}

#[test]
fn a_bad_value_is_named_with_its_place() {
    let cases = [
        ("timeout = \"5 minutes\"", "timeout", "not a duration", "\"5m\""),
        ("timeout = 0", "timeout", "zero", "5m"),
        ("timeout = -5", "timeout", "negative", "5m"),
        ("timeout = \"-5s\"", "timeout", "not a duration", "5m"),
        ("timeout = 1e300", "timeout", "too long", "5m"),
        ("timeout = \"90d\"", "timeout", "longer than 7 days", "7 days"),
        ("grace = \"2m\"", "grace", "longer than one minute", "one minute"),
        ("max_timeout = \"0s\"", "max_timeout", "zero", "5m"),
        ("backend = []", "backend", "empty list", "backend list"),
        ("backend = \"\"", "backend", "empty", "backend list"),
        ("coverage = \" \"", "coverage", "empty", "false"),
        ("dir = \"../x\"", "dir", "out of the repository", "without `..`"),
        (
            "dir = \"a/../..\"",
            "dir",
            "out of the repository",
            "without `..`",
        ),
        ("dir = \"/etc\"", "dir", "absolute", "relative"),
        ("dir = \"\"", "dir", "empty", "`.`"),
        ("dir = \"~/x\"", "dir", "not a plain path", "relative"),
        ("dir = \"a\\u0000b\"", "dir", "control", "relative"),
        ("paths = []", "paths", "empty", "leave the key out"),
        ("options = 3", "options", "a table", "[suite.NAME]"),
    ];
    for (line, key, message, hint) in cases {
        let column = line.find("= ").unwrap() as u32 + 3;
        check_bad(
            &format!("[suite.unit]\n{line}"),
            (2, column),
            &format!("suite.unit.{key}"),
            message,
            hint,
        );
    }
}

#[test]
fn a_bad_item_of_a_list_is_named_with_its_own_place() {
    check_bad(
        "[suite.u]\nbackend = [\"a\", \"a\"]",
        (2, 17),
        "suite.u.backend[1]",
        "second time",
        "once",
    );
    check_bad(
        "[suite.u]\npaths = [\"a\", \"-x\"]",
        (2, 15),
        "suite.u.paths[1]",
        "option",
        "./",
    );
    check_bad(
        "[suite.u]\npaths = [\"@f\"]",
        (2, 10),
        "suite.u.paths[0]",
        "option",
        "./",
    );
    check_bad(
        "[suite.u]\npaths = [\"../x\"]",
        (2, 10),
        "suite.u.paths[0]",
        "out of",
        "`dir`",
    );
    check_bad(
        "[env]\npass = [\"A=1\"]",
        (2, 9),
        "env.pass[0]",
        "not the name of a variable",
        "full name",
    );
    check_bad(
        "[env]\npass = [\"AWS_*\"]",
        (2, 9),
        "env.pass[0]",
        "not the name of a variable",
        "patterns",
    );
    check_bad(
        "[env]\npass = [\"A\"]\nset = { A = \"1\" }",
        (2, 9),
        "env.pass[0]",
        "env.set",
        "either",
    );
    check_bad(
        "[env.set]\n\"A B\" = \"1\"",
        (2, 9),
        "env.set.\"A B\"",
        "not the name",
        "letters",
    );
    check_bad(
        "[mcp]\ntools = [\"a\", \"a\"]",
        (2, 15),
        "mcp.tools[1]",
        "second time",
        "once",
    );
    check_bad("[mcp]\ntools = []", (2, 9), "mcp.tools", "empty list", "leave");
    check_bad(
        "[mcp]\nmax_bytes = 5",
        (2, 13),
        "mcp.max_bytes",
        "not between",
        "20000",
    );
}

#[test]
fn a_time_limit_above_its_own_cap_is_refused() {
    let text = "[suite.u]\nmax_timeout = \"1m\"\ntimeout = \"2m\"";
    check_bad(
        text,
        (3, 11),
        "suite.u.timeout",
        "longer than `max_timeout`",
        "raise",
    );
}

#[test]
fn names_that_would_not_be_safe_as_words_are_refused() {
    check_bad(
        "[suite.\"my suite\"]",
        (1, 8),
        "suite.\"my suite\"",
        "cannot be the name",
        "letters",
    );
    check_bad("[suite.-x]", (1, 8), "suite.-x", "cannot be the name", "letters");
    check_bad(
        "[suite.\"../x\"]",
        (1, 8),
        "suite.\"../x\"",
        "cannot be the name",
        "letters",
    );
    check_bad(
        "[backend.\"\"]\nkind = \"command\"",
        (1, 10),
        "backend.\"\"",
        "cannot be the name",
        "letters",
    );
    let long = "x".repeat(65);
    check_bad(
        &format!("[suite.{long}]"),
        (1, 8),
        &format!("suite.{long}"),
        "cannot",
        "64",
    );
}

#[test]
fn a_backend_table_without_its_kind_is_refused() {
    check_bad(
        "\n[backend.x]\nrun = []",
        (2, 10),
        "backend.x",
        "`kind` is missing",
        "kind = \"command\"",
    );
    check_bad(
        "[backend.x]\nkind = 3",
        (2, 8),
        "backend.x.kind",
        "must be the name",
        "command",
    );
}

#[test]
fn text_that_is_no_toml_is_reported_where_it_breaks() {
    let broken = bad("[suite.unit]\nbackend = pytest-json\n");
    assert_eq!(broken.line, Some(2), "{broken}");
    let twice = bad("[suite.unit]\n[suite.unit]\n");
    assert_eq!(twice.line, Some(2), "{twice}");
    assert!(twice.hint.unwrap().contains("twice"));
    let twice = bad("[suite.unit]\ndir = \"a\"\ndir = \"b\"\n");
    assert_eq!(twice.line, Some(3), "{twice}");
    let unclosed = bad("[suite.unit\n");
    assert_eq!(unclosed.line, Some(1), "{unclosed}");
    let marks = bad("# é ü\nö = ü");
    assert_eq!(marks.line, Some(2), "{marks}");
}

#[test]
fn columns_count_characters_and_lines_survive_windows_line_ends() {
    let text = "[suite.u]\r\noptions = { \"é\" = \"ü\", x = nan }\r\n";
    check_bad(text, (2, 28), "suite.u.options.x", "finite", "");
}

#[test]
fn depth_without_end_is_refused() {
    for (open, close) in [("options = ", "["), ("options = ", "{ a = "), ("options", ".a")] {
        let text = format!("[suite.u]\n{open}{}", close.repeat(40_000));
        parse(Path::new("qaas.toml"), &text).unwrap_err();
    }
    for text in [
        format!("{} = 1", vec!["a"; 60_000].join(".")),
        format!("[{}]", vec!["a"; 60_000].join(".")),
    ] {
        parse(Path::new("qaas.toml"), &text).unwrap_err();
    }
}

#[test]
fn an_error_reads_as_file_place_key_reason() {
    let error = bad("[suite.unit]\ntiemout = 3");
    assert_eq!(
        error.to_string(),
        "qaas.toml:2:1: suite.unit.tiemout: there is no key `tiemout` here"
    );
}
