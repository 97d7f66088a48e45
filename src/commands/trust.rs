//! `qaas trust`: a person looks at what a `qaas.toml` wants to run beyond tests, and agrees or not.

use std::io::{BufRead, IsTerminal};

use engine::policy::Policy;
use engine::trust::{TrustError, TrustStore, check_owners};
use ops::{ExitCode, OpError, Workspace, surface};
use runner_core::backend::StillWanted;

use super::Context;
use super::output::{print, print_stderr};
use super::run::fail;
use crate::cli::Trust;
use crate::plugins::{Origin, Starting};

pub(super) fn run(context: &Context, command: &Trust) -> ExitCode {
    let Some(state) = context.environment.state_dir() else {
        print_stderr(
            "qaas: there is no state folder to keep an agreement in\nnext: set HOME or QAAS_STATE_DIR",
        );
        return ExitCode::Usage;
    };
    let store = TrustStore::new(&state);
    if command.list {
        return list(&store);
    }
    let workspace = match context.no_exec_workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, context.global.format, context.paint()),
    };
    if command.revoke {
        return match store.revoke(&workspace.root) {
            Ok(true) => done(&format!(
                "the agreement for {} is taken back",
                workspace.root.display()
            )),
            Ok(false) => done(&format!("nothing was agreed to for {}", workspace.root.display())),
            Err(error) => refuse(&error),
        };
    }
    match agree(&workspace, &store, command) {
        Ok(true) => {
            probe(context);
            ExitCode::Passed
        }
        Ok(false) => ExitCode::Passed,
        Err(Trouble::Refused) => ExitCode::Usage,
        Err(Trouble::Op(error)) => fail(&error, context.global.format, context.paint()),
        Err(Trouble::Trust(error)) => refuse(&error),
    }
}

enum Trouble {
    Op(OpError),
    Trust(TrustError),
    /// The person did not agree.
    Refused,
}

/// Asks plug-ins that were agreed to what they can do, so that this is known before their first run.
fn probe(context: &Context) {
    let Ok((_, plugins)) = context.loaded_workspace(Policy::person(), Starting::Allowed) else {
        return;
    };
    for plugin in plugins
        .iter()
        .filter(|plugin| matches!(plugin.origin, Origin::Repository(_)))
    {
        match plugin.backend.probe(&StillWanted::default()) {
            Ok(learned) => {
                print(&super::backend::in_words(&learned.info));
                if let Some(note) = crate::backends::unknown_words(plugin) {
                    print_stderr(&format!("note: {note}"));
                }
            }
            Err(error) => print_stderr(&format!("note: {error}")),
        }
    }
}

/// Whether the person agreed to something.
fn agree(workspace: &Workspace, store: &TrustStore, command: &Trust) -> Result<bool, Trouble> {
    let surface = surface(workspace).map_err(Trouble::Op)?;
    if surface.is_empty() {
        print("this qaas.toml asks for nothing that needs your agreement");
        return Ok(false);
    }
    print(&format!("{} wants to use:", workspace.root.display()));
    for line in surface.lines() {
        print(&format!("   {line}"));
    }
    if command.show {
        return Ok(false);
    }
    let file = workspace.settings().map_err(Trouble::Op)?.file.clone();
    check_owners(&workspace.root, file.as_deref()).map_err(Trouble::Trust)?;
    if !command.yes && !asked("Agree to exactly this? [y/N] ") {
        print_stderr("qaas: not agreed to; without it, whatever needs it is left out");
        return Err(Trouble::Refused);
    }
    store.grant(&workspace.root, &surface).map_err(Trouble::Trust)?;
    print("agreed; a change of any of these lines asks again");
    Ok(true)
}

/// Asks on a terminal. Without one the answer is no.
fn asked(question: &str) -> bool {
    if !std::io::stdin().is_terminal() {
        print_stderr(
            "qaas: there is no terminal to ask on; a person has to look at this and type `qaas trust` in one",
        );
        return false;
    }
    print_stderr(question);
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

fn list(store: &TrustStore) -> ExitCode {
    match store.list() {
        Ok(listed) => {
            for warning in &listed.warnings {
                print_stderr(&format!("note: {warning}"));
            }
            for record in &listed.records {
                print(&record.root);
                for line in record.items.iter().flat_map(|item| &item.lines) {
                    print(&format!("   {line}"));
                }
            }
            ExitCode::Passed
        }
        Err(error) => refuse(&error),
    }
}

fn done(text: &str) -> ExitCode {
    print(text);
    ExitCode::Passed
}

fn refuse(error: &TrustError) -> ExitCode {
    print_stderr(&format!("qaas: {error}\nnext: {}", error.hint()));
    ExitCode::Usage
}
