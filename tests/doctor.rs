//! `qaas doctor`: every check on repositories where it comes out otherwise, and nothing of them executed.

use serde_json::Value;

use crate::support::Project;

struct Report {
    code: Option<i32>,
    answer: Value,
}

impl Report {
    fn of(project: &Project) -> Self {
        let answer = project.qaas(&["doctor", "--json"]);
        Self {
            code: answer.code,
            answer: answer.json(),
        }
    }

    /// The check whose name begins so.
    fn check(&self, name: &str) -> &Value {
        let checks = self.answer["checks"].as_array().unwrap();
        let found = checks
            .iter()
            .find(|check| check["name"].as_str().unwrap().starts_with(name));
        found.unwrap_or_else(|| panic!("no check {name}: {:#}", self.answer))
    }

    fn states(&self, names: &[&str], state: &str) {
        for name in names {
            assert_eq!(self.check(name)["state"], state, "{:#}", self.check(name));
        }
    }

    fn says(&self, name: &str, words: &str) {
        let check = self.check(name);
        assert!(check.to_string().contains(words), "{words} is not in {check:#}");
    }
}

fn project() -> Project {
    Project::new().file("test_a.py", "def test_a(): pass\n")
}

#[test]
fn a_sound_project_fails_nothing() {
    let report = Report::of(&project());
    assert_eq!(report.code, Some(0), "{:#}", report.answer);
    let names = [
        "qaas",
        "root",
        "qaas.toml",
        "trust",
        "python",
        "suite",
        "state folder",
        "supervision",
        "limits",
        "server 2025-11-25",
        "server 2026-07-28",
        "tools",
    ];
    report.states(&names, "ok");
    report.says("packages", "pytest 9.2.0");
    report.says("python", "VIRTUAL_ENV");
    report.says("supervision", "tier: ");
    report.says("server 2025-11-25", "initialize answered");
    report.says("server 2026-07-28", "server/discover answered");
    report.says("tools", "run_suite");
    let fixes = report.answer["checks"].as_array().unwrap();
    for check in fixes
        .iter()
        .filter(|check| ["warn", "fail"].contains(&check["state"].as_str().unwrap()))
    {
        assert!(check["fix"].is_string(), "{check:#}");
    }
}

#[test]
fn people_read_one_line_a_check_and_a_count() {
    let answer = project().qaas(&["doctor"]);
    assert_eq!(answer.code, Some(0), "{}{}", answer.stdout, answer.stderr);
    assert!(
        answer
            .stdout
            .lines()
            .any(|line| line.starts_with("ok") && line.contains("supervision"))
    );
    assert!(
        answer.stdout.trim_end().lines().last().unwrap().contains(" ok"),
        "{}",
        answer.stdout
    );
}

#[test]
fn a_broken_configuration_fails_with_its_line_and_the_server_still_answers() {
    let report = Report::of(&project().file("qaas.toml", "[suite.unit]\ntimeot = \"5m\"\n"));
    assert_eq!(report.code, Some(4));
    report.states(&["qaas.toml"], "fail");
    report.says("qaas.toml", "qaas.toml:2:1");
    report.states(&["trust", "suites", "limits"], "skipped");
    report.states(&["server 2025-11-25", "server 2026-07-28", "tools"], "ok");
}

#[test]
fn an_environment_without_pytest_fails_the_suite_and_says_how_to_mend_it() {
    let project = Project::bare()
        .file("test_a.py", "def test_a(): pass\n")
        .file(".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.7\n");
    std::fs::create_dir_all(project.root().join(".venv/bin")).unwrap();
    std::fs::create_dir_all(project.root().join(".venv/lib/python3.11/site-packages")).unwrap();
    let report = Report::of(&executable(project, ".venv/bin/python"));
    assert_eq!(report.code, Some(2), "{:#}", report.answer);
    report.states(&["suite"], "fail");
    report.says("suite", "pytest");
    assert!(
        report.check("suite")["fix"]
            .as_str()
            .unwrap()
            .contains("pip install pytest")
    );
}

#[test]
fn what_needs_trust_is_told_with_the_command_and_is_no_failure() {
    let config = "[env]\nset = { PYTHONPATH = \"lib\" }\n";
    let report = Report::of(&project().file("qaas.toml", config));
    assert_eq!(report.code, Some(0), "{:#}", report.answer);
    report.states(&["trust"], "warn");
    assert!(
        report.check("trust")["fix"]
            .as_str()
            .unwrap()
            .contains("qaas trust")
    );
}

#[test]
fn a_state_folder_that_cannot_be_used_fails() {
    let project = project();
    let file = project.outside().join("no-folder");
    std::fs::write(&file, "").unwrap();
    let report = Report::of(&project.env("QAAS_STATE_DIR", file.to_str().unwrap()));
    assert_eq!(report.code, Some(2));
    report.states(&["state folder"], "fail");
}

#[test]
fn a_root_that_is_not_there_fails() {
    let answer = project().qaas(&["doctor", "--json", "--root", "gone"]);
    assert_eq!(answer.code, Some(4));
    assert_eq!(answer.json()["checks"][1]["state"], "fail");
}

/// Whatever runs leaves a mark.
#[test]
fn nothing_of_the_repository_is_executed() {
    let project = Project::bare();
    let mark = project.outside().join("mark");
    let python = format!("open({:?}, 'w')\n", mark.to_str().unwrap());
    let shell = format!("#!/bin/sh\necho $0 >> '{}'\n", mark.display());
    let config = "[suite.unit]\nbackend = \"pytest-terminal\"\noptions = { python = \"fake/python\" }\n";
    let mut project = project
        .file("qaas.toml", config)
        .file(".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.7\n")
        .file(
            ".venv/lib/python3.11/site-packages/pytest-9.2.0.dist-info/METADATA",
            "Name: pytest\nVersion: 9.2.0\n",
        );
    for module in [
        "conftest.py",
        "json.py",
        "pytest.py",
        "sitecustomize.py",
        "test_a.py",
        "tests/conftest.py",
    ] {
        project = project.file(module, &python);
    }
    let programs = [
        ".venv/bin/python",
        "fake/python",
        "bin/python3",
        "bin/python",
        "bin/qaas-planted",
        "bin/git",
        "bin/uv",
    ];
    for program in programs {
        project = executable(project.file(program, &shell), program);
    }
    let path = project.root().join("bin");
    let project = project.env("PATH", &format!("{}:/usr/bin:/bin", path.display()));
    let report = Report::of(&project);
    report.states(&["qaas.toml", "server 2025-11-25", "server 2026-07-28"], "ok");
    report.says("PATH", "inside the repository");
    assert!(
        !report.answer.to_string().contains("qaas-planted"),
        "{:#}",
        report.answer
    );
    assert!(!mark.exists(), "{}", std::fs::read_to_string(&mark).unwrap());
}

#[cfg(unix)]
fn executable(project: Project, program: &str) -> Project {
    use std::os::unix::fs::PermissionsExt;
    let path = project.root().join(program);
    if !path.exists() {
        std::fs::write(&path, "#!/bin/sh\nexit 1\n").unwrap();
    }
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    project
}
