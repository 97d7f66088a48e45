//! From what a configuration wants and what a person agreed to: what may be used.

use std::path::Path;

use super::owner::check_owners;
use super::store::TrustStore;
use super::surface::{Part, Surface};
use crate::config::{Env, Settings};

/// Which parts of a configuration may be used. Made once for a command, or for each call of a server.
#[derive(Clone, Debug)]
pub struct Trust {
    surface: Surface,
    /// `None`: everything may be used. Else why not, in words.
    withheld: Option<Withheld>,
}

#[derive(Clone, Debug)]
struct Withheld {
    /// Parts that were agreed to as they are.
    agreed: Vec<Part>,
    /// The lines that are not what was agreed to; empty if nothing ever was.
    diff: Vec<String>,
    /// What keeps a person from agreeing: files that others can change, records that cannot be read.
    obstacle: Option<(String, String)>,
    command: String,
}

/// A part that may not be used, as an error answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// `untrusted`, always.
    pub code: &'static str,
    pub message: String,
    /// What to do: the exact command.
    pub hint: String,
    /// What would run, or, if it was agreed to once and changed since, how it changed.
    pub lines: Vec<String>,
}

impl Trust {
    /// Compares a surface with what was agreed to. `session_trust` is a person's `--trust` on this one command; a
    /// server has none to give. `store` is `None` if there is no state folder to keep records in.
    pub fn decide(
        store: Option<&TrustStore>,
        root: &Path,
        settings: &Settings,
        surface: &Surface,
        session_trust: bool,
    ) -> Self {
        let withheld = if session_trust || surface.is_empty() {
            None
        } else {
            withheld(store, root, settings, surface)
        };
        Self {
            surface: surface.clone(),
            withheld,
        }
    }

    /// Whether a part may be used. Parts that are not on the surface may always be.
    pub fn allows(&self, part: &Part) -> bool {
        let Some(withheld) = &self.withheld else {
            return true;
        };
        !self.surface.contains(part) || withheld.agreed.contains(part)
    }

    /// The error answer for a part that may not be used.
    pub fn require(&self, part: &Part) -> Result<(), Refusal> {
        let Some(withheld) = self.withheld.as_ref().filter(|_| !self.allows(part)) else {
            return Ok(());
        };
        let items = self.surface.items();
        let lines = items
            .into_iter()
            .find(|item| item.part == *part)
            .map(|item| item.lines);
        let (why, hint) = withheld.words(false);
        let message = format!("{} {why}", part.words());
        Err(Refusal {
            code: "untrusted",
            message,
            hint,
            lines: if withheld.diff.is_empty() {
                lines.unwrap_or_default()
            } else {
                withheld.diff.clone()
            },
        })
    }

    /// `[env]` without what may not be used, and one sentence that names what was left out.
    pub fn environment(&self, env: &Env) -> (Env, Option<String>) {
        let mut left_out = Vec::new();
        let mut keep = |part: Part, name: &str| {
            let allowed = self.allows(&part);
            if !allowed {
                left_out.push(format!("`{name}`"));
            }
            allowed
        };
        let mut usable = env.clone();
        usable.set.retain(|name, _| keep(Part::Set(name.clone()), name));
        usable.pass.retain(|name| keep(Part::Pass(name.clone()), name));
        let words = self
            .withheld
            .as_ref()
            .filter(|_| !left_out.is_empty())
            .map(|withheld| {
                // What has to be typed comes last: whoever cuts the sentence cuts its middle.
                let (why, hint) = withheld.words(left_out.len() > 1);
                format!("`[env]`: {} {why}. {hint}", left_out.join(", "))
            });
        (usable, words)
    }

    /// Every part that may not be used, as error answers: for `qaas check` and `qaas trust --show`.
    pub fn refusals(&self) -> Vec<Refusal> {
        let items = self.surface.items();
        items
            .iter()
            .filter_map(|item| self.require(&item.part).err())
            .collect()
    }

    /// What would run or be handed out, and needs (or has) consent.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }
}

impl Withheld {
    /// Why something (or, if `several`, some things) may not be used, and what to do.
    fn words(&self, several: bool) -> (String, String) {
        let (need, is) = if several {
            ("need", "are not trusted yet, so they were not used")
        } else {
            ("needs", "is not trusted yet, so it was not used")
        };
        match &self.obstacle {
            Some((why, hint)) => (
                format!("{need} your trust, which cannot be given: {why}"),
                hint.clone(),
            ),
            None if self.diff.is_empty() => (
                is.to_owned(),
                format!("Look at it and agree to it: `{}`", self.command),
            ),
            None => (
                format!(
                    "changed since you agreed, so {} not used",
                    if several { "they were" } else { "it was" }
                ),
                format!("Look at the change and agree to it: `{}`", self.command),
            ),
        }
    }
}

fn withheld(
    store: Option<&TrustStore>,
    root: &Path,
    settings: &Settings,
    surface: &Surface,
) -> Option<Withheld> {
    let blocked = |why: String, hint: String| {
        Some(Withheld {
            agreed: Vec::new(),
            diff: Vec::new(),
            obstacle: Some((why, hint)),
            command: command(root),
        })
    };
    let Some(store) = store else {
        return blocked(
            "there is no state folder to remember it in".to_owned(),
            "Set `QAAS_STATE_DIR` (or `HOME`) to a folder of yours, or type `--trust` with this one command."
                .to_owned(),
        );
    };
    if let Err(error) = check_owners(root, settings.file.as_deref()) {
        return blocked(error.to_string(), error.hint().to_owned());
    }
    let record = match store.record(root) {
        Ok(record) => record,
        Err(error) => return blocked(error.to_string(), error.hint().to_owned()),
    };
    let agreed = record.map(|record| record.items);
    let diff = agreed.as_ref().map(|items| surface.differs_from(items));
    if diff.as_ref().is_some_and(Vec::is_empty) {
        return None;
    }
    let items = surface.items();
    let same = items
        .into_iter()
        .filter(|item| agreed.iter().flatten().any(|known| known == item));
    Some(Withheld {
        agreed: same.map(|item| item.part).collect(),
        diff: diff.unwrap_or_default(),
        obstacle: None,
        command: command(root),
    })
}

/// The command by which a person agrees, ready to be typed.
pub fn command(root: &Path) -> String {
    let path = root.display().to_string();
    let plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ',' | '@' | '%');
    if path.chars().all(plain) {
        format!("qaas trust --root {path}")
    } else {
        format!("qaas trust --root '{}'", path.replace('\'', r"'\''"))
    }
}
