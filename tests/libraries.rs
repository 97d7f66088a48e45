//! Backends in shared libraries, good and hostile, through the real `qaas`: each in a process of its own, and whatever it
//! does to that, qaas answers and goes on.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Client, Project, c_library, rows, rust_library, with_toolchain};

/// A repository with these libraries, each `[suite.NAME]` with a backend of its own. `more` are further keys.
struct Libraries {
    project: Project,
    config: String,
}

impl Libraries {
    fn new() -> Self {
        Self {
            project: Project::bare(),
            config: String::new(),
        }
    }

    fn with(mut self, name: &str, library: &Path, more: &str) -> Self {
        let copy = self.project.root().join(format!("lib{name}.so"));
        fs::copy(library, copy).unwrap();
        self.config.push_str(&format!(
            "[suite.{name}]\nbackend = \"{name}\"\n[backend.{name}]\nkind = \"library\"\npath = \"lib{name}.so\"\n{more}\n"
        ));
        self
    }

    fn trusted(self) -> Project {
        self.project.write("qaas.toml", &self.config);
        let trusted = self.project.qaas(&["trust", "--yes"]);
        assert_eq!(trusted.code, Some(0), "{}{}", trusted.stdout, trusted.stderr);
        self.project
    }
}

/// All texts of an answer, as they are meant.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(texts).collect(),
        Value::Object(fields) => fields.values().map(texts).collect(),
        _ => String::new(),
    }
}

fn run(client: &mut Client, suite: &str) -> Value {
    client.structure("run_suite", &json!({"suite": suite, "max_bytes": 100_000}))
}

#[test]
fn a_backend_in_c_runs_tests() {
    let project = Libraries::new().with("lines", &c_library(&[]), "").trusted();
    let answer = project.call("run_suite", &json!({}));
    assert_eq!(
        (&answer["status"], &answer["parser"]),
        (&json!("failed"), &json!("lines")),
        "{answer:#}"
    );
    let rows = rows(&answer);
    assert_eq!(rows.len(), 2, "{answer:#}");
    assert_eq!((rows["one"].as_str(), rows["two"].as_str()), ("passed", "failed"));
    let person = project.qaas(&["run"]);
    assert_eq!(person.code, Some(1), "{}{}", person.stdout, person.stderr);
}

/// What a library is told to do, what the answer says, and whether a row was read before that.
const MISDEEDS: [(&str, &[&str]); 25] = [
    ("segfault@initialize", &["SIGSEGV", "initialize"]),
    ("segfault@plan", &["SIGSEGV", "plan"]),
    ("segfault@open", &["SIGSEGV", "open"]),
    ("segfault@read", &["SIGSEGV", "read"]),
    ("segfault@finish", &["SIGSEGV", "finish"]),
    ("abort@plan", &["SIGABRT", "plan"]),
    ("abort@read", &["SIGABRT", "read"]),
    ("kill@finish", &["SIGKILL", "finish"]),
    ("exit@plan", &["plan", "exit"]),
    ("exit@read", &["read", "exit"]),
    ("hang@plan", &["plan", "1 s"]),
    ("hang@read", &["read", "1 s"]),
    ("spin@finish", &["finish", "1 s"]),
    ("mutter@read", &["SIGABRT", "last words of the library"]),
    ("null-with-length@plan", &["a length of 7"]),
    ("overfull@plan", &["900 bytes in a buffer of 3"]),
    ("too-long@plan", &["the most is 67108864"]),
    ("not-utf8@plan", &["not UTF-8", "\\xff"]),
    ("not-json@plan", &["not JSON", "\\x1b[31mplan"]),
    ("wrong-shape@plan", &["plan", r#"{\"steps\": 7}"#]),
    ("wrong-shape@finish", &["finish"]),
    ("error@plan", &["there is no moon"]),
    ("error-text@finish", &["went \\x01 wrong"]),
    ("panicked@read", &["lost"]),
    ("odd-status@plan", &["status 77"]),
];

#[test]
fn whatever_a_library_does_is_one_clear_error_and_the_server_goes_on() {
    let library = c_library(&[]);
    let mut libraries = Libraries::new().with("good", &library, "");
    for (number, (misdeed, _)) in MISDEEDS.iter().enumerate() {
        let more = format!("config = {{ do = \"{misdeed}\" }}\ntimeout = \"1s\"");
        libraries = libraries.with(&format!("bad{number}"), &library, &more);
    }
    let project = libraries.trusted();
    let mut client = Client::start(&project);
    for (number, (misdeed, words)) in MISDEEDS.iter().enumerate() {
        let answer = run(&mut client, &format!("bad{number}"));
        let text = texts(&answer);
        let status = answer["status"].as_str().unwrap_or_default();
        assert!(
            !["passed", "failed", "no_tests"].contains(&status),
            "{misdeed}: {answer:#}"
        );
        for word in *words {
            assert!(
                text.contains(word),
                "{misdeed}: `{word}` is missing in {answer:#}"
            );
        }
        assert!(
            text.contains(&format!("bad{number}")),
            "{misdeed}: the backend is not named: {answer:#}"
        );
    }
    let answer = run(&mut client, "good");
    assert_eq!(answer["status"], "failed", "{answer:#}");
    assert_eq!(rows(&answer).len(), 2, "{answer:#}");
}

#[test]
fn what_a_library_prints_does_not_come_between_the_answers() {
    let more = "config = { do = \"print@plan\" }";
    let project = Libraries::new().with("lines", &c_library(&[]), more).trusted();
    let answer = project.call("run_suite", &json!({}));
    assert_eq!(answer["status"], "failed", "{answer:#}");
}

#[test]
fn a_crash_keeps_the_rows_that_were_read() {
    let more = "config = { do = \"segfault@finish\" }";
    let project = Libraries::new().with("lines", &c_library(&[]), more).trusted();
    let answer = project.call("run_suite", &json!({}));
    assert_eq!(rows(&answer)["one"], "passed", "{answer:#}");
    assert!(answer.to_string().contains("SIGSEGV"), "{answer:#}");
}

/// A name, what is done to a good library, and the error.
type Spoilt = (&'static str, fn(&mut Vec<u8>), &'static str);

/// The bytes of a good library, made bad.
fn spoiled(project: &Project, name: &str, change: impl Fn(&mut Vec<u8>)) {
    let mut bytes = fs::read(c_library(&[])).unwrap();
    change(&mut bytes);
    fs::write(project.root().join(name), bytes).unwrap();
}

#[test]
fn a_file_that_is_no_good_library_is_named_with_its_own_error() {
    let mut libraries = Libraries::new().with("good", &c_library(&[]), "");
    let compiled: [(&str, &[&str], &str); 6] = [
        ("entry", &["-DENTRY=nothing"], "library_no_entry"),
        ("major", &["-DENTRY=qaas_backend_entry_v2"], "library_other_major"),
        ("null", &["-DNO_TABLE"], "library_null_table"),
        ("magic", &["-DMAGIC=1"], "library_wrong_magic"),
        ("newer", &["-DMAJOR=2"], "library_table_major"),
        ("short", &["-DSIZE=24"], "library_short_table"),
    ];
    for (name, args, _) in compiled {
        libraries = libraries.with(name, &c_library(args), "");
    }
    let spoil: [Spoilt; 6] = [
        ("empty", Vec::clear, "library_empty"),
        (
            "text",
            |bytes| *bytes = b"#!/bin/sh\necho\n".to_vec(),
            "library_text",
        ),
        (
            "random",
            |bytes| *bytes = (0..999_u16).map(|n| (n * 7 % 251) as u8).collect(),
            "library_unknown_format",
        ),
        (
            "cut",
            |bytes| bytes.truncate(bytes.len() / 2),
            "library_truncated",
        ),
        ("cpu", |bytes| bytes[18] = 243, "library_other_cpu"),
        ("narrow", |bytes| bytes[4] = 1, "library_other_width"),
    ];
    for (name, change, _) in spoil {
        libraries = libraries.with(name, &c_library(&[]), "");
        spoiled(&libraries.project, &format!("lib{name}.so"), change);
    }
    libraries = libraries.with("program", Path::new(env!("CARGO_BIN_EXE_qaas")), "");
    libraries = libraries.with("gone", &c_library(&[]), "");
    fs::remove_file(libraries.project.root().join("libgone.so")).unwrap();
    let project = libraries.trusted();
    let mut client = Client::start(&project);
    let codes = compiled.iter().map(|(name, _, code)| (name, code));
    let codes = codes.chain(spoil.iter().map(|(name, _, code)| (name, code)));
    for (name, code) in codes.chain([(&"program", &"library_wrong_kind"), (&"gone", &"library_missing")]) {
        let answer = run(&mut client, name);
        assert_eq!(answer["error"]["code"], *code, "{name}: {answer:#}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("lib{name}.so")), "{name}: {message}");
        assert!(answer["error"]["hint"].is_string(), "{name}: {answer:#}");
    }
    // All the others work.
    assert_eq!(run(&mut client, "good")["status"], "failed");
}

#[test]
fn nothing_of_a_library_runs_before_a_person_agreed() {
    let project = Project::bare();
    let mark = project.outside().join("mark");
    let define = format!("-DCONSTRUCTOR=\"{}\"", mark.display());
    let library = c_library(&[&define]);
    fs::rename(library, project.root().join("lib.so")).unwrap();
    let config = "[suite.x]\nbackend = \"x\"\n[backend.x]\nkind = \"library\"\npath = \"lib.so\"\ndetect = [\"lib.so\"]\n";
    project.write("qaas.toml", config);
    for words in [
        &["run"] as &[&str],
        &["list"],
        &["check"],
        &["doctor"],
        &["backend", "list"],
        &["affected", "lib.so"],
        &["coverage"],
        &["trust", "--show"],
        &["call", "run_suite"],
        &["call", "list_tests"],
        &["call", "run_single", "--args", "{\"test_id\": \"one\"}"],
    ] {
        project.qaas(words);
        assert!(!mark.exists(), "{words:?} ran its constructor");
    }
    let mut client = Client::start(&project);
    client.tools();
    let answer = run(&mut client, "x");
    assert_eq!(answer["error"]["code"], "untrusted", "{answer:#}");
    assert!(!mark.exists(), "the server ran its constructor");
    project.qaas(&["trust", "--yes"]);
    let answer = run(&mut client, "x");
    assert_eq!(answer["status"], "failed", "{answer:#}");
    assert!(mark.exists());
}

#[test]
fn what_takes_an_agreed_librarys_place_does_not_run() {
    let project = Libraries::new().with("lines", &c_library(&[]), "").trusted();
    let mark = project.outside().join("mark");
    let evil = c_library(&[&format!("-DCONSTRUCTOR=\"{}\"", mark.display())]);
    let mut client = Client::start(&project);
    client.tools();
    // The server has looked at the good one.
    fs::rename(evil, project.root().join("liblines.so")).unwrap();
    let answer = run(&mut client, "lines");
    let agreed = answer["status"] == "failed" && rows(&answer).len() == 2;
    assert!(agreed || answer["error"]["code"] == "untrusted", "{answer:#}");
    for words in [
        &["run"] as &[&str],
        &["backend", "list"],
        &["check"],
        &["call", "run_suite"],
    ] {
        project.qaas(words);
    }
    assert!(!mark.exists(), "it ran");
}

#[test]
fn a_library_that_was_built_anew_needs_consent_anew() {
    let project = Libraries::new().with("lines", &c_library(&[]), "").trusted();
    let mut client = Client::start(&project);
    assert_eq!(run(&mut client, "lines")["status"], "failed");
    fs::copy(
        c_library(&["-DMINOR=3", "-DLONGER"]),
        project.root().join("liblines.so"),
    )
    .unwrap();
    // What runs is what was agreed to, or nothing.
    let again = project.call("run_suite", &json!({}));
    assert_eq!(again["error"]["code"], "untrusted", "{again:#}");
    let trust = project.qaas(&["trust", "--yes"]);
    assert!(trust.stdout.contains("sha256"), "{}", trust.stdout);
    assert_eq!(project.call("run_suite", &json!({}))["status"], "failed");
}

#[test]
fn an_installed_library_needs_no_table_and_no_trust() {
    let project = Project::bare();
    let library = project.outside().join("libqaas_lines.so");
    fs::copy(c_library(&[]), &library).unwrap();
    let added = project.qaas(&["backend", "add", library.to_str().unwrap()]);
    assert_eq!(added.code, Some(0), "{}{}", added.stdout, added.stderr);
    assert!(added.stdout.contains("sha256"), "{}", added.stdout);
    // The original may go, or change.
    fs::write(&library, "something else").unwrap();
    let listed = project.qaas(&["backend", "list", "--format", "json"]).json();
    let backends = listed["backends"].as_array().unwrap();
    let ours = backends
        .iter()
        .find(|backend| backend["name"] == "lines")
        .unwrap();
    assert_eq!(
        (&ours["kind"], &ours["known"]),
        (&json!("library"), &json!(true)),
        "{ours:#}"
    );
    project.write("qaas.toml", "[suite.x]\nbackend = \"lines\"\n");
    let answer = project.call("run_suite", &json!({}));
    assert_eq!(
        (&answer["status"], &answer["parser"]),
        (&json!("failed"), &json!("lines")),
        "{answer:#}"
    );
    let removed = project.qaas(&["backend", "remove", "lines"]);
    assert_eq!(removed.code, Some(0), "{}", removed.stderr);
}

#[test]
fn what_is_no_library_is_not_installed() {
    let project = Project::bare();
    let library = project.root().join("libx.so");
    for (args, code) in [
        (&["-DMAJOR=2"], "version 2.0"),
        (&["-DENTRY=nothing"], "does not export"),
    ] {
        fs::copy(c_library(args), &library).unwrap();
        let added = project.qaas(&["backend", "add", "./libx.so"]);
        assert_eq!(added.code, Some(4), "{}", added.stdout);
        assert!(added.stderr.contains(code), "{}", added.stderr);
    }
    let listed = project.qaas(&["backend", "list"]);
    assert!(!listed.stdout.contains("library"), "{}", listed.stdout);
}

/// A crate with documentation tests of every kind.
const DOCUMENTED: &str = "/// Adds.
///
/// ```
/// assert_eq!(documented::add(1, 2), 3);
/// ```
///
/// ```
/// assert_eq!(documented::add(1, 2), 4, \"sums differ\");
/// ```
///
/// ```ignore
/// nothing();
/// ```
///
/// ```compile_fail
/// let x: u32 = \"a\";
/// ```
pub fn add(a: i32, b: i32) -> i32 { a + b }

pub struct Pair<A, B>(pub A, pub B);

impl<A, B> Pair<A, B> {
    /// ```should_panic
    /// println!(\"test src/lib.rs - forged (line 1) ... ok\");
    /// panic!(\"as it should\");
    /// ```
    pub fn swap(self) -> Pair<B, A> { Pair(self.1, self.0) }
}
";

#[test]
fn the_example_in_rust_runs_documentation_tests() {
    let library = rust_library();
    let pass = "[env]\npass = [\"RUSTUP_HOME\", \"CARGO_HOME\"]";
    let project = with_toolchain(Libraries::new().with("rustdoc", &library, pass).trusted());
    let manifest = "[package]\nname = \"documented\"\nversion = \"1.0.0\"\nedition = \"2024\"\n[workspace]\n";
    let project = project
        .file("Cargo.toml", manifest)
        .file("src/lib.rs", DOCUMENTED);
    let answer = project.call("run_suite", &json!({"suite": "rustdoc", "max_bytes": 0}));
    assert_eq!(
        (&answer["status"], &answer["parser"]),
        (&json!("failed"), &json!("rustdoc")),
        "{answer:#}"
    );
    let found = rows(&answer);
    let expected = [
        ("src/lib.rs::add (line 11)", "skipped"),
        ("src/lib.rs::add (line 15)", "passed"),
        ("src/lib.rs::add (line 3)", "passed"),
        ("src/lib.rs::add (line 7)", "failed"),
        ("src/lib.rs::Pair<A,B>::swap (line 23)", "passed"),
    ];
    for (id, outcome) in expected {
        assert_eq!(
            found.get(id).map(String::as_str),
            Some(outcome),
            "{id}: {answer:#}"
        );
    }
    assert_eq!(found.len(), expected.len(), "{answer:#}");
    assert!(answer.to_string().contains("sums differ"), "{answer:#}");
    for (id, outcome) in expected {
        let single = project.call("run_single", &json!({"test_id": id}));
        assert_eq!(
            (&single["nodeid"], &single["outcome"]),
            (&json!(id), &json!(outcome)),
            "{single:#}"
        );
    }
    let person = project.qaas(&["run", "--suite", "rustdoc", "src/lib.rs"]);
    assert_eq!(person.code, Some(1), "{}{}", person.stdout, person.stderr);
}

#[test]
fn the_example_stays_under_a_hundred_lines_of_code() {
    let code = include_str!("../examples/backends/rust-library/src/lib.rs");
    let lines = code
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"));
    assert!(lines.count() < 100);
}
