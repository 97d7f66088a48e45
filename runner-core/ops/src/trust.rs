//! What of a repository's configuration may be used for one command.

use super::{ErrorKind, OpError, Workspace};
use engine::config::{CoverageChoice, Env, Settings, Suite};
use engine::policy::Caller;
use engine::project;
use engine::trust::{Part, Refusal, Surface, Trust, TrustStore};

/// Everything in the configuration that needs a person's consent: what `qaas trust` shows and records.
pub fn surface(workspace: &Workspace) -> Result<Surface, OpError> {
    let settings = workspace.settings()?;
    let mut surface = Surface::of(settings);
    for suite in &settings.suites {
        let Some(python) = suite.options.get("python").and_then(serde_json::Value::as_str) else {
            continue;
        };
        let start = workspace.root.join(&suite.dir);
        if !project::is_detected(&workspace.root, suite, &start, &workspace.environment) {
            surface.add_interpreter(&suite.name, python);
        }
    }
    Ok(surface)
}

/// That, compared with what was agreed to.
pub fn trust(workspace: &Workspace) -> Result<Trust, OpError> {
    let store = workspace
        .environment
        .state_dir()
        .map(|state| TrustStore::new(&state));
    let (settings, surface) = (workspace.settings()?, surface(workspace)?);
    Ok(Trust::decide(
        store.as_ref(),
        &workspace.root,
        settings,
        &surface,
        // An agent's word is no person's consent, whatever it was started with.
        workspace.session_trust && workspace.policy.caller == Caller::Person,
    ))
}

/// What a run may use, and what was left out, each with the command that would change it.
pub(super) struct Usable {
    pub(super) env: Env,
    pub(super) left_out: Vec<String>,
}

/// Takes out of a suite what may not be used. An error if it cannot run without it.
pub(super) fn usable(
    workspace: &Workspace,
    settings: &Settings,
    suite: &mut Suite,
) -> Result<Usable, OpError> {
    let trust = trust(workspace)?;
    if workspace.overrides.python.is_none() {
        trust.require(&Part::Interpreter(suite.name.clone()))?;
    }
    let (env, left_out) = trust.environment(&settings.env);
    let mut left_out = Vec::from_iter(left_out);
    if let Some(name) = &workspace.overrides.backend {
        trust.require(&Part::Backend(name.clone()))?;
    } else {
        let mut refused = None;
        suite
            .backend
            .retain(|name| match trust.require(&Part::Backend(name.clone())) {
                Ok(()) => true,
                Err(refusal) => {
                    left_out.push(format!("{refusal}. {}", refusal.hint));
                    refused.get_or_insert(refusal);
                    false
                }
            });
        if let (true, Some(refusal)) = (suite.backend.is_empty(), refused) {
            return Err(refusal.into());
        }
    }
    if let CoverageChoice::Named(name) = &suite.coverage
        && let Err(refusal) = trust.require(&Part::Backend(name.clone()))
    {
        left_out.push(format!("{refusal}. {}", refusal.hint));
        suite.coverage = CoverageChoice::Off;
    }
    Ok(Usable { env, left_out })
}

impl From<Refusal> for OpError {
    fn from(refusal: Refusal) -> Self {
        let mut message = refusal.message;
        for line in &refusal.lines {
            message.push_str("\n  ");
            message.push_str(line);
        }
        Self::new(ErrorKind::Untrusted, refusal.code, message).with_hint(refusal.hint)
    }
}
