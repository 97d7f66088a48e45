//! The backend under test, and requests to put to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::case_log::{CaseLog, Finding, Group};
use runner_core::backend::{BackendError, BackendInfo, Capability, Mode, Need, RunRequest, TestBackend};
use runner_core::facts::{Interpreter, Project};
use runner_core::plan::{Plan, Step};
use runner_core::selector::{Selection, Selector};

/// A version that is new enough for every feature a backend may look for.
const NEW: &str = "99.0.0";

/// The backend, what it says of itself, and a project that meets its needs.
pub(super) struct Subject {
    pub(super) backend: Arc<dyn TestBackend>,
    pub(super) info: BackendInfo,
    pub(super) project: Project,
}

impl Subject {
    /// `project`: of a sample; one is made up if there is none. Nothing is started in either.
    pub(super) fn new(backend: Arc<dyn TestBackend>, project: Option<&Project>) -> Self {
        let info = backend.info();
        let project = project.cloned().unwrap_or_else(|| made_up(&info));
        Self {
            backend,
            info,
            project,
        }
    }

    pub(super) fn can(&self, capability: Capability) -> bool {
        self.info.can(capability)
    }

    /// A request for everything, with a scratch of this name.
    pub(super) fn request(&self, mode: Mode) -> RunRequest {
        RunRequest {
            nonce: "k1tn0nce".to_owned(),
            ..RunRequest::new(mode, &self.project.dir, scratch("1"))
        }
    }

    /// A run of these tests. Ids are made as `name` needs them: with a file, or names alone.
    pub(super) fn of_names(&self, names: &[String]) -> RunRequest {
        let mut request = self.request(Mode::Run);
        request.selection = Selection {
            selectors: names.iter().map(|name| self.selector(name)).collect(),
        };
        request
    }

    /// The selector of a test that exists nowhere but in a plan.
    fn selector(&self, name: &str) -> Selector {
        if self.can(Capability::Names) {
            return Selector::Node {
                path: String::new(),
                rest: name.to_owned(),
            };
        }
        let extension = match self.info.language.as_str() {
            "python" => "py",
            "javascript" => "test.js",
            "rust" => "rs",
            _ => "txt",
        };
        Selector::Node {
            path: format!("tests/sample.{extension}"),
            rest: format!("::{name}"),
        }
    }

    pub(super) fn plan(&self, request: &RunRequest) -> Result<Plan, BackendError> {
        self.backend.plan(request, &self.project)
    }

    /// A plan for `wrap` to measure: the backend's own if it runs tests, else that of a Python program.
    pub(super) fn inner(&self, request: &RunRequest) -> Result<Plan, BackendError> {
        if self.can(Capability::Run) {
            return self.plan(request);
        }
        let python = self
            .project
            .interpreter
            .as_ref()
            .map(|python| python.path.clone());
        Ok(Plan {
            steps: vec![Step {
                name: "pytest".to_owned(),
                program: python.unwrap_or_else(|| "python".into()),
                launcher: vec!["-m".to_owned(), "pytest".to_owned()],
                cwd: request.cwd.clone(),
                ..Step::default()
            }],
            ..Plan::default()
        })
    }
}

/// The backend, if it answers an ordinary question at all. One that does not fails one case, not all.
pub(super) fn answering(
    backend: Arc<dyn TestBackend>,
    project: Option<&Project>,
    log: &mut CaseLog<'_>,
) -> Option<Subject> {
    let mut subject = None;
    let expected = "an answer to an ordinary question: what it can do, and a plan for everything";
    log.hold(Group::Claims, "answers", expected, || {
        let asked = Subject::new(backend, project);
        let request = asked.request(Mode::Run);
        let plan = asked.inner(&request).and_then(|inner| {
            if asked.can(Capability::Run) {
                return Ok(inner);
            }
            asked.backend.wrap(&request, &asked.project, inner)
        });
        match plan {
            Ok(plan) => {
                // What is known of a backend in another process may be known only now.
                subject = Some(Subject::new(asked.backend, project));
                Finding::Passed(format!("{} steps", plan.steps.len()))
            }
            Err(error) => Finding::Failed(format!("{error} ({})", error.code)),
        }
    });
    if subject.is_none() {
        let why = Finding::Skipped("who does not answer cannot be asked more".to_owned());
        log.add(Group::Claims, "everything-else", "all other cases", why);
    }
    subject
}

/// A scratch that exists nowhere.
pub(super) fn scratch(word: &str) -> PathBuf {
    Path::new("/nowhere/qaas-kit").join(word).join("w")
}

/// A project that has everything the backend needs, and is not there.
fn made_up(info: &BackendInfo) -> Project {
    let root = PathBuf::from("/nowhere/sample");
    let mut packages = BTreeMap::new();
    let mut project = Project {
        root: root.clone(),
        dir: root.clone(),
        ..Project::default()
    };
    for need in &info.needs {
        match need {
            Need::Python => {}
            Need::PythonPackage(name) => {
                packages.insert(name.clone(), NEW.to_owned());
            }
            Need::Program(name) => {
                project
                    .programs
                    .insert(name.clone(), Path::new("/usr/bin").join(name));
            }
            Need::NodePackage(name) => {
                project.node_packages.insert(name.clone(), NEW.to_owned());
            }
        }
    }
    project.interpreter = Some(Interpreter {
        path: root.join(".venv/bin/python"),
        version: Some("3.11.0".to_owned()),
        venv: Some(root.join(".venv")),
        packages: Some(packages),
        ..Interpreter::default()
    });
    project
}
