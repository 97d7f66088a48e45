//! `qaas init`: a first `qaas.toml`, and what a client has to be told.
//!
//! Standard output carries only what is to be read by programs or pasted: a dry run's files and differences, and
//! entries for clients whose files are not written here. What was done is told on standard error.

mod clients;
mod config;
mod files;
mod merge;

use std::path::{Path, PathBuf};

use engine::config::Suite;
use engine::project;
use ops::{ExitCode, OpError};
use runner_core::registry::Registry;
use serde_json::{Map, Value, json};

use self::clients::{Entry, Way};
use self::merge::Merged;
use super::Context;
use super::output::{print, print_json, print_stderr};
use super::run::fail;
use crate::backends;
use crate::cli::{Client, Format, Init};

/// The schema that a `qaas.toml` is written against, where somebody keeps it beside the file.
const SCHEMA: &str = "qaas.schema.json";

/// What became of one file or entry.
#[derive(Default)]
struct Done {
    /// The file, relative to the root where it lies inside; where to paste an entry.
    place: String,
    client: Option<&'static str>,
    action: Action,
    /// For people: why, or what else there is to know.
    note: Option<String>,
    /// What was or would be written, or is to be pasted.
    shown: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Action {
    #[default]
    Unchanged,
    Created,
    Merged,
    /// To be pasted by a person: this client's file is not written here.
    Printed,
    /// Nothing was written although it was asked for.
    Refused,
}

impl Action {
    fn word(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Created => "created",
            Self::Merged => "merged",
            Self::Printed => "printed",
            Self::Refused => "refused",
        }
    }
}

pub(super) fn run(context: &Context, command: &Init) -> ExitCode {
    let root = match project::find_root(context.global.root.as_deref(), &context.environment) {
        Ok(root) => root,
        Err(error) => return fail(&OpError::from(error), context.global.format, context.paint()),
    };
    let mut all = vec![configuration(context, &root, command)];
    all.extend(
        command
            .clients
            .iter()
            .map(|client| tell(*client, &root, command.dry_run)),
    );
    let refused = all.iter().any(|done| done.action == Action::Refused);
    if context.global.format == Format::Human {
        for done in &all {
            show(done, command.dry_run);
        }
        if !refused && !command.dry_run {
            print_stderr("next: `qaas doctor` looks at everything and executes nothing");
        }
    } else {
        let all: Vec<Value> = all.iter().map(value).collect();
        let status = if refused { "refused" } else { "done" };
        let answer = json!({"status": status, "root": root, "dry_run": command.dry_run, "files": all});
        print_json(&answer, context.global.format);
    }
    if refused {
        ExitCode::Usage
    } else {
        ExitCode::Passed
    }
}

/// Writes `qaas.toml`, unless there is one.
fn configuration(context: &Context, root: &Path, command: &Init) -> Done {
    let named = context.global.config.as_ref();
    let path = named.map_or_else(
        || root.join(engine::config::FILE_NAME),
        |file| context.environment.cwd.join(file),
    );
    let done = Done {
        place: path.strip_prefix(root).unwrap_or(&path).display().to_string(),
        ..Done::default()
    };
    if path.symlink_metadata().is_ok() {
        let note = "it is there already and is never overwritten".to_owned();
        // With a client to tell, it is no more than a condition that is met.
        let asked = command.clients.is_empty();
        let action = if asked { Action::Refused } else { Action::Unchanged };
        return Done {
            action,
            note: Some(note),
            ..done
        };
    }
    let text = config::text(&look(root, &path));
    let written = if command.dry_run {
        Ok(())
    } else {
        files::create(&path, &text)
    };
    finish(done, Action::Created, written, text)
}

/// What there is to say about the repository. Reads only.
fn look(root: &Path, path: &Path) -> config::Found {
    let registry = backends::registry();
    let suites = project::suites(root, &engine::config::Settings::default(), &registry);
    let nested = project::nested(root);
    // The projects inside are what detection took for one.
    let detected: Vec<Suite> = suites
        .into_iter()
        .filter(|suite| nested.is_empty() || !drives_python(&registry, suite))
        .collect();
    config::Found {
        python: detected
            .first()
            .is_none_or(|suite| drives_python(&registry, suite)),
        detected: detected
            .into_iter()
            .map(|suite| (suite.name, suite.dir.display().to_string(), suite.backend))
            .collect(),
        schema: path.with_file_name(SCHEMA).is_file().then_some(SCHEMA),
        nested,
    }
}

fn drives_python(registry: &Registry, suite: &Suite) -> bool {
    let first = suite.backend.first().and_then(|name| registry.get(name));
    first.is_some_and(|backend| backend.info().language == "python")
}

/// Tells one client, or says what it has to be told.
fn tell(client: Client, root: &Path, dry_run: bool) -> Done {
    let done = Done {
        client: Some(client.title()),
        ..Done::default()
    };
    match client.way(root) {
        Way::Paste { place, text } => Done {
            place: place.to_owned(),
            action: Action::Printed,
            shown: Some(text),
            ..done
        },
        Way::File(entry) => write_entry(root, &entry, dry_run, done),
    }
}

fn write_entry(root: &Path, entry: &Entry, dry_run: bool, done: Done) -> Done {
    let path: PathBuf = root.join(entry.path);
    let done = Done {
        place: entry.path.to_owned(),
        ..done
    };
    let old = files::read(root, entry.path);
    let merged = match &old {
        Err(why) => Merged::Refused(why.clone()),
        Ok(None) => Merged::Changed(entry.document()),
        Ok(Some(text)) => merge::merge(text, entry),
    };
    let old = old.ok().flatten();
    let note = old.as_deref().and_then(|text| kept(text, entry));
    match merged {
        Merged::Unchanged => Done { note, ..done },
        Merged::Refused(why) => Done {
            action: Action::Refused,
            note: Some(format!("{why}; put this in by hand")),
            shown: Some(entry.document()),
            ..done
        },
        Merged::Changed(text) => {
            let written = match (&old, dry_run) {
                (_, true) => Ok(()),
                (None, false) => files::create(&path, &text),
                (Some(_), false) => files::replace(&path, &text),
            };
            let action = old.as_ref().map_or(Action::Created, |_| Action::Merged);
            let shown = files::difference(entry.path, old.as_deref().unwrap_or_default(), &text);
            finish(Done { note, ..done }, action, written, shown)
        }
    }
}

fn kept(text: &str, entry: &Entry) -> Option<String> {
    let keys = merge::kept_keys(text, entry);
    (!keys.is_empty()).then(|| format!("kept as it is: {}", keys.join(", ")))
}

fn finish(done: Done, action: Action, written: std::io::Result<()>, shown: String) -> Done {
    match written {
        Ok(()) => Done {
            action,
            shown: Some(shown),
            ..done
        },
        Err(error) => Done {
            action: Action::Refused,
            note: Some(format!("it cannot be written: {error}")),
            ..done
        },
    }
}

/// One line on standard error; on standard output what is to be read or pasted.
fn show(done: &Done, dry_run: bool) {
    let place = &done.place;
    let whom = done
        .client
        .map(|client| format!(" ({client})"))
        .unwrap_or_default();
    let line = match (done.action, dry_run) {
        (Action::Created, false) => format!("wrote {place}{whom}"),
        (Action::Created, true) => format!("would write {place}{whom}:"),
        (Action::Merged, false) => format!("added qaas to {place}{whom}"),
        (Action::Merged, true) => format!("would change {place}{whom}:"),
        (Action::Unchanged, _) => format!("{place}{whom} is left as it is"),
        (Action::Printed, _) => format!("put this into {place}{whom}:"),
        (Action::Refused, _) => format!("qaas: {place}{whom} was not written"),
    };
    let note = done
        .note
        .as_ref()
        .map(|note| format!(": {note}"))
        .unwrap_or_default();
    print_stderr(&format!(
        "{}{note}",
        if note.is_empty() {
            &line
        } else {
            line.trim_end_matches(':')
        }
    ));
    let wanted = dry_run || matches!(done.action, Action::Printed | Action::Refused);
    if let Some(text) = done.shown.as_ref().filter(|_| wanted) {
        print(text.trim_end());
    }
}

fn value(done: &Done) -> Value {
    let mut fields = Map::new();
    fields.insert("path".to_owned(), done.place.as_str().into());
    fields.insert("action".to_owned(), done.action.word().into());
    for (name, text) in [
        ("client", done.client),
        ("note", done.note.as_deref()),
        ("shown", done.shown.as_deref()),
    ] {
        if let Some(text) = text {
            fields.insert(name.to_owned(), text.into());
        }
    }
    Value::Object(fields)
}
