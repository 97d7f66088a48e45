//! What a repository's `qaas.toml` may not do before a person has agreed to it, on every face.

use std::path::PathBuf;

use serde_json::json;

use crate::support::{Client, Project};

/// A repository with a program in it that leaves a mark when it is run.
struct Hostile {
    project: Project,
    mark: PathBuf,
}

/// What one face said.
struct Said {
    face: &'static str,
    text: String,
    /// Whether the tests ran and passed.
    passed: bool,
}

impl Hostile {
    fn new(config: &str) -> Self {
        let project = Project::new()
            .file("test_plain.py", "def test_plain(): pass\n")
            .env("GITHUB_TOKEN", "hunter2-hunter2")
            .env("APP_MODE", "inherited");
        let mark = project.outside().join("mark");
        let hostile = Self { project, mark };
        hostile.plant("evil");
        hostile.configure(config);
        hostile
    }

    /// Writes the program, at a path in the repository.
    fn plant(&self, path: &str) {
        self.project
            .write(path, &format!("#!/bin/sh\n: > '{}'\n", self.mark.display()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let executable = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(self.project.root().join(path), executable).unwrap();
        }
    }

    /// A Python module that leaves the mark when it is imported.
    fn plant_module(&self, path: &str) {
        self.project
            .write(path, &format!("open('{}', 'w')\n", self.mark.display()));
    }

    fn configure(&self, config: &str) {
        let root = self.project.root();
        let config = config
            .replace("{evil}", root.join("evil").to_str().unwrap())
            .replace("{so}", root.join("evil.so").to_str().unwrap())
            .replace("{root}", root.to_str().unwrap());
        self.project.write("qaas.toml", &config);
    }

    /// Runs the tests from every face.
    fn everywhere(&self) -> Vec<Said> {
        let run = self.project.qaas(&["run"]);
        let called = self.project.call("run_suite", &json!({}));
        let served = Client::start(&self.project).call("run_suite", &json!({}));
        vec![
            Said {
                face: "run",
                passed: run.code == Some(0),
                text: format!("{}{}", run.stdout, run.stderr),
            },
            Said {
                face: "call",
                passed: called["status"] == "passed",
                text: called.to_string(),
            },
            Said {
                face: "mcp",
                passed: served["structuredContent"]["status"] == "passed",
                text: served.to_string(),
            },
        ]
    }

    fn assert_unmarked(&self, when: &str) {
        assert!(!self.mark.exists(), "{when}: what nobody agreed to was run");
    }

    /// No face runs anything of it; each says what has to be typed.
    fn is_refused(&self) {
        for said in self.everywhere() {
            assert!(!said.passed, "{}: {}", said.face, said.text);
            let command = format!("qaas trust --root {}", self.project.root().display());
            assert!(said.text.contains(&command), "{}: {}", said.face, said.text);
        }
        self.assert_unmarked("run_suite");
        assert_eq!(self.project.qaas(&["run"]).code, Some(4));
        for tool in ["run_single", "run_n_times", "get_coverage", "list_tests"] {
            let arguments = match tool {
                "run_single" => json!({"test_id": "test_plain.py::test_plain"}),
                "run_n_times" => json!({"test_id": "test_plain.py::test_plain", "n": 2}),
                _ => json!({}),
            };
            let answer = self.project.call(tool, &arguments);
            assert_eq!(answer["error"]["code"], "untrusted", "{tool}: {answer:#}");
        }
        self.assert_unmarked("the other tools");
    }

    /// Every face runs the tests, leaves the rest out, and says what has to be typed.
    fn is_left_out(&self, names: &[&str]) {
        for said in self.everywhere() {
            assert!(said.passed, "{}: {}", said.face, said.text);
            let command = format!("qaas trust --root {}`", self.project.root().display());
            for name in names.iter().chain([&command.as_str()]) {
                assert!(
                    said.text.contains(name),
                    "{} does not name {name}: {}",
                    said.face,
                    said.text
                );
            }
        }
        self.assert_unmarked("a run");
    }
}

#[test]
fn an_interpreter_of_the_repositorys_own_making_is_not_started() {
    for python in ["./evil", "{evil}", "{root}/../repo/evil"] {
        let suite = format!("[suite.default]\noptions = {{ python = \"{python}\" }}\n");
        Hostile::new(&suite).is_refused();
    }
}

#[test]
fn a_shell_is_no_interpreter_that_detection_would_choose() {
    Hostile::new("[suite.default]\noptions = { python = \"sh\" }\n").is_refused();
}

#[test]
fn loader_variables_are_left_out_and_named() {
    let names = [
        "PATH",
        "LD_PRELOAD",
        "LD_AUDIT",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "NODE_OPTIONS",
        "BASH_ENV",
    ];
    let set = names
        .map(|name| format!("{name} = \"{{root}}/planted\""))
        .join("\n");
    let hostile = Hostile::new(&format!("[env.set]\nAPP_MODE = \"set\"\n{set}"));
    hostile.plant_module("planted/sitecustomize.py");
    hostile.plant("planted/git");
    hostile.project.write(
        "test_plain.py",
        "import os
def test_plain():
    assert not [name for name, value in os.environ.items() if 'planted' in value]
    assert os.environ['APP_MODE'] == 'set'
",
    );
    hostile.is_left_out(&names);
}

#[test]
fn secrets_are_not_handed_to_the_tests_of_agents() {
    let hostile = Hostile::new("[env]\npass = [\"GITHUB_TOKEN\", \"APP_MODE\"]\n");
    hostile.project.write(
        "test_plain.py",
        "import os
def test_plain():
    assert 'GITHUB_TOKEN' not in os.environ
    assert os.environ['APP_MODE'] == 'inherited'
",
    );
    let answer = hostile.project.call("run_suite", &json!({}));
    assert_eq!(answer["status"], "passed", "{answer:#}");
    assert!(
        answer.to_string().contains("GITHUB_TOKEN"),
        "it is named: {answer:#}"
    );
    // Once it is agreed to, the tests get it, and the answers still do not.
    assert_eq!(hostile.project.qaas(&["trust", "--yes"]).code, Some(0));
    hostile.project.write(
        "test_plain.py",
        "import os\ndef test_plain(): assert not os.environ['GITHUB_TOKEN']\n",
    );
    let answer = hostile.project.call("run_suite", &json!({}));
    assert_eq!(answer["status"], "failed", "{answer:#}");
    assert!(answer.to_string().contains("AssertionError"), "{answer:#}");
    assert!(!answer.to_string().contains("hunter2-hunter2"), "{answer:#}");
}

#[test]
fn command_lines_of_a_repository_are_not_run() {
    let hostile = Hostile::new(
        "[suite.default]\nbackend = \"evil\"\n
[backend.evil]\nkind = \"command\"\nrun = [\"{evil}\"]\nreport = { format = \"junit\", path = \"{report}\" }\n",
    );
    for said in hostile.everywhere() {
        assert!(!said.passed, "{}: {}", said.face, said.text);
    }
    hostile.assert_unmarked("a backend of the file");
}

#[test]
fn nothing_of_a_configuration_that_wants_everything_happens() {
    let hostile = Hostile::new(include_str!("data/hostile.toml"));
    hostile.is_refused();
    for words in [
        &["check"][..],
        &["affected", "test_plain.py"],
        &["doctor"],
        &["trust", "--show"],
        &["trust"],
    ] {
        hostile.project.qaas(words);
        hostile.assert_unmarked(words[0]);
    }
    let checked = hostile.project.qaas(&["check"]).stdout;
    for word in [
        "LD_PRELOAD",
        "GITHUB_TOKEN",
        "backend.evil.run",
        "options.python",
        "qaas trust --root",
    ] {
        assert!(checked.contains(word), "check does not tell of {word}: {checked}");
    }
}

#[test]
fn what_only_looks_executes_nothing() {
    let hostile = Hostile::new("");
    for module in [
        "json.py",
        "pytest.py",
        "sitecustomize.py",
        "coverage.py",
        "conftest.py",
        "test_plain.py",
    ] {
        hostile.plant_module(module);
    }
    // Environments that would be asked for what they have, inside and outside of the repository.
    hostile.plant(".venv/bin/python");
    hostile
        .project
        .write(".venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.0\n");
    for bare in [false, true] {
        let mut hostile = Hostile {
            project: hostile.project_with(bare),
            mark: hostile.mark.clone(),
        };
        hostile.plant("bin/python3");
        hostile.plant("bin/python");
        let bin = hostile.project.root().join("bin");
        hostile.project = hostile.project.env("PATH", bin.to_str().unwrap());
        for words in [
            &["check"][..],
            &["check", "--format", "json"],
            &["doctor"],
            &["affected", "test_plain.py"],
            &["backend", "list"],
            &["trust", "--show"],
            &["trust", "--list"],
            &["schema"],
            &["--help"],
        ] {
            hostile.project.qaas(words);
            hostile.assert_unmarked(&words.join(" "));
        }
        let mut client = Client::start(&hostile.project);
        client.tools();
        client.call("affected_tests", &json!({"paths": ["test_plain.py"]}));
        // Which suites there are is told before anything runs.
        client.call("run_suite", &json!({"suite": "no-such-suite"}));
        drop(client);
        hostile.assert_unmarked("the server");
    }
}

impl Hostile {
    /// Another repository with the same plants; `bare`: without an active environment.
    fn project_with(&self, bare: bool) -> Project {
        let mut project = if bare { Project::bare() } else { Project::new() };
        for name in [
            "json.py",
            "pytest.py",
            "sitecustomize.py",
            "coverage.py",
            "conftest.py",
            "test_plain.py",
            ".venv/pyvenv.cfg",
        ] {
            let text = std::fs::read_to_string(self.project.root().join(name)).unwrap();
            project = project.file(name, &text);
        }
        let other = Self {
            project,
            mark: self.mark.clone(),
        };
        other.plant(".venv/bin/python");
        other.project
    }
}

#[test]
fn data_asks_nothing() {
    let hostile = Hostile::new(
        "[suite.default]\nbackend = [\"pytest-events\", \"pytest-terminal\"]\npaths = [\"test_plain.py\"]\ntimeout = \"1m\"\ngrace = \"1s\"\n
[env.set]\nAPP_MODE = \"test\"\n
[mcp]\nmax_bytes = 10000\n",
    );
    for said in hostile.everywhere() {
        assert!(said.passed, "{}: {}", said.face, said.text);
        assert!(!said.text.contains("qaas trust"), "{}: {}", said.face, said.text);
    }
    let shown = hostile.project.qaas(&["trust", "--show"]);
    assert_eq!(shown.code, Some(0));
    assert!(
        shown.stdout.contains("nothing that needs your agreement"),
        "{}",
        shown.stdout
    );
}

/// A configuration whose effect the tests can see.
const LOADER: &str = "[env.set]\nPYTHONPATH = \"{root}/planted\"\n";

fn with_loader() -> Hostile {
    let hostile = Hostile::new(LOADER);
    hostile.plant_module("planted/sitecustomize.py");
    hostile
}

#[test]
fn consent_is_shown_given_listed_and_taken_back() {
    let hostile = with_loader();
    let root = hostile.project.root();
    let shown = hostile.project.qaas(&["trust", "--show"]);
    assert_eq!(shown.code, Some(0));
    let line = format!("env.set.PYTHONPATH = \"{}/planted\"", root.display());
    assert!(shown.stdout.contains(&line), "{}", shown.stdout);
    let asked = hostile.project.qaas(&["trust"]);
    assert_eq!(asked.code, Some(4), "nobody there to answer: {}", asked.stderr);
    hostile.is_left_out(&["PYTHONPATH"]);

    assert_eq!(hostile.project.qaas(&["trust", "--yes"]).code, Some(0));
    let listed = hostile.project.qaas(&["trust", "--list"]).stdout;
    assert!(
        listed.contains(root.to_str().unwrap()) && listed.contains(&line),
        "{listed}"
    );
    for said in hostile.everywhere() {
        assert!(said.passed, "{}: {}", said.face, said.text);
    }
    assert!(hostile.mark.exists(), "agreed to, and not used");

    assert_eq!(hostile.project.qaas(&["trust", "--revoke"]).code, Some(0));
    let _ = std::fs::remove_file(&hostile.mark);
    hostile.is_left_out(&["PYTHONPATH"]);
    assert!(
        !hostile
            .project
            .qaas(&["trust", "--list"])
            .stdout
            .contains(root.to_str().unwrap())
    );
}

#[test]
fn a_change_of_what_was_agreed_to_asks_again() {
    let hostile = with_loader();
    assert_eq!(hostile.project.qaas(&["trust", "--yes"]).code, Some(0));
    hostile.plant_module("other/sitecustomize.py");
    hostile.configure("[env.set]\nPYTHONPATH = \"{root}/other\"\n");
    hostile.is_left_out(&["PYTHONPATH", "changed"]);
    // What needs no consent may change.
    hostile.configure(&format!("{LOADER}APP_MODE = \"set\"\n"));
    assert_eq!(hostile.project.qaas(&["run"]).code, Some(0));
    assert!(hostile.mark.exists(), "agreed to, and not used");
}

#[test]
fn a_running_server_believes_neither_a_swapped_file_nor_a_consent_that_is_gone() {
    let hostile = Hostile::new("");
    hostile.plant_module("planted/sitecustomize.py");
    let mut client = Client::start(&hostile.project);
    hostile.configure(LOADER);
    assert_eq!(client.structure("run_suite", &json!({}))["status"], "passed");
    hostile.assert_unmarked("a file that was swapped under the server");

    assert_eq!(hostile.project.qaas(&["trust", "--yes"]).code, Some(0));
    let mut client = Client::start(&hostile.project);
    assert_eq!(hostile.project.qaas(&["trust", "--revoke"]).code, Some(0));
    assert_eq!(client.structure("run_suite", &json!({}))["status"], "passed");
    hostile.assert_unmarked("a consent that was taken back");
}

#[test]
fn a_persons_flag_counts_for_one_command_and_for_nobody_else() {
    let hostile = with_loader();
    let root = hostile.project.root();
    let root = root.to_str().unwrap();
    hostile
        .project
        .qaas(&["call", "run_suite", "--trust", "--root", root, "--args", "{}"]);
    hostile.assert_unmarked("an agent's call");
    let served = hostile.project.qaas(&["mcp", "--trust"]);
    assert_eq!(served.code, Some(4), "{}", served.stderr);
    assert!(served.stderr.contains("qaas trust"), "{}", served.stderr);
    hostile.assert_unmarked("a server");

    assert_eq!(hostile.project.qaas(&["run", "--trust"]).code, Some(0));
    std::fs::remove_file(&hostile.mark).expect("agreed to, and not used");
    hostile.is_left_out(&["PYTHONPATH"]);
}

#[test]
fn an_agent_has_no_tool_to_agree_with() {
    let hostile = with_loader();
    let tools = Client::start(&hostile.project).tools();
    assert!(tools.iter().all(|name| !name.contains("trust")), "{tools:?}");
}

#[test]
#[cfg(unix)]
fn a_suite_that_a_link_leads_out_of_the_repository_is_not_run() {
    for (key, value) in [
        ("dir", "\"link\""),
        ("paths", "[\"link\"]"),
        ("paths", "[\"link/test_out.py\"]"),
    ] {
        let hostile = Hostile::new(&format!("[suite.default]\n{key} = {value}\n"));
        let outside = hostile.project.outside().join("elsewhere");
        std::fs::create_dir(&outside).unwrap();
        let test = format!("open({:?}, 'w')\ndef test_out(): pass\n", hostile.mark);
        std::fs::write(outside.join("test_out.py"), test).unwrap();
        std::os::unix::fs::symlink(&outside, hostile.project.root().join("link")).unwrap();
        hostile.everywhere();
        hostile.project.qaas(&["check"]);
        hostile.assert_unmarked(&format!("{key} = {value}"));
    }
}

#[test]
#[cfg(unix)]
fn programs_of_the_repository_are_no_commands_of_qaas() {
    let hostile = Hostile::new("");
    hostile.plant("bin/qaas-hello");
    let root = hostile.project.root();
    std::os::unix::fs::symlink(root.join("bin"), hostile.project.outside().join("bin")).unwrap();
    for folder in [
        root.join("bin"),
        hostile.project.outside().join("bin"),
        "bin".into(),
    ] {
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let mut command = hostile.project.command(&["hello"]);
        let output = command.env("PATH", path).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        hostile.assert_unmarked(folder.to_str().unwrap());
    }
}
