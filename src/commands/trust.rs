//! `qaas trust`: a person looks at what a `qaas.toml` wants to run beyond tests, and agrees or not.

use std::io::{BufRead, IsTerminal};

use engine::policy::Policy;
use engine::trust::{TrustError, TrustStore, check_owners};
use ops::{Desk, OpError, surface};
use runner_core::backend::Waits;

use super::Context;
use super::output::{complain, print};
use super::run::fail;
use crate::cli::Trust;
use crate::exit;
use crate::plugins::{Origin, Starting};

pub(super) fn run(context: &Context, command: &Trust) -> u8 {
    let Some(state) = context.environment.state_dir() else {
        complain("qaas: there is no state folder to keep an agreement in\nnext: set HOME or QAAS_STATE_DIR");
        return exit::USAGE;
    };
    let store = TrustStore::new(&state);
    if command.list {
        return list(&store);
    }
    let desk = match context.still_desk(Policy::person()) {
        Ok(desk) => desk,
        Err(error) => return fail(&error, context.global.format, context.paint()),
    };
    if command.revoke {
        return match store.revoke(&desk.root) {
            Ok(true) => done(&format!(
                "the agreement for {} is taken back",
                desk.root.display()
            )),
            Ok(false) => done(&format!("nothing was agreed to for {}", desk.root.display())),
            Err(error) => refuse(&error),
        };
    }
    match agree(&desk, &store, command) {
        Ok(true) => {
            learn(context);
            exit::PASSED
        }
        Ok(false) => exit::PASSED,
        Err(Trouble::Refused) => exit::USAGE,
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
fn learn(context: &Context) {
    let Ok((_, plugins)) = context.loaded_desk(Policy::person(), Starting::Allowed) else {
        return;
    };
    for plugin in plugins
        .iter()
        .filter(|plugin| matches!(plugin.origin, Origin::Repository(_)))
    {
        match plugin.backend.learn(&Waits::default()) {
            Ok(learned) => {
                print(&super::backend::in_words(&learned.info));
                if let Some(note) = crate::backends::unknown_words(plugin) {
                    complain(&format!("note: {note}"));
                }
            }
            Err(error) => complain(&format!("note: {error}")),
        }
    }
}

/// Whether the person agreed to something.
fn agree(desk: &Desk, store: &TrustStore, command: &Trust) -> Result<bool, Trouble> {
    let surface = surface(desk).map_err(Trouble::Op)?;
    if surface.is_empty() {
        print("this qaas.toml asks for nothing that needs your agreement");
        return Ok(false);
    }
    print(&format!("{} wants to use:", desk.root.display()));
    for line in surface.lines() {
        print(&format!("   {line}"));
    }
    if command.show {
        return Ok(false);
    }
    let file = desk.settings().map_err(Trouble::Op)?.file.clone();
    check_owners(&desk.root, file.as_deref()).map_err(Trouble::Trust)?;
    if !command.yes && !asked("Agree to exactly this? [y/N] ") {
        complain("qaas: not agreed to; without it, whatever needs it is left out");
        return Err(Trouble::Refused);
    }
    store.grant(&desk.root, &surface).map_err(Trouble::Trust)?;
    print("agreed; a change of any of these lines asks again");
    Ok(true)
}

/// Asks on a terminal. Without one the answer is no.
fn asked(question: &str) -> bool {
    if !std::io::stdin().is_terminal() {
        complain("qaas: no terminal to ask on; `qaas trust --yes` agrees to exactly what is shown");
        return false;
    }
    complain(question);
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

fn list(store: &TrustStore) -> u8 {
    match store.list() {
        Ok(listed) => {
            for warning in &listed.warnings {
                complain(&format!("note: {warning}"));
            }
            for record in &listed.records {
                print(&record.root);
                for line in record.items.iter().flat_map(|item| &item.lines) {
                    print(&format!("   {line}"));
                }
            }
            exit::PASSED
        }
        Err(error) => refuse(&error),
    }
}

fn done(text: &str) -> u8 {
    print(text);
    exit::PASSED
}

fn refuse(error: &TrustError) -> u8 {
    complain(&format!("qaas: {error}\nnext: {}", error.hint()));
    exit::USAGE
}
