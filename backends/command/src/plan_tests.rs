use std::path::PathBuf;

use runner_core::backend::TestBackend;
use serde_json::{Value, json};

use super::*;
use crate::Command;

fn backend(table: &Value) -> Command {
    Command::from_table("own", table.as_object().unwrap()).unwrap()
}

fn node(path: &str, rest: &str) -> Selector {
    Selector::Node {
        path: path.to_owned(),
        rest: rest.to_owned(),
    }
}

fn request(selectors: Vec<Selector>) -> RunRequest {
    let mut request = RunRequest::new(Mode::Run, "/repo", "/scratch");
    request.selection.selectors = selectors;
    request
}

fn project() -> Project {
    Project {
        root: "/repo".into(),
        dir: "/repo".into(),
        ..Project::default()
    }
}

fn argv(table: &Value, request: &RunRequest) -> Vec<String> {
    let plan = backend(table).plan(request, &project()).unwrap();
    assert_eq!(plan.steps.len(), 1);
    plan.steps[0].argv()
}

fn refusal(table: &Value, request: &RunRequest) -> String {
    backend(table).plan(request, &project()).unwrap_err().message
}

const PATTERN: &str =
    r#"["tool", ["-t", "{regex_of_ids}"], ["-k", "{keyword}"], ["-x", "{max_failures}"], "{files...}"]"#;

fn by_pattern() -> Value {
    let run: Value = serde_json::from_str(PATTERN).unwrap();
    json!({"run": run, "report": {"format": "tap"}, "separator": " "})
}

#[test]
fn groups_are_there_only_with_their_values() {
    let table = by_pattern();
    assert_eq!(argv(&table, &request(vec![])), ["tool"]);
    let mut asked = request(vec![]);
    asked.filters.keyword = Some("adds".into());
    asked.filters.max_failures = Some(1);
    assert_eq!(argv(&table, &asked), ["tool", "-k", "adds", "-x", "1"]);
}

#[test]
fn a_placeholder_may_have_a_value_of_its_own_for_when_nobody_asked() {
    let table = json!({"run": ["tool", "--max={max_failures|all}"], "report": {"format": "tap"}});
    let mut asked = request(vec![]);
    assert_eq!(argv(&table, &asked), ["tool", "--max=all"]);
    asked.filters.max_failures = Some(2);
    assert_eq!(argv(&table, &asked), ["tool", "--max=2"]);
}

#[test]
fn ids_become_files_and_one_quoted_anchored_pattern() {
    let asked = request(vec![node("a.js", "::m::adds (1|2)"), node("a.js", "::top [x]")]);
    let pattern = r"^(?:m(?:::| )adds \(1\|2\)|top \[x\])$";
    assert_eq!(argv(&by_pattern(), &asked), ["tool", "-t", pattern, "a.js"]);
    // A pattern for one test would leave out all of the other file's.
    let mixed = request(vec![node("a.js", "::x"), Selector::Path { path: "b.js".into() }]);
    assert_eq!(argv(&by_pattern(), &mixed), ["tool", "a.js", "b.js"]);
}

#[test]
fn ids_are_words_of_their_own_whatever_is_in_them() {
    let table = json!({"run": ["tool", "{ids...}"], "report": {"format": "tap"}});
    let odd = "::a b 'c' \"d\" $(e) `f` ; g";
    assert_eq!(
        argv(&table, &request(vec![node("t.rb", odd)])),
        ["tool".to_owned(), format!("t.rb{odd}")]
    );
}

#[test]
fn an_option_is_repeated_for_each_selected_id() {
    let table = |group: &[&str]| json!({"run": ["tool", group, "{args...}"], "report": {"format": "tap"}});
    let both = request(vec![node("a.rb", "::S::x"), node("a.rb", "::-y")]);
    assert_eq!(
        argv(&table(&["--test={id}"]), &both),
        ["tool", "--test=a.rb::S::x", "--test=a.rb::-y"]
    );
    assert_eq!(
        argv(&table(&["-f", "{file}", "--name={name}"]), &both),
        ["tool", "-f", "a.rb", "--name=S::x", "-f", "a.rb", "--name=-y"]
    );
    assert_eq!(argv(&table(&["-f", "{file}"]), &both), ["tool", "-f", "a.rb"]);
    // Nothing selected: nothing to repeat it for.
    assert_eq!(argv(&table(&["-t", "{id}"]), &request(vec![])), ["tool"]);
    // A second test of one name has a number that the framework does not know.
    let second = request(vec![node("a.rb", "::x[2]")]);
    assert_eq!(
        argv(&table(&["-t", "{name}"]), &second),
        ["tool", "-t", "x[2]", "-t", "x"]
    );
    // One test's name would leave out all of the other file's.
    let mixed = request(vec![node("a.rb", "::x"), Selector::Path { path: "b.rb".into() }]);
    assert_eq!(argv(&table(&["-t", "{name}"]), &mixed), ["tool"]);
    assert_eq!(
        argv(&table(&["-t", "{id}"]), &mixed),
        ["tool", "-t", "a.rb::x", "-t", "b.rb"]
    );
    // Taken for an option, if it stood alone.
    assert!(refusal(&table(&["-t", "{name}"]), &both).contains("`-y`"));
}

#[test]
fn an_option_for_each_of_many_ids_makes_several_steps() {
    let table = json!({"run": ["tool", ["-t", "{id}"]], "report": {"format": "tap"}});
    let many: Vec<Selector> = (0..20_000)
        .map(|n| node("a.rb", &format!("::test_{n}")))
        .collect();
    let plan = backend(&table).plan(&request(many), &project()).unwrap();
    assert!(plan.steps.len() > 1);
    let told: usize = plan.steps.iter().map(|step| step.args.len()).sum();
    assert_eq!(told, 40_000);
    assert!(plan.steps.iter().all(|step| step.args.len() % 2 == 0));
}

#[test]
fn one_test_has_a_command_of_its_own_where_the_table_gives_one() {
    let table = json!({
        "run": ["tool", "{files...}"], "single": ["tool", "{file}", "--name={name}", "{id}"],
        "report": {"format": "tap"},
    });
    let one = request(vec![node("a.rb", "::Sums::adds")]);
    assert_eq!(
        argv(&table, &one),
        ["tool", "a.rb", "--name=Sums::adds", "a.rb::Sums::adds"]
    );
    let two = request(vec![node("a.rb", "::x"), node("a.rb", "::y")]);
    assert_eq!(argv(&table, &two), ["tool", "a.rb"]);
}

#[test]
fn names_without_a_file_are_taken_apart_by_the_template() {
    let table = json!({
        "run": ["tool", ["--exact", "{names...}"]], "report": {"format": "libtest-json"}, "id": "{suite}${name}",
    });
    let asked = request(vec![node("", "demo::demo$tests::adds")]);
    assert_eq!(argv(&table, &asked), ["tool", "--exact", "tests::adds"]);
}

#[test]
fn what_the_command_has_no_place_for_is_refused_before_anything_starts() {
    let table = json!({"run": ["tool"], "report": {"format": "tap"}});
    let mut asked = request(vec![]);
    asked.filters.keyword = Some("x".into());
    assert!(refusal(&table, &asked).contains("keyword"));
    let mut asked = request(vec![]);
    asked.filters.max_failures = Some(1);
    assert!(refusal(&table, &asked).contains("failures"));
    assert!(refusal(&table, &request(vec![node("a", "::b")])).contains("all tests or none"));
    let mut asked = request(vec![node("a.js", "::b")]);
    asked.filters.keyword = Some("x".into());
    assert!(refusal(&by_pattern(), &asked).contains("not both"));
    let mut list = request(vec![]);
    list.mode = Mode::List;
    assert!(refusal(&table, &list).contains("cannot do `list`"));
}

#[test]
fn a_selected_name_never_becomes_an_option() {
    let table = json!({"run": ["tool", "{names...}"], "report": {"format": "tap"}});
    assert!(refusal(&table, &request(vec![node("a", "::--version")])).contains("option"));
    let joined = json!({"run": ["tool", "{ids...}"], "single": ["tool", "--name={name}"], "report": {"format": "tap"}});
    assert_eq!(
        argv(&joined, &request(vec![node("a", "::--version")])),
        ["tool", "--name=--version"]
    );
}

#[test]
fn selections_too_long_for_a_command_line_become_steps_or_a_file() {
    let many: Vec<Selector> = (0..20_000)
        .map(|n| node("tests/a.rb", &format!("::test {n}")))
        .collect();
    let table = json!({"run": ["tool", "{report}", "{ids...}"], "report": {"format": "junit"}});
    let plan = backend(&table).plan(&request(many.clone()), &project()).unwrap();
    let ids: usize = plan.steps.iter().map(|step| step.args.len() - 1).sum();
    assert_eq!(ids, 20_000);
    assert!(plan.steps.len() > 1 && plan.artifacts.len() == plan.steps.len());
    assert!(plan.steps.iter().all(|step| step.args.concat().len() < 120_000));

    let table = json!({"run": ["tool", ["--from", "{ids_file}"]], "report": {"format": "tap"}});
    let plan = backend(&table).plan(&request(many), &project()).unwrap();
    assert_eq!(plan.steps[0].args, ["--from", "/scratch/selected.txt"]);
    assert_eq!(plan.files[0].contents.lines().count(), 20_000);
}

#[test]
fn reports_and_programs_have_their_places() {
    let table = json!({
        "run": ["./gradlew", "test"], "report": {"format": "junit", "path": "build/report.xml"}, "cwd": "app",
        "env": {"OUT": "{scratch}/x"},
    });
    let plan = backend(&table).plan(&request(vec![]), &project()).unwrap();
    assert_eq!(plan.steps[0].program, PathBuf::from("/repo/app/./gradlew"));
    assert_eq!(plan.steps[0].cwd, PathBuf::from("/repo/app"));
    assert_eq!(
        plan.artifacts[0].path,
        PathBuf::from("/repo/app/build/report.xml")
    );
    assert_eq!(plan.steps[0].env["OUT"].as_deref(), Some("/scratch/x"));
    let table = json!({"run": ["tool"], "report": {"format": "jest-json", "path": "stdout"}});
    let plan = backend(&table).plan(&request(vec![]), &project()).unwrap();
    assert_eq!(plan.steps[0].stdout, StdoutUse::File("report 1".into()));
}

#[test]
fn words_for_the_framework_go_where_the_table_wants_them_else_to_the_end() {
    let mut asked = request(vec![]);
    asked.filters.extra_args = vec!["--seed".into(), "1".into()];
    asked.options.insert("args".into(), json!(["-v"]));
    let table = json!({"run": ["tool", "{args...}", "last"], "report": {"format": "tap"}});
    assert_eq!(argv(&table, &asked), ["tool", "-v", "--seed", "1", "last"]);
    let table = json!({"run": ["tool", "last"], "report": {"format": "tap"}});
    assert_eq!(argv(&table, &asked), ["tool", "last", "-v", "--seed", "1"]);
}

#[test]
fn measuring_adds_its_words_to_the_backends_own_runs_only() {
    let table = json!({
        "run": ["tool", "{args...}", "{files...}"], "report": {"format": "tap"},
        "coverage": {"format": "lcov", "args": ["--coverage={coverage}"]},
    });
    let (backend, request, project) = (backend(&table), request(vec![]), project());
    let inner = backend.plan(&request, &project).unwrap();
    assert_eq!(inner.steps[0].args, [""; 0]);
    let plan = backend.wrap(&request, &project, inner).unwrap();
    assert_eq!(plan.steps[0].args, ["--coverage=/scratch/coverage.out"]);
    assert_eq!(plan.artifacts[0].path, PathBuf::from("/scratch/coverage.out"));
    let mut other = Plan::default();
    other.steps.push(Step {
        name: "other".into(),
        ..Step::default()
    });
    assert!(
        backend
            .wrap(&request, &project, other)
            .unwrap_err()
            .message
            .contains("its own runs")
    );
}

#[test]
fn a_python_program_stands_where_a_coverage_backend_finds_it() {
    let mut project = project();
    project.interpreter = Some(runner_core::facts::Interpreter {
        path: "/venv/bin/python".into(),
        ..runner_core::facts::Interpreter::default()
    });
    for (words, launcher) in [
        (json!(["{python}", "-m", "tool", "x"]), vec!["-m", "tool"]),
        (
            json!(["{python}", "{scratch}/run.py", "x"]),
            vec!["/scratch/run.py"],
        ),
        (json!(["{python}", "-c", "x"]), vec![]),
    ] {
        let table = json!({"run": words, "report": {"format": "tap"}});
        let step = backend(&table)
            .plan(&request(vec![]), &project)
            .unwrap()
            .steps
            .remove(0);
        assert_eq!(step.launcher, launcher);
        assert_eq!(step.args.last().unwrap(), "x");
    }
}

#[test]
fn a_numbered_namesake_is_asked_for_by_its_name_too() {
    let table = json!({"run": ["tool", ["--exact", "{names...}"]], "report": {"format": "tap"}});
    let asked = request(vec![node("a", "::adds[2]")]);
    assert_eq!(argv(&table, &asked), ["tool", "--exact", "adds[2]", "adds"]);
    let asked = request(vec![node("a", "::adds[x]")]);
    assert_eq!(argv(&table, &asked), ["tool", "--exact", "adds[x]"]);
}
