//! From a `[backend.NAME]` table, as written, to what it means. Every fault names its key and the nearest right word.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use runner_core::backend::Need;
use runner_core::plan::ScratchFile;
use runner_core::registry::Marker;
use serde_json::{Map, Value};

use crate::command_line::{check_placeholders, command, items, word};
use crate::coverage::{COVERAGE_FORMATS, CoverageFormat};
use crate::fault::{Fault, suggest};
use crate::formats::Format;
use crate::id::IdTemplate;
use crate::keys::{below, known_keys, map, string, strings, text};
use crate::spec::{CoverageSpec, Exits, Listing, ReportPlace, Source, Spec, has};
use crate::template::{Arg, Placeholder, Segment, Template};

const KEYS: [&str; 18] = [
    "run",
    "list",
    "single",
    "report",
    "list_report",
    "id",
    "separator",
    "exit",
    "env",
    "cwd",
    "files",
    "needs",
    "detect",
    "coverage",
    "stacks",
    "targets",
    "framework",
    "language",
];

/// Reads the table of backend `name` (without its `kind`).
pub(crate) fn read(name: &str, table: &Map<String, Value>) -> Result<Spec, Fault> {
    known_keys("", table, &KEYS)?;
    let run = table.get("run").ok_or_else(|| {
        Fault::new(
            "",
            "the key `run` is missing",
            "add the command that runs the tests: `run = [\"program\", \"{ids...}\"]`",
        )
    })?;
    let run = command("run", run)?;
    let Some(report) = table.get("report") else {
        let hint = "say what the command leaves: `report = { format = \"junit\", path = \"{report}\" }`";
        return Err(Fault::new("", "the key `report` is missing", hint));
    };
    let report = report_place("report", report)?;
    let id = match table.get("id") {
        Some(id) => {
            IdTemplate::parse(string("id", id)?).map_err(|(message, hint)| Fault::new("id", message, hint))?
        }
        None => IdTemplate::parse(report.format.usual_id()).expect("the formats' own templates are right"),
    };
    let single = table
        .get("single")
        .map(|value| command("single", value))
        .transpose()?;
    let env = environment(table)?;
    let list = listing(table, &env)?;
    check_report_word("run", &run, &report, &env)?;
    if let Some(single) = &single {
        check_report_word("single", single, &report, &env)?;
    }
    let spec = Spec {
        framework: text(table, "framework")?.unwrap_or_else(|| name.to_owned()),
        language: text(table, "language")?.unwrap_or_default(),
        needs: needs(&run, table)?,
        run,
        single,
        list,
        report,
        id,
        separator: text(table, "separator")?.unwrap_or_else(|| "::".to_owned()),
        exit: table.get("exit").map(exits).transpose()?.unwrap_or_default(),
        env,
        cwd: table.get("cwd").map(|value| folder("cwd", value)).transpose()?,
        files: files(table)?,
        detect: detect(table)?,
        coverage: table.get("coverage").map(coverage).transpose()?,
        cargo_targets: cargo_targets(table)?,
        stacks: table
            .get("stacks")
            .map(|value| file_name("stacks", value))
            .transpose()?,
    };
    Ok(spec)
}

/// A report that is named in the command must be read, and one that is to be read must be named.
fn check_report_word(
    key: &str,
    items: &[Arg],
    report: &ReportPlace,
    env: &BTreeMap<String, Template>,
) -> Result<(), Fault> {
    let place = |placeholder: Placeholder| matches!(&report.source, Source::File(word) if word.placeholders().any(|one| one == placeholder));
    let told = |placeholder: Placeholder| {
        let in_env = env
            .values()
            .any(|word| word.placeholders().any(|one| one == placeholder));
        in_env || has(items, placeholder)
    };
    if has(items, Placeholder::Report) && !place(Placeholder::Report) {
        return Err(Fault::new(
            key,
            "names {report}, which nothing reads",
            "write `path = \"{report}\"` under `report`",
        ));
    }
    // A new folder for each run: a command that hears of it nowhere cannot leave anything in it.
    let in_scratch = place(Placeholder::Report) || place(Placeholder::Scratch);
    if in_scratch && !told(Placeholder::Report) && !told(Placeholder::Scratch) {
        return Err(Fault::new(
            key,
            "does not say where the report is to be written: {report} stands neither in it nor in `env`, so no report could \
             ever be found",
            "hand {report} to the option that names the report's file, such as \"--output={report}\"; or, if the command \
             always writes to one place, name that: `report = { format = \"…\", path = \"out/report.xml\" }`",
        ));
    }
    Ok(())
}

fn report_place(key: &str, value: &Value) -> Result<ReportPlace, Fault> {
    let table = map(key, value, "format = \"junit\", path = \"{report}\"")?;
    known_keys(key, table, &["format", "path"])?;
    let names = Format::names();
    let format = table.get("format").ok_or_else(|| {
        let hint = format!("add `format = \"…\"`, one of: {}", names.join(", "));
        Fault::new(key, "the key `format` is missing", hint)
    })?;
    let format_key = below(key, "format");
    let name = string(&format_key, format)?;
    let format = Format::named(name).ok_or_else(|| {
        let hint = suggest(name, &names, "formats");
        Fault::new(format_key, format!("there is no report format `{name}`"), hint)
    })?;
    let path_key = below(key, "path");
    let source = match table.get("path") {
        None if format.streams() => Source::Stdout,
        None => Source::File(Template(vec![Segment::Placeholder(Placeholder::Report)])),
        Some(path) => match string(&path_key, path)? {
            "stdout" => Source::Stdout,
            "channel" if format.streams() => Source::Channel,
            "channel" => {
                let hint = "write `path = \"{report}\"`";
                return Err(Fault::new(path_key, "a report in one segment needs a file", hint));
            }
            _ => Source::File(report_path(&path_key, path)?),
        },
    };
    Ok(ReportPlace { format, source })
}

fn report_path(key: &str, value: &Value) -> Result<Template, Fault> {
    let word = word(key, value)?;
    let fits = |placeholder: &Placeholder| match placeholder {
        Placeholder::Scratch => true,
        Placeholder::Coverage => key == "coverage.path",
        placeholder => *placeholder == Placeholder::Report && key != "coverage.path",
    };
    if let Some(placeholder) = word.placeholders().find(|placeholder| !fits(placeholder)) {
        return Err(Fault::new(
            key,
            format!("{{{}}} cannot be part of a report's path", placeholder.name()),
            "write \"{report}\", \"stdout\", or a path relative to the working folder",
        ));
    }
    if let [Segment::Text(path)] = word.0.as_slice() {
        plain_path(key, path)?;
    }
    Ok(word)
}

fn plain_path(key: &str, text: &str) -> Result<PathBuf, Fault> {
    let path = Path::new(text);
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if text.is_empty() || !path.components().all(plain) {
        let hint = "write a path relative to the suite's folder, without `..`";
        return Err(Fault::new(
            key,
            format!("{text:?} leads out of the suite's folder"),
            hint,
        ));
    }
    Ok(path.to_owned())
}

fn folder(key: &str, value: &Value) -> Result<PathBuf, Fault> {
    plain_path(key, string(key, value)?)
}

fn listing(table: &Map<String, Value>, env: &BTreeMap<String, Template>) -> Result<Option<Listing>, Fault> {
    let Some(list) = table.get("list") else {
        return match table.get("list_report") {
            None => Ok(None),
            Some(_) => Err(Fault::new(
                "list_report",
                "describes a listing, and there is no `list`",
                "add the command that lists the tests: `list = [\"program\", \"--list\"]`",
            )),
        };
    };
    let items = command("list", list)?;
    let report = match table.get("list_report") {
        Some(report) => report_place("list_report", report)?,
        None => ReportPlace {
            format: Format::Lines,
            source: Source::Stdout,
        },
    };
    check_report_word("list", &items, &report, env)?;
    Ok(Some(Listing { items, report }))
}

fn coverage(value: &Value) -> Result<CoverageSpec, Fault> {
    let table = map(
        "coverage",
        value,
        "format = \"lcov\", path = \"{coverage}\", args = [\"…\"]",
    )?;
    known_keys("coverage", table, &["format", "path", "args"])?;
    let names = COVERAGE_FORMATS.map(|(name, _)| name);
    let Some(format) = table.get("format") else {
        let hint = format!("add `format = \"…\"`, one of: {}", names.join(", "));
        return Err(Fault::new("coverage", "the key `format` is missing", hint));
    };
    let name = string("coverage.format", format)?;
    let found = COVERAGE_FORMATS.iter().find(|(known, _)| *known == name);
    let format: CoverageFormat = found.map(|(_, format)| *format).ok_or_else(|| {
        let hint = suggest(name, names, "formats");
        Fault::new(
            "coverage.format",
            format!("there is no coverage format `{name}`"),
            hint,
        )
    })?;
    let Some(args) = table.get("args") else {
        let hint = "add the words that make the command measure: `args = [\"--coverage\"]`";
        return Err(Fault::new("coverage", "the key `args` is missing", hint));
    };
    let args = items("coverage.args", args)?;
    check_placeholders("coverage.args", &args)?;
    let path = match table.get("path") {
        None => Template(vec![Segment::Placeholder(Placeholder::Coverage)]),
        Some(path) => report_path("coverage.path", path)?,
    };
    Ok(CoverageSpec { format, path, args })
}

fn exits(value: &Value) -> Result<Exits, Fault> {
    let table = map("exit", value, "ok = [0], failed = [1]")?;
    known_keys("exit", table, &["ok", "failed", "none", "usage"])?;
    let mut seen: BTreeMap<i32, &str> = BTreeMap::new();
    let mut codes = |name: &'static str| -> Result<Option<Vec<i32>>, Fault> {
        let Some(value) = table.get(name) else {
            return Ok(None);
        };
        let key = below("exit", name);
        let items = value.as_array().ok_or_else(|| {
            Fault::new(
                &*key,
                "must be a list of exit codes",
                format!("write `{name} = [1]`"),
            )
        })?;
        let mut codes = Vec::new();
        for (number, item) in items.iter().enumerate() {
            let key = format!("{key}[{number}]");
            let code = item.as_i64().filter(|code| (0..=255).contains(code));
            let code = code.ok_or_else(|| {
                Fault::new(
                    &*key,
                    "is no exit code",
                    "exit codes are whole numbers from 0 to 255",
                )
            })? as i32;
            if let Some(other) = seen.insert(code, name) {
                let hint = "an exit code has one meaning";
                return Err(Fault::new(
                    key,
                    format!("{code} stands under `{other}` too"),
                    hint,
                ));
            }
            codes.push(code);
        }
        Ok(Some(codes))
    };
    let none = codes("none")?.unwrap_or_default();
    let usage = codes("usage")?.unwrap_or_default();
    let failed = codes("failed")?;
    let ok = codes("ok")?.unwrap_or_else(|| vec![0]);
    Ok(Exits {
        ok,
        failed,
        none,
        usage,
    })
}

fn environment(table: &Map<String, Value>) -> Result<BTreeMap<String, Template>, Fault> {
    let Some(value) = table.get("env") else {
        return Ok(BTreeMap::new());
    };
    let mut env = BTreeMap::new();
    for (name, value) in map("env", value, "CI = \"1\"")? {
        let key = below("env", name);
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(Fault::new(
                key,
                "is not the name of a variable",
                "letters, digits and `_`",
            ));
        }
        let word = word(&key, value)?;
        let always =
            |placeholder: &Placeholder| matches!(placeholder, Placeholder::Report | Placeholder::Scratch);
        if let Some(placeholder) = word.placeholders().find(|placeholder| !always(placeholder)) {
            return Err(Fault::new(
                key,
                format!("{{{}}} cannot stand in a variable", placeholder.name()),
                "{report} and {scratch} can",
            ));
        }
        env.insert(name.clone(), word);
    }
    Ok(env)
}

fn files(table: &Map<String, Value>) -> Result<Vec<ScratchFile>, Fault> {
    let Some(value) = table.get("files") else {
        return Ok(Vec::new());
    };
    let mut files = Vec::new();
    for (name, contents) in map("files", value, "\"reporter.js\" = \"…\"")? {
        let key = below("files", name);
        plain_name(&key, name)?;
        files.push(ScratchFile {
            path: name.into(),
            contents: string(&key, contents)?.to_owned(),
        });
    }
    Ok(files)
}

fn cargo_targets(table: &Map<String, Value>) -> Result<bool, Fault> {
    match table
        .get("targets")
        .map(|value| string("targets", value))
        .transpose()?
    {
        None => Ok(false),
        Some("cargo") => Ok(true),
        Some(other) => Err(Fault::new(
            "targets",
            format!("there are no targets `{other}`"),
            "write \"cargo\", or leave it out",
        )),
    }
}

/// A file in the scratch.
fn plain_name(key: &str, name: &str) -> Result<(), Fault> {
    if Path::new(name).components().count() == 1 && !name.starts_with('.') {
        return Ok(());
    }
    Err(Fault::new(
        key,
        "is not a plain file name",
        "the file is laid at {scratch}/NAME",
    ))
}

fn file_name(key: &str, value: &Value) -> Result<String, Fault> {
    let name = string(key, value)?;
    plain_name(key, name)?;
    Ok(name.to_owned())
}

fn needs(run: &[Arg], table: &Map<String, Value>) -> Result<Vec<Need>, Fault> {
    let mut needs = Vec::new();
    if let Some(Arg::Template(Template(segments))) = run.first() {
        match segments.as_slice() {
            [Segment::Placeholder(Placeholder::Python)] => needs.push(Need::Python),
            [Segment::Text(program)] if !program.contains('/') => needs.push(Need::Program(program.clone())),
            _ => {}
        }
    }
    let Some(value) = table.get("needs") else {
        return Ok(needs);
    };
    for (number, text) in strings("needs", value)?.into_iter().enumerate() {
        let need = match text.split_once(':') {
            Some(("program", name)) if !name.is_empty() => Need::Program(name.to_owned()),
            Some(("package", name)) if !name.is_empty() => Need::NodePackage(name.to_owned()),
            Some(("python", name)) if !name.is_empty() => Need::PythonPackage(name.to_owned()),
            _ => {
                return Err(Fault::new(
                    format!("needs[{number}]"),
                    format!("{text:?} is no need"),
                    "write \"program:NAME\", \"package:NAME\" (node_modules) or \"python:NAME\"",
                ));
            }
        };
        needs.push(need);
    }
    Ok(needs)
}

/// Reads `detect` of a table: what shows that a folder has tests for it.
pub fn detect(table: &Map<String, Value>) -> Result<Vec<Marker>, Fault> {
    let Some(value) = table.get("detect") else {
        return Ok(Vec::new());
    };
    let markers = strings("detect", value)?.into_iter().enumerate();
    let marker = |(number, text): (usize, &str)| match text.split_once(':') {
        Some(("package", name)) if !name.is_empty() => Ok(Marker::NodePackage(name.to_owned())),
        Some(("script", words)) if !words.is_empty() => Ok(Marker::NodeScript(words.to_owned())),
        None if !text.is_empty() && !text.contains('/') => Ok(Marker::File(text.to_owned())),
        _ => Err(Fault::new(
            format!("detect[{number}]"),
            format!("{text:?} is nothing that can be looked for"),
            "write a file's name (\"Gemfile\"), \"package:NAME\" or \"script:WORDS\" (of package.json)",
        )),
    };
    markers.map(marker).collect()
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
