//! From what is written to what it means: values are checked, each error with its place.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::fault::Fault;
use super::file::{EnvTable, File, LimitsTable, McpTable, SuiteTable};
use super::node::dotted;
use super::settings::{CommandBackend, CoverageChoice, Env, McpSettings, Place, Settings, Suite};
use super::values::{Places, grace, inside, size, time_limit};
use super::words::{BackendTable, CoverageWord, DurationWord, NameList, SizeWord};
use crate::policy::{ANSWER_BYTES, LEAST_ANSWER_BYTES, MOST_ANSWER_BYTES};
use process::Limits;
use runner_core::backend::{NAMES, is_name};

pub(super) fn resolve(written: File, places: BTreeMap<String, Place>) -> Result<Settings, Fault> {
    let at = Places(&places);
    let mut suites = Vec::new();
    for (name, table) in written.suite {
        suites.push(suite(&at, name, table)?);
    }
    suites.sort_by_key(|suite| at.place(&dotted("suite", &suite.name)));
    let mut backends = BTreeMap::new();
    for (name, table) in written.backend {
        let backend = backend(&at, &name, table)?;
        backends.insert(name, backend);
    }
    Ok(Settings {
        file: None,
        suites,
        backends,
        env: env(&at, written.env)?,
        mcp: mcp(&at, written.mcp)?,
        places,
    })
}

fn suite(at: &Places<'_>, name: String, table: SuiteTable) -> Result<Suite, Fault> {
    let key = dotted("suite", &name);
    check_name(at, &key, &name, "suite")?;
    let of = |part: &str| dotted(&key, part);
    let mut suite = Suite::new(name, Vec::new());
    if let Some(names) = table.backend {
        suite.backend = backend_names(at, &of("backend"), names)?;
    }
    suite.coverage = coverage(at, &of("coverage"), table.coverage)?;
    if let Some(dir) = table.dir {
        suite.dir = inside(at, &of("dir"), &dir, "this file's folder")?;
    }
    suite.paths = paths(at, &of("paths"), table.paths)?;
    let limit = |part: &str, word: Option<DurationWord>| -> Result<Option<Duration>, Fault> {
        word.map(|word| time_limit(at, &of(part), &word)).transpose()
    };
    suite.timeout = limit("timeout", table.timeout)?;
    suite.max_timeout = limit("max_timeout", table.max_timeout)?;
    if let (Some(timeout), Some(most)) = (suite.timeout, suite.max_timeout)
        && timeout > most
    {
        return Err(at.fault(
            &of("timeout"),
            "is longer than `max_timeout` of the same suite",
            "raise `max_timeout` or shorten `timeout`",
        ));
    }
    suite.grace = table
        .grace
        .map(|word| grace(at, &of("grace"), &word))
        .transpose()?;
    suite.options = table.options;
    suite.limits = limits(at, &of("limits"), &table.limits)?;
    Ok(suite)
}

/// Names end up in folder names, arguments and answers, so they are plain.
fn check_name(at: &Places<'_>, key: &str, name: &str, what: &str) -> Result<(), Fault> {
    if is_name(name) {
        return Ok(());
    }
    Err(at.fault(
        key,
        format!("{name:?} cannot be the name of a {what}"),
        format!("use {NAMES}"),
    ))
}

fn backend_names(at: &Places<'_>, key: &str, list: NameList) -> Result<Vec<String>, Fault> {
    if list.names.is_empty() {
        return Err(at.fault(
            key,
            "is an empty list, so nothing could run the tests",
            "name at least one backend, or leave the key out to have it chosen (`qaas backend list`)",
        ));
    }
    for (number, name) in list.names.iter().enumerate() {
        let key = if list.is_list {
            format!("{key}[{number}]")
        } else {
            key.to_owned()
        };
        if name.trim().is_empty() {
            return Err(at.fault(&key, "is empty", "write a backend's name (`qaas backend list`)"));
        }
        if list.names[..number].contains(name) {
            return Err(at.fault(
                &key,
                format!("names `{name}` a second time"),
                "name each backend once",
            ));
        }
    }
    Ok(list.names)
}

fn coverage(at: &Places<'_>, key: &str, word: Option<CoverageWord>) -> Result<CoverageChoice, Fault> {
    match word {
        None => Ok(CoverageChoice::Default),
        Some(CoverageWord::Off) => Ok(CoverageChoice::Off),
        Some(CoverageWord::Named(name)) if name.trim().is_empty() => Err(at.fault(
            key,
            "is empty",
            "write a backend's name (`qaas backend list`), or `false` for no coverage",
        )),
        Some(CoverageWord::Named(name)) => Ok(CoverageChoice::Named(name)),
    }
}

fn paths(at: &Places<'_>, key: &str, list: Option<Vec<String>>) -> Result<Vec<String>, Fault> {
    let Some(list) = list else {
        return Ok(Vec::new());
    };
    if list.is_empty() {
        return Err(at.fault(
            key,
            "is an empty list",
            "name a folder or file with tests, or leave the key out",
        ));
    }
    for (number, text) in list.iter().enumerate() {
        let key = format!("{key}[{number}]");
        if text.starts_with(['-', '@']) {
            return Err(at.fault(
                &key,
                format!("{text:?} would be taken for an option, not for a path"),
                "write `./` before it",
            ));
        }
        inside(at, &key, text, "the suite's `dir`")?;
    }
    Ok(list)
}

fn limits(at: &Places<'_>, key: &str, table: &LimitsTable) -> Result<Limits, Fault> {
    let of = |part: &str| dotted(key, part);
    let above_zero = |part: &str, value: Option<u64>| match value {
        Some(0) => Err(at.fault(
            &of(part),
            "is zero: nothing could run",
            "write a larger value, or leave the key out for no limit",
        )),
        value => Ok(value),
    };
    let size_of = |part: &str, word: &Option<SizeWord>| -> Result<Option<u64>, Fault> {
        word.as_ref().map(|word| size(at, &of(part), word)).transpose()
    };
    let cpu = table
        .cpu
        .as_ref()
        .map(|word| time_limit(at, &of("cpu"), word))
        .transpose()?;
    Ok(Limits {
        processes: above_zero("processes", table.processes)?,
        memory_bytes: above_zero("memory", size_of("memory", &table.memory)?)?,
        file_bytes: above_zero("file_size", size_of("file_size", &table.file_size)?)?,
        // The operating system counts whole seconds; a limit must not become shorter than what was written.
        cpu_seconds: cpu.map(|cpu| cpu.as_secs() + u64::from(cpu.subsec_nanos() > 0)),
    })
}

fn backend(at: &Places<'_>, name: &str, table: BackendTable) -> Result<CommandBackend, Fault> {
    let key = dotted("backend", name);
    check_name(at, &key, name, "backend")?;
    let BackendTable(mut table) = table;
    let kind = match table.shift_remove("kind") {
        Some(Value::String(kind)) if !kind.trim().is_empty() => kind,
        Some(_) => {
            return Err(at.fault(
                &dotted(&key, "kind"),
                "must be the name of a kind of backend",
                "write for example `kind = \"command\"`",
            ));
        }
        None => {
            return Err(at.fault(
                &key,
                "the key `kind` is missing",
                "add what this backend is, for example `kind = \"command\"`",
            ));
        }
    };
    let below = format!("{key}.");
    let places = at.0.range(below.clone()..);
    let places = places
        .take_while(|(place, _)| place.starts_with(&below))
        .map(|(place, found)| (place[below.len()..].to_owned(), *found))
        .collect();
    Ok(CommandBackend {
        kind,
        table,
        file: None,
        line: at.place(&key).line,
        places,
    })
}

fn env(at: &Places<'_>, table: EnvTable) -> Result<Env, Fault> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let not_a_name = |key: &str, name: &str| {
        at.fault(
            key,
            format!("{name:?} is not the name of a variable"),
            "letters, digits and `_`, each variable by its full name (no patterns, no `NAME=value`)",
        )
    };
    for (number, name) in table.pass.iter().enumerate() {
        let key = format!("env.pass[{number}]");
        if !is_name(name) {
            return Err(not_a_name(&key, name));
        }
        if table.pass[..number].contains(name) {
            return Err(at.fault(
                &key,
                format!("names `{name}` a second time"),
                "name each variable once",
            ));
        }
        if table.set.contains_key(name) {
            return Err(at.fault(
                &key,
                format!("`{name}` stands under `env.set` too"),
                "either pass the variable on or set it",
            ));
        }
    }
    for (name, value) in &table.set {
        let key = dotted("env.set", name);
        if !is_name(name) {
            return Err(not_a_name(&key, name));
        }
        if value.contains('\0') {
            return Err(at.fault(&key, "holds a NUL character", "no variable can hold one"));
        }
    }
    Ok(Env {
        pass: table.pass,
        set: table.set,
    })
}

fn mcp(at: &Places<'_>, table: McpTable) -> Result<McpSettings, Fault> {
    if let Some(tools) = &table.tools {
        if tools.is_empty() {
            return Err(at.fault(
                "mcp.tools",
                "is an empty list, so no tool would be offered",
                "name the tools to offer, or leave the key out for all",
            ));
        }
        let twice = (1..tools.len()).find(|&number| tools[..number].contains(&tools[number]));
        if let Some(number) = twice {
            return Err(at.fault(
                &format!("mcp.tools[{number}]"),
                format!("names `{}` a second time", tools[number]),
                "name each tool once",
            ));
        }
    }
    let (least, most) = (LEAST_ANSWER_BYTES as u64, MOST_ANSWER_BYTES as u64);
    if let Some(bytes) = table.max_bytes
        && !(least..=most).contains(&bytes)
    {
        return Err(at.fault(
            "mcp.max_bytes",
            format!("{bytes} is not between {least} and {most}"),
            format!("bytes of one answer, all parts together; the default is {ANSWER_BYTES}"),
        ));
    }
    Ok(McpSettings {
        tools: table.tools,
        max_bytes: table.max_bytes.map(|bytes| bytes as usize),
    })
}
