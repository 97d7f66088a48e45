//! A workspace for the tests of the protocol: its one tool that answers runs no test. Its finder does what each test needs
//! (answer, wait, panic).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::config::{ConfigError, Settings};
use engine::environment::Environment;
use engine::policy::Policy;
use engine::project::Overrides;
use engine::run::Engine;
use engine::store::Store;
use ops::{LiveRuns, Workspace};
use process::Supervisor;
use runner_core::affected::{AffectedFinder, AffectedTest, AffectedTests, Confidence, Question};
use runner_core::registry::Registry;

/// Knows of no history.
struct NoChanges;

impl runner_core::change::ChangeReader for NoChanges {
    fn read(
        &self,
        _: &Path,
        _: Option<&str>,
    ) -> Result<runner_core::change::Change, runner_core::change::NoBase> {
        Err(runner_core::change::NoBase {
            message: "no history here".into(),
            hint: None,
        })
    }
}
/// A file of the repository: until it is there, a call with the changed path `wait` goes on.
pub(crate) const GO_ON: &str = "go-on";
/// A file of the repository: such a call has done its work.
pub(crate) const DONE: &str = "done";

/// Does what the changed path says.
struct Finder;

impl AffectedFinder for Finder {
    fn find(&self, root: &Path, question: &Question) -> Result<AffectedTests, runner_core::change::NoBase> {
        match question.changed[0].path.as_str() {
            "panic" => panic!("a bug"),
            "wait" => {
                // A repository that is gone belongs to a test that is over.
                while root.exists() && !root.join(GO_ON).exists() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                let _ = std::fs::write(root.join(DONE), "");
            }
            _ => {}
        }
        Ok(AffectedTests {
            affected: vec![AffectedTest {
                test_file: "tests/test_a.py".into(),
                score: 100,
                confidence: Confidence::Likely,
                why: vec!["name matches a.py".into()],
            }],
            searched: 1,
            ..AffectedTests::default()
        })
    }
}

/// The workspace of an empty repository. No state is kept.
pub(crate) fn workspace(root: &Path, settings: Result<Settings, ConfigError>) -> Workspace {
    let environment = Environment::default();
    let supervisor = Supervisor {
        program: "/nonexistent".into(),
        args: Vec::new(),
    };
    Workspace {
        root: root.canonicalize().unwrap(),
        here: None,
        settings: settings.map(Arc::new),
        registry: Arc::new(Registry::new()),
        engine: Engine::new(supervisor, None, environment.clone(), 1),
        affected: Arc::new(Finder),
        changes: Arc::new(NoChanges),
        policy: Policy::agent(),
        overrides: Overrides::default(),
        environment: Arc::new(environment),
        onlooker: None,
        live: LiveRuns::default(),
        notes: Arc::default(),
        session_trust: false,
    }
}

/// The same with a state folder.
pub(crate) fn workspace_with_state(root: &Path, state: &Path) -> Workspace {
    let mut workspace = workspace(root, Ok(Settings::default()));
    workspace.engine.store = Some(Store::open(state).unwrap());
    workspace
}
