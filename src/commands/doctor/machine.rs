//! What this machine gives: the state folder, supervision, PATH.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use engine::store::Store;
use ops::Workspace;
use process::{Job, Limits};
use tokio::time::Instant;

use super::check::Check;
use crate::commands::Context;
use crate::{external, world};

/// For the supervised start of qaas itself.
const LIMIT: Duration = Duration::from_secs(3);

pub(super) fn version() -> Check {
    let program = world::own_path().display().to_string();
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    Check::ok(
        "qaas",
        format!("{} for {os} {arch}, {program}", env!("CARGO_PKG_VERSION")),
    )
}

/// Whether runs can be kept.
pub(super) fn state(context: &Context) -> Check {
    const NAME: &str = "state folder";
    let Some(folder) = context.environment.state_dir() else {
        return Check::warn(
            NAME,
            "there is none, so no run is kept and nothing can be trusted",
            "set HOME or QAAS_STATE_DIR",
        );
    };
    // A scratch that comes and goes shows that it can be written to.
    match Store::open(&folder).and_then(|store| store.scratch()) {
        Ok(_) => Check::ok(NAME, folder.display().to_string()),
        Err(error) => Check::fail(NAME, error.to_string(), error.hint()),
    }
}

/// What confines the processes of a run, tried on qaas itself, and the limits that are set.
pub(super) async fn supervision(workspace: &Workspace) -> Vec<Check> {
    const NAME: &str = "supervision";
    let mut words = world::supervisor().confinement(&Limits::default());
    let tier = words.remove("tier").unwrap_or_default();
    let begun = Instant::now();
    let tried = world::supervisor().capture(own_version(workspace), 1_000).await;
    let took = begun.elapsed().as_millis();
    let check = match tried {
        Err(error) => Check::fail(NAME, error.to_string(), REPORT),
        Ok(captured) if !captured.succeeded() => {
            let said = captured.stderr.lines().next().unwrap_or_default().to_owned();
            Check::fail(
                NAME,
                format!("a supervised start of qaas itself failed: {said}"),
                REPORT,
            )
        }
        Ok(_) if cfg!(target_os = "linux") => {
            Check::ok(NAME, format!("tier: {tier} (a supervised start took {took} ms)"))
        }
        Ok(_) => Check::warn(
            NAME,
            format!("tier: {tier}"),
            "on Linux nothing of a run can escape; run untrusted tests there, for example in a container",
        ),
    };
    vec![check, limits(workspace)]
}

/// What to do about a fault of qaas's own.
pub(super) const REPORT: &str = "report it as a fault of qaas, with what `qaas doctor --json` prints";

fn own_version(workspace: &Workspace) -> Job {
    Job {
        name: "doctor".to_owned(),
        argv: vec![world::own_program().into(), "--version".into()],
        env: BTreeMap::new(),
        cwd: workspace.root.clone(),
        channel: false,
        stdout_file: None,
        deadline: Some(Instant::now() + LIMIT),
        grace: Duration::ZERO,
        interrupt: false,
        cancel_grace: Duration::ZERO,
        on_deadline: None,
        limits: Limits::default(),
        view: None,
    }
}

/// Resource limits of each suite that has some, and how each is kept.
fn limits(workspace: &Workspace) -> Check {
    const NAME: &str = "limits";
    let Ok(settings) = &workspace.settings else {
        return Check::skipped(NAME, "qaas.toml cannot be read");
    };
    let limited = settings
        .suites
        .iter()
        .filter(|suite| suite.limits != Limits::default());
    let notes: Vec<String> = limited
        .map(|suite| {
            let mut words = world::supervisor().confinement(&suite.limits);
            words.remove("tier");
            let words: Vec<String> = words
                .into_iter()
                .map(|(name, how)| format!("{name} {how}"))
                .collect();
            format!("suite {}: {}", suite.name, words.join(", "))
        })
        .collect();
    let message = if notes.is_empty() {
        "no suite limits processes, memory, file sizes or processor time"
    } else {
        "set by qaas.toml"
    };
    Check::ok(NAME, message).with_notes(notes)
}

/// Whether a client that starts `qaas` by its name finds it, and where `qaas-*` programs are taken from.
pub(super) fn path(context: &Context, root: &Path) -> Check {
    const NAME: &str = "PATH";
    let path = context.environment.get("PATH").map(OsStr::new);
    let mut notes = Vec::new();
    for entry in std::env::split_paths(path.unwrap_or_default()) {
        if let Some(why) = external::passed_over(&entry, Some(root)) {
            notes.push(format!(
                "no `qaas-*` program is taken from {}: {why}",
                entry.display()
            ));
        }
    }
    for (name, program) in external::programs(path, Some(root)) {
        notes.push(format!("`qaas {name}` is {}", program.display()));
    }
    match external::program("qaas", path, Some(root)) {
        Some(program) => Check::ok(NAME, format!("`qaas` is {}", program.display())),
        None => Check::warn(
            NAME,
            "`qaas` is not on it, so clients cannot start it by its name",
            "install it (`cargo install --path .` in its repository), or write its whole path into the client's file",
        ),
    }
    .with_notes(notes)
}
