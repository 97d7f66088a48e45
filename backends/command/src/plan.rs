//! From a request to command lines.

use std::collections::BTreeMap;
use std::path::Path;

use runner_core::backend::{BackendError, Capability, Mode, RunRequest};
use runner_core::facts::Project;
use runner_core::plan::{Artifact, Plan, ScratchFile, StdoutUse, Step};
use runner_core::selector::Selector;

use crate::spec::{ReportPlace, Source, Spec, has};
use crate::words::{Item, Piece, Slot, Word};

/// The most bytes of selected ids in one command line; a longer selection becomes several steps. Linux takes
/// 128 KiB in one word, and quoting for a pattern may double an id.
const STEP_BYTES: usize = 48 * 1024;

/// What a request comes to for this backend.
struct Asked<'a> {
    items: &'a [Item],
    report: &'a ReportPlace,
}

/// The plan of a request.
pub(crate) fn plan(
    name: &str,
    spec: &Spec,
    request: &RunRequest,
    project: &Project,
) -> Result<Plan, BackendError> {
    let asked = asked(name, spec, request)?;
    check(name, &asked, request)?;
    let ids = words(request, &project.dir);
    let by_file = has(asked.items, Slot::IdsFile);
    let groups = if by_file { vec![ids] } else { split(ids) };
    let many = groups.len() > 1;
    if many && matches!(&asked.report.source, Source::File(word) if word.slots().next().is_none()) {
        return Err(BackendError::new(
            "too_many_ids",
            format!("the selection is too long for one command line of `{name}`"),
        )
        .with_hint("use {ids_file} in `run`, or {report} as the report's path"));
    }
    let mut plan = Plan {
        files: spec.files.clone(),
        ..Plan::default()
    };
    for (number, ids) in groups.into_iter().enumerate() {
        if by_file && !ids.is_empty() {
            plan.files.push(ScratchFile {
                path: IDS_FILE.into(),
                contents: ids.iter().map(|id| id.word.clone() + "\n").collect(),
            });
        }
        let values = Values::new(spec, &asked, request, project, ids, number);
        add_step(&mut plan, name, spec, &asked, &values)?;
    }
    Ok(plan)
}

const IDS_FILE: &str = "selected.txt";

/// The name of the step of this number, counted from 0.
pub(crate) fn step_name(name: &str, number: usize) -> String {
    match number {
        0 => name.to_owned(),
        later => format!("{name} ({})", later + 1),
    }
}

/// The artifact that is the report of the step of this number.
pub(crate) fn report_name(number: usize) -> String {
    format!("report {}", number + 1)
}

fn asked<'a>(name: &str, spec: &'a Spec, request: &RunRequest) -> Result<Asked<'a>, BackendError> {
    if request.mode == Mode::List {
        let list = spec
            .list
            .as_ref()
            .ok_or_else(|| BackendError::unsupported(name, Capability::List))?;
        return Ok(Asked {
            items: &list.items,
            report: &list.report,
        });
    }
    let one = matches!(request.selection.selectors.as_slice(), [Selector::Node { .. }]);
    let items = match &spec.single {
        Some(single) if one => single,
        _ => &spec.run,
    };
    Ok(Asked {
        items,
        report: &spec.report,
    })
}

/// Refuses what the command line has no place for: silently running something else would be a lie.
fn check(name: &str, asked: &Asked<'_>, request: &RunRequest) -> Result<(), BackendError> {
    let rows = [
        (keyword(request)?.is_some(), Slot::Keyword, "keyword expressions"),
        (request.markers.is_some(), Slot::Markers, "marker expressions"),
        (
            request.max_failures.is_some(),
            Slot::MaxFailures,
            "a number of failures to stop after",
        ),
        (request.workers.is_some(), Slot::Workers, "a number of workers"),
    ];
    for (wanted, slot, what) in rows {
        if wanted && request.mode == Mode::Run && !has(asked.items, slot) {
            return Err(
                BackendError::new("unsupported", format!("backend `{name}` takes no {what}"))
                    .with_hint("run without it, or name another backend with --backend NAME"),
            );
        }
    }
    let narrowing = [
        Slot::Ids,
        Slot::Files,
        Slot::Names,
        Slot::RegexOfIds,
        Slot::IdsFile,
        Slot::Id,
        Slot::File,
        Slot::Name,
    ];
    let narrows = narrowing.iter().any(|slot| has(asked.items, *slot));
    let named = request
        .selection
        .selectors
        .iter()
        .any(|selector| !matches!(selector, Selector::Keyword { .. }));
    if named && !narrows && request.mode == Mode::Run {
        return Err(BackendError::new(
            "unsupported",
            format!("backend `{name}` runs all tests or none: its command has no place for ids"),
        )
        .with_hint("add {ids...}, {files...} or {regex_of_ids} to its `run`"));
    }
    let pattern = has(asked.items, Slot::RegexOfIds)
        && request
            .selection
            .selectors
            .iter()
            .any(|s| matches!(s, Selector::Node { .. }));
    if pattern && keyword(request)?.is_some() {
        return Err(BackendError::new(
            "unsupported",
            format!("backend `{name}` takes ids or a keyword expression, not both"),
        )
        .with_hint("leave one of them out"));
    }
    Ok(())
}

/// The one keyword expression; frameworks do not share a way to join several.
fn keyword(request: &RunRequest) -> Result<Option<String>, BackendError> {
    let selected = request
        .selection
        .selectors
        .iter()
        .filter_map(|selector| match selector {
            Selector::Keyword { expression } => Some(expression),
            _ => None,
        });
    let mut all = selected.chain(&request.keyword);
    match (all.next(), all.next()) {
        (first, None) => Ok(first.cloned()),
        _ => Err(
            BackendError::new("unsupported", "one keyword expression at a time, please")
                .with_hint("join them into one, in the framework's own language"),
        ),
    }
}

/// One selected file or test.
#[derive(Clone, Debug)]
struct Selected {
    /// As it was selected.
    word: String,
    file: String,
    /// Without its file; `None` for a whole file.
    name: Option<String>,
}

fn words(request: &RunRequest, suite_dir: &Path) -> Vec<Selected> {
    let whole = |path: &str| Selected {
        word: path.to_owned(),
        file: path.to_owned(),
        name: None,
    };
    let selected: Vec<Selected> = request
        .selection
        .selectors
        .iter()
        .filter_map(|selector| match selector {
            Selector::Path { path } => Some(whole(path)),
            Selector::Node { path, rest } => Some(Selected {
                word: selector.as_word(),
                file: path.clone(),
                name: Some(rest.strip_prefix("::").unwrap_or(rest).to_owned()),
            }),
            Selector::Keyword { .. } => None,
        })
        .collect();
    if selected.is_empty() && request.cwd == suite_dir {
        return request.paths.iter().map(|path| whole(path)).collect();
    }
    selected
}

fn split(ids: Vec<Selected>) -> Vec<Vec<Selected>> {
    let mut groups = vec![Vec::new()];
    let mut size = 0;
    for id in ids {
        size += id.word.len() + 1;
        if size > STEP_BYTES && groups.last().is_some_and(|group| !group.is_empty()) {
            groups.push(Vec::new());
            size = id.word.len() + 1;
        }
        groups.last_mut().expect("there is always one").push(id);
    }
    groups
}

/// What the placeholders stand for in one step.
struct Values {
    number: usize,
    single: BTreeMap<&'static str, String>,
    lists: BTreeMap<&'static str, Vec<String>>,
    cwd: std::path::PathBuf,
    program: BTreeMap<String, std::path::PathBuf>,
    python: Option<std::path::PathBuf>,
}

impl Values {
    fn new(
        spec: &Spec,
        asked: &Asked<'_>,
        request: &RunRequest,
        project: &Project,
        ids: Vec<Selected>,
        number: usize,
    ) -> Self {
        let name_in = |id: &Selected| {
            let name = id.name.as_ref()?;
            // An id without a file of its own is taken apart by its template.
            Some(if id.file.is_empty() {
                spec.id.name_in(name).to_owned()
            } else {
                name.clone()
            })
        };
        let names: Vec<String> = ids.iter().filter_map(name_in).collect();
        let mut files: Vec<String> = Vec::new();
        for id in ids.iter().filter(|id| !id.file.is_empty()) {
            if !files.contains(&id.file) {
                files.push(id.file.clone());
            }
        }
        let mut single = BTreeMap::new();
        let mut set = |slot: Slot, value: Option<String>| {
            if let Some(value) = value {
                single.insert(slot.name(), value);
            }
        };
        let extension = asked.report.format.extension();
        let report = request.scratch.join(format!("report-{}.{extension}", number + 1));
        set(Slot::Report, Some(report.display().to_string()));
        set(Slot::Scratch, Some(request.scratch.display().to_string()));
        set(Slot::Keyword, keyword(request).ok().flatten());
        set(Slot::Markers, request.markers.clone());
        set(
            Slot::MaxFailures,
            request.max_failures.map(|count| count.to_string()),
        );
        set(Slot::Workers, request.workers.clone());
        // A whole file beside single tests would be narrowed to nothing by a pattern of the tests.
        let only_tests = names.len() == ids.len() && !names.is_empty();
        set(Slot::RegexOfIds, only_tests.then(|| pattern(&names, &spec.joint)));
        let file = request.scratch.join(IDS_FILE).display().to_string();
        set(Slot::IdsFile, (!ids.is_empty()).then_some(file));
        if let [id] = ids.as_slice() {
            set(Slot::Id, Some(id.word.clone()));
            set(Slot::File, Some(id.file.clone()));
            set(Slot::Name, name_in(id));
        }
        let mut args = request.option_list("args");
        args.extend(request.extra_args.iter().cloned());
        let words = ids.into_iter().map(|id| id.word).collect();
        let names = if only_tests { names } else { Vec::new() };
        let lists = [
            (Slot::Ids, words),
            (Slot::Files, files),
            (Slot::Names, names),
            (Slot::Args, args),
        ];
        Self {
            number,
            single,
            lists: lists
                .into_iter()
                .map(|(slot, list)| (slot.name(), list))
                .collect(),
            cwd: spec
                .cwd
                .as_ref()
                .map_or_else(|| request.cwd.clone(), |cwd| request.cwd.join(cwd)),
            program: project.programs.clone(),
            python: project.interpreter.as_ref().map(|python| python.path.clone()),
        }
    }

    /// A word's text; `None` if a placeholder in it has no value.
    fn text(&self, word: &Word) -> Option<String> {
        let mut text = String::new();
        for piece in &word.0 {
            match piece {
                Piece::Text(plain) => text.push_str(plain),
                Piece::Slot(Slot::Python) => text.push_str(&self.python.as_ref()?.to_string_lossy()),
                Piece::Slot(slot) => text.push_str(self.single.get(slot.name())?),
                Piece::SlotOr(slot, other) => text.push_str(self.single.get(slot.name()).unwrap_or(other)),
            }
        }
        Some(text)
    }

    /// The words that a word becomes; `None` if it has no value.
    fn spread(&self, word: &Word) -> Result<Option<Vec<String>>, BackendError> {
        let slot = match word.0.first() {
            Some(Piece::Slot(slot)) => Some(*slot),
            _ => None,
        };
        let words = match slot {
            Some(slot) if slot.spreads() => self
                .lists
                .get(slot.name())
                .cloned()
                .filter(|list| !list.is_empty()),
            _ => self.text(word).map(|text| vec![text]),
        };
        if slot.is_some_and(Slot::is_selected)
            && let Some(option) = words.iter().flatten().find(|word| word.starts_with('-'))
        {
            return Err(BackendError::new(
                "bad_selector",
                format!("`{option}` would be taken for an option, so it cannot be selected"),
            )
            .with_hint("select its file, or what stands around it"));
        }
        Ok(words)
    }

    fn argv(&self, items: &[Item]) -> Result<Vec<String>, BackendError> {
        let mut argv = Vec::new();
        for item in items {
            let words = item.words().iter().map(|word| self.spread(word));
            let words: Vec<Option<Vec<String>>> = words.collect::<Result<_, _>>()?;
            match item {
                Item::Group(_) if words.iter().any(Option::is_none) => {}
                _ => argv.extend(words.into_iter().flatten().flatten()),
            }
        }
        if !has(items, Slot::Args) {
            argv.extend(self.lists.get(Slot::Args.name()).into_iter().flatten().cloned());
        }
        Ok(argv)
    }
}

fn add_step(
    plan: &mut Plan,
    name: &str,
    spec: &Spec,
    asked: &Asked<'_>,
    values: &Values,
) -> Result<(), BackendError> {
    let mut argv = values.argv(asked.items)?.into_iter();
    let program = argv.next().ok_or_else(|| {
        BackendError::new("no_interpreter", "no Python interpreter was found for this suite")
    })?;
    let program = match values.program.get(&program) {
        Some(path) => path.clone(),
        None if program.contains('/') => values.cwd.join(program),
        None => program.into(),
    };
    let env = spec
        .env
        .iter()
        .map(|(name, word)| (name.clone(), values.text(word)));
    let mut step = Step {
        name: step_name(name, values.number),
        program,
        args: argv.collect(),
        env: env.collect(),
        cwd: values.cwd.clone(),
        always: values.number > 0,
        ..Step::default()
    };
    let report = report_name(values.number);
    match &asked.report.source {
        Source::Channel => step.channel = true,
        Source::Stdout if asked.report.format.streams() => {}
        Source::Stdout => {
            let path = values
                .single
                .get(Slot::Report.name())
                .cloned()
                .unwrap_or_default();
            step.stdout = StdoutUse::File(report.clone());
            plan.artifacts.push(Artifact {
                name: report,
                path: path.into(),
            });
        }
        Source::File(word) => {
            let path = values.text(word).unwrap_or_default();
            plan.artifacts.push(Artifact {
                name: report,
                path: values.cwd.join(path),
            });
        }
    }
    plan.steps.push(step);
    Ok(())
}

/// A pattern that matches exactly these names, each quoted.
fn pattern(names: &[String], joint: &str) -> String {
    // A `::` may be part of a name too, so both must match; what matches beyond the selection is dropped when read.
    let joint = match joint {
        "::" => "::".to_owned(),
        joint => format!("(?:::|{})", quoted(joint)),
    };
    let pattern = |name: &String| {
        let parts: Vec<String> = name.split("::").map(quoted).collect();
        parts.join(&joint)
    };
    let patterns: Vec<String> = names.iter().map(pattern).collect();
    format!("^(?:{})$", patterns.join("|"))
}

fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\^$.|?*+()[]{}/".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
