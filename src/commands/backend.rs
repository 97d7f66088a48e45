//! `qaas backend`: the backends there are, and those that a person adds.

use std::path::Path;

use engine::policy::Policy;
use engine::store::plugins::Plugins;
use exec_plugin::host::Capabilities;
use ops::{ExitCode, OpError};
use runner_core::backend::{BackendError, BackendInfo, NAMES, Need, StillWanted, is_name};
use serde_json::{Value, json};

use super::output::{print, print_json};
use super::run::fail;
use super::{Context, conformance};
use crate::backends;
use crate::cli::{Backend, BackendAdd, Format};
use crate::plugins::{Origin, Plugin, Starting, Table, Typed, name_of, read_typed};

pub(super) async fn run(context: &Context, command: &Backend) -> ExitCode {
    let done = match command {
        Backend::List => list(context),
        Backend::Add(command) => add(context, command),
        Backend::Remove { name } => remove(context, name),
        Backend::Check(command) => return conformance::run(context, command).await,
    };
    match done {
        Ok(()) => ExitCode::Passed,
        Err(error) => fail(&error, context.global.format, context.paint()),
    }
}

/// One line of the list.
struct Listed {
    info: BackendInfo,
    kind: String,
    from: String,
    /// Why it cannot be used at present.
    trouble: Option<String>,
    /// Whether it is known what it can do.
    known: bool,
}

fn list(context: &Context) -> Result<(), OpError> {
    let (format, paint) = (context.global.format, context.paint());
    let (workspace, plugins) = context.loaded_workspace(Policy::person(), Starting::Never)?;
    let settings = workspace.settings()?;
    let trust = ops::trust(&workspace)?;
    let store = context.store();
    let loader = context.loader(&workspace.root, store.as_ref(), Starting::Never, false);
    let mut plugins = plugins;
    let mut unusable = Vec::new();
    for found in loader.all() {
        match found {
            Ok(plugin) if workspace.registry.get(&plugin.name).is_none() => plugins.push(plugin),
            // A table without a path is about this very one.
            Ok(plugin) if plugins.iter().any(|known| known.is_same(&plugin)) => {}
            Ok(plugin) => unusable.push(passed_over(&plugin)),
            Err(refused) => unusable.push(refused.message),
        }
    }
    let mut listed: Vec<Listed> = Vec::new();
    for info in workspace.registry.infos() {
        if plugins.iter().any(|plugin| plugin.name == info.name) {
            continue;
        }
        let table = settings.backends.get(&info.name);
        let refusal = trust
            .require(&engine::trust::Part::Backend(info.name.clone()))
            .err();
        listed.push(Listed {
            kind: table.map_or_else(|| "built-in".to_owned(), |table| table.kind.clone()),
            from: if table.is_some() {
                "qaas.toml".to_owned()
            } else {
                String::new()
            },
            trouble: refusal.map(|refusal| format!("{}. {}", refusal.message, refusal.hint)),
            known: true,
            info,
        });
    }
    listed.extend(plugins.iter().map(|plugin| {
        let refusal = trust
            .require(&engine::trust::Part::Backend(plugin.name.clone()))
            .err();
        listed_plugin(
            plugin,
            refusal.map(|refusal| format!("{}. {}", refusal.message, refusal.hint)),
        )
    }));
    if format != Format::Human {
        let backends: Vec<Value> = listed.iter().map(value).collect();
        print_json(&json!({ "backends": backends, "unusable": unusable }), format);
        return Ok(());
    }
    let width = listed
        .iter()
        .map(|one| one.info.name.len())
        .max()
        .unwrap_or_default();
    for one in &listed {
        let can = if one.known {
            capabilities(&one.info)
        } else {
            "not asked yet".to_owned()
        };
        let mut line = format!("{:width$}  {can}{}", one.info.name, paint.dim(&needs(&one.info)));
        if one.kind != "built-in" {
            let from = if one.from.is_empty() {
                String::new()
            } else {
                format!(", {}", one.from)
            };
            line.push_str(&paint.dim(&format!("  ({}{from})", one.kind)));
        }
        if let Some(trouble) = &one.trouble {
            line.push_str(&format!("\n{:width$}  cannot be used: {trouble}", ""));
        }
        print(&line);
    }
    for trouble in &unusable {
        print(&format!("cannot be used: {trouble}"));
    }
    Ok(())
}

/// Why a plug-in of a taken name is not used.
fn passed_over(plugin: &Plugin) -> String {
    let name = &plugin.name;
    let place = format!("`{name}` ({})", from(&plugin.origin));
    if backends::registry().get(name).is_some() {
        return backends::ignored(name, &place);
    }
    format!("{place} is not used: the table [backend.{name}] of this repository's qaas.toml is")
}

fn listed_plugin(plugin: &Plugin, trouble: Option<String>) -> Listed {
    use runner_core::backend::TestBackend;
    Listed {
        info: plugin.backend.info(),
        kind: plugin.kind.as_str().to_owned(),
        from: from(&plugin.origin),
        trouble,
        known: plugin.backend.is_known(),
    }
}

fn from(origin: &Origin) -> String {
    match origin {
        Origin::Repository(path) => path.clone(),
        Origin::Installed(path) => format!("installed from {}", path.display()),
        Origin::OnPath(path) => path.display().to_string(),
    }
}

fn value(one: &Listed) -> Value {
    let mut value = serde_json::to_value(&one.info).unwrap_or_default();
    if !one.known {
        value["capabilities"] = json!([]);
    }
    value["kind"] = json!(one.kind);
    value["from"] = json!(one.from);
    value["known"] = json!(one.known);
    value["trouble"] = json!(one.trouble);
    value
}

fn add(context: &Context, command: &BackendAdd) -> Result<(), OpError> {
    let cwd = &context.environment.cwd;
    let read = read_typed(cwd, &command.path);
    let typed = read.map_err(|refused| OpError::bad_argument(refused.message).with_hint(refused.hint))?;
    let name = plugin_name(command, &typed)?;
    let store = context.store().ok_or_else(no_state)?;
    let plugins = store.plugins().map_err(|error| stored(&error))?;
    // Without a repository: what the program says of itself must not depend on one.
    let loader = context.loader(Path::new(""), Some(&store), Starting::Allowed, false);
    let (from, bytes) = (typed.from.clone(), typed.content.clone());
    let plugin = loader.typed(&name, typed, &Table::default());
    let learned = plugin
        .backend
        .probe(&StillWanted::default())
        .map_err(|error| unusable(&error))?;
    let before = plugins.installed(&name);
    plugins
        .install(&name, plugin.kind.as_str(), &from, &bytes)
        .map_err(|error| stored(&error))?;
    loader.remember(&plugin, &learned);
    if context.global.format == Format::Human {
        print(&shown(&plugin, &learned));
        if let Some(before) = before.filter(|before| before.sha256 != plugin.sha256) {
            print(&format!("it replaces the one from {}", before.from.display()));
        }
    } else {
        let value = json!({
            "added": learned.info, "from": from, "sha256": plugin.sha256,
            "protocol": learned.protocol, "features": learned.features, "left_out": learned.left_out,
        });
        print_json(&value, context.global.format);
    }
    Ok(())
}

fn plugin_name(command: &BackendAdd, typed: &Typed) -> Result<String, OpError> {
    let shape = || format!("Choose another with `--name NAME`: {NAMES}.");
    let name = match &command.name {
        Some(name) if is_name(name) => name.clone(),
        Some(name) => {
            return Err(
                OpError::bad_argument(format!("`{name}` cannot be the name of a backend")).with_hint(shape()),
            );
        }
        None => name_of(typed.kind, &typed.from).ok_or_else(|| {
            OpError::bad_argument("the file's name cannot be the name of a backend").with_hint(shape())
        })?,
    };
    if backends::registry().get(&name).is_some() {
        return Err(OpError::bad_argument(format!("`{name}` is a built-in backend"))
            .with_hint("Choose another: `--name NAME`."));
    }
    Ok(name)
}

fn remove(context: &Context, name: &str) -> Result<(), OpError> {
    let store = context.store().ok_or_else(no_state)?;
    let plugins: Plugins = store.plugins().map_err(|error| stored(&error))?;
    if !plugins.remove(name).map_err(|error| stored(&error))? {
        let installed: Vec<String> = plugins.all_installed().into_iter().map(|one| one.name).collect();
        let hint = if installed.is_empty() {
            "None is installed.".to_owned()
        } else {
            format!("Installed: {}.", installed.join(", "))
        };
        return Err(OpError::bad_argument(format!("no backend `{name}` is installed")).with_hint(hint));
    }
    if context.global.format == Format::Human {
        print(&format!("{name} is removed"));
    } else {
        print_json(&json!({ "removed": name }), context.global.format);
    }
    Ok(())
}

fn shown(plugin: &Plugin, learned: &Capabilities) -> String {
    let mut lines = vec![
        in_words(&learned.info),
        format!(
            "   from     {}",
            from(&plugin.origin).trim_start_matches("installed from ")
        ),
        format!("   sha256   {}", plugin.sha256),
        format!("   protocol {}", learned.protocol),
    ];
    for option in &learned.info.options {
        lines.push(format!("   option   {}: {}", option.name, option.about));
    }
    if !learned.left_out.is_empty() {
        lines.push(format!(
            "   not known to this qaas: {}",
            learned.left_out.join(", ")
        ));
    }
    let name = &plugin.name;
    lines.push(format!(
        "use it with `backend = \"{name}\"` in a suite, or `qaas run --backend {name}`"
    ));
    lines.join("\n")
}

/// A backend in one line.
pub(super) fn in_words(info: &BackendInfo) -> String {
    let framework = match info.framework.as_str() {
        "" => String::new(),
        framework => format!(" ({framework})"),
    };
    format!("{}{framework}: {}{}", info.name, capabilities(info), needs(info))
}

fn capabilities(info: &BackendInfo) -> String {
    let words: Vec<&str> = info.capabilities.iter().map(|one| one.as_str()).collect();
    words.join(", ")
}

fn needs(info: &BackendInfo) -> String {
    let words: Vec<String> = info
        .needs
        .iter()
        .map(|need| match need {
            Need::Python => "Python".to_owned(),
            Need::PythonPackage(name) | Need::NodePackage(name) | Need::Program(name) => name.clone(),
        })
        .collect();
    if words.is_empty() {
        String::new()
    } else {
        format!("  (needs {})", words.join(", "))
    }
}

fn unusable(error: &BackendError) -> OpError {
    OpError::bad_argument(error.message.clone()).with_hint(error.hint.clone().unwrap_or_default())
}

fn stored(error: &engine::store::StoreError) -> OpError {
    OpError::bad_argument(error.to_string()).with_hint(error.hint())
}

fn no_state() -> OpError {
    OpError::bad_argument("there is no usable state folder to keep it in")
        .with_hint("Set HOME or QAAS_STATE_DIR to a folder that can be written.")
}
