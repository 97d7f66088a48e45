//! What the placeholders of a command line stand for.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use runner_core::backend::{BackendError, RunRequest};
use runner_core::facts::Project;
use runner_core::plan::{Artifact, Plan};

use crate::cargo::unit_marker;
use crate::layout::{Asked, COVERAGE, IDS_FILE, keyword, report_file};
use crate::pattern::quoted;
use crate::selected::{Aim, Filter, Selected};
use crate::spec::{CoverageSpec, Spec, has};
use crate::template::{Arg, Placeholder, Segment, Template};

/// What the placeholders stand for in one step.
pub(crate) struct Values {
    pub(crate) number: usize,
    pub(crate) single: BTreeMap<&'static str, String>,
    lists: BTreeMap<&'static str, Vec<String>>,
    /// What {id}, {file} and {name} stand for in a group, for each that is selected in turn.
    each: Vec<BTreeMap<&'static str, String>>,
    pub(crate) cwd: PathBuf,
    pub(crate) scratch: PathBuf,
    pub(crate) program: BTreeMap<String, PathBuf>,
    pub(crate) python: Option<PathBuf>,
}

impl Values {
    pub(crate) fn new(
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
        let mut set = |placeholder: Placeholder, value: Option<String>| {
            if let Some(value) = value {
                single.insert(placeholder.name(), value);
            }
        };
        let report = report_file(&request.scratch, asked.report, number);
        set(Placeholder::Report, Some(report.display().to_string()));
        set(Placeholder::Scratch, Some(request.scratch.display().to_string()));
        set(Placeholder::Keyword, keyword(request).ok().flatten());
        set(Placeholder::Markers, request.filters.markers.clone());
        set(
            Placeholder::MaxFailures,
            request.filters.max_failures.map(|count| count.to_string()),
        );
        set(Placeholder::Workers, request.filters.workers.clone());
        // A whole file beside single tests would be narrowed to nothing by a pattern of the tests.
        let only_tests = names.len() == ids.len() && !names.is_empty();
        let names = with_namesakes(names);
        set(
            Placeholder::RegexOfIds,
            only_tests.then(|| pattern(&names, &spec.separator)),
        );
        let file = request.scratch.join(IDS_FILE).display().to_string();
        set(Placeholder::IdsFile, (!ids.is_empty()).then_some(file));
        if let [id] = ids.as_slice() {
            single.extend(of_one(id, name_in(id)));
        }
        // Beside whole files no name is narrowed to, as in a pattern.
        let each = ids
            .iter()
            .flat_map(|id| with_each_namesake(id, name_in(id).filter(|_| only_tests)))
            .collect();
        let mut args = request.option_list("args");
        args.extend(request.filters.extra_args.iter().cloned());
        set_aim(&mut single, &ids, project);
        let target = ids.first().map(|id| id.aim.target.clone()).unwrap_or_default();
        let filters = filters(&ids);
        let words = ids.into_iter().map(|id| id.word).collect();
        let names = if only_tests { names } else { Vec::new() };
        let lists = [
            (Placeholder::Ids, words),
            (Placeholder::Files, files),
            (Placeholder::Names, names),
            (Placeholder::Args, args),
            (Placeholder::Target, target),
            (Placeholder::Filters, filters),
        ];
        Self {
            number,
            single,
            lists: lists
                .into_iter()
                .map(|(placeholder, list)| (placeholder.name(), list))
                .collect(),
            each,
            cwd: spec
                .cwd
                .as_ref()
                .map_or_else(|| request.cwd.clone(), |cwd| request.cwd.join(cwd)),
            scratch: request.scratch.clone(),
            program: project.programs.clone(),
            python: project.interpreter.as_ref().map(|python| python.path.clone()),
        }
    }

    /// Puts the words that make the command measure in front of those for the framework.
    pub(crate) fn measure(
        &mut self,
        coverage: &CoverageSpec,
        request: &RunRequest,
        plan: &mut Plan,
    ) -> Result<(), BackendError> {
        let path = request.scratch.join("coverage.out").display().to_string();
        self.single.insert(Placeholder::Coverage.name(), path);
        let mut words = self.words(&coverage.args)?;
        let args = self.lists.entry(Placeholder::Args.name()).or_default();
        words.append(args);
        *args = words;
        plan.artifacts.push(Artifact {
            name: COVERAGE.to_owned(),
            path: self.cwd.join(self.text(&coverage.path).unwrap_or_default()),
        });
        Ok(())
    }

    /// A word's text; `None` if a placeholder in it has no value.
    pub(crate) fn text(&self, word: &Template) -> Option<String> {
        self.text_with(word, &self.single)
    }

    fn text_with(&self, word: &Template, single: &BTreeMap<&'static str, String>) -> Option<String> {
        let mut text = String::new();
        for segment in &word.0 {
            match segment {
                Segment::Text(plain) => text.push_str(plain),
                Segment::Placeholder(Placeholder::Python) => {
                    text.push_str(&self.python.as_ref()?.to_string_lossy());
                }
                Segment::Placeholder(placeholder) => text.push_str(single.get(placeholder.name())?),
                Segment::PlaceholderOr(placeholder, other) => {
                    text.push_str(single.get(placeholder.name()).unwrap_or(other));
                }
            }
        }
        Some(text)
    }

    /// The words that a word becomes; `None` if it has no value.
    fn spread(
        &self,
        word: &Template,
        single: &BTreeMap<&'static str, String>,
    ) -> Result<Option<Vec<String>>, BackendError> {
        let placeholder = match word.0.first() {
            Some(Segment::Placeholder(placeholder)) => Some(*placeholder),
            _ => None,
        };
        let words = match placeholder {
            Some(placeholder) if placeholder.spreads() => self
                .lists
                .get(placeholder.name())
                .cloned()
                .filter(|list| !list.is_empty()),
            _ => self.text_with(word, single).map(|text| vec![text]),
        };
        if let Some(placeholder) = placeholder.filter(|placeholder| placeholder.is_selected())
            && let Some(word) = words.iter().flatten().find(|word| is_taken(placeholder, word))
        {
            return Err(BackendError::new(
                "bad_selector",
                format!(
                    "`{word}` would be taken for an option or an argument file, so it cannot be selected"
                ),
            )
            .with_hint("select its file, or what stands around it"));
        }
        Ok(words)
    }

    pub(crate) fn argv(&self, items: &[Arg]) -> Result<Vec<String>, BackendError> {
        let mut argv = self.words(items)?;
        if !has(items, Placeholder::Args) {
            argv.extend(
                self.lists
                    .get(Placeholder::Args.name())
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        }
        Ok(argv)
    }

    fn words(&self, items: &[Arg]) -> Result<Vec<String>, BackendError> {
        let mut argv = Vec::new();
        for item in items {
            if item.is_repeated() {
                argv.extend(self.repeated(item)?);
            } else {
                argv.extend(self.item(item, &self.single)?);
            }
        }
        Ok(argv)
    }

    /// The words that an item becomes.
    fn item(&self, item: &Arg, single: &BTreeMap<&'static str, String>) -> Result<Vec<String>, BackendError> {
        let words = item.words().iter().map(|word| self.spread(word, single));
        let words: Vec<Option<Vec<String>>> = words.collect::<Result<_, _>>()?;
        Ok(match item {
            Arg::Group(_) if words.iter().any(Option::is_none) => Vec::new(),
            _ => words.into_iter().flatten().flatten().collect(),
        })
    }

    /// A group once for each that is selected, and not twice the same: several tests may be in one file.
    fn repeated(&self, item: &Arg) -> Result<Vec<String>, BackendError> {
        let mut all: Vec<Vec<String>> = Vec::new();
        let mut seen = HashSet::new();
        for one in &self.each {
            let mut single = self.single.clone();
            for placeholder in [
                Placeholder::Id,
                Placeholder::File,
                Placeholder::Name,
                Placeholder::Filterset,
            ] {
                single.remove(placeholder.name());
            }
            single.extend(one.clone());
            let words = self.item(item, &single)?;
            if seen.insert(words.clone()) {
                all.push(words);
            }
        }
        Ok(all.concat())
    }
}

fn set_aim(single: &mut BTreeMap<&'static str, String>, ids: &[Selected], project: &Project) {
    if let Some(marker) = unit_marker(project) {
        single.insert(Placeholder::UnitMarker.name(), marker);
    }
    if let [
        Selected {
            aim: Aim {
                filterset: Some(set), ..
            },
            ..
        },
    ] = ids
    {
        single.insert(Placeholder::Filterset.name(), set.clone());
    }
}

/// Names are whole names.
const EXACT: &str = "--exact";

/// libtest's words for tests of one target.
fn filters(ids: &[Selected]) -> Vec<String> {
    let exact = ids.iter().any(|id| matches!(id.aim.filter, Filter::Exact(_)));
    let names = ids.iter().filter_map(|id| match &id.aim.filter {
        Filter::All => None,
        Filter::Exact(name) | Filter::Part(name) => Some(name.clone()),
    });
    exact
        .then(|| "--exact".to_owned())
        .into_iter()
        .chain(names)
        .collect()
}

/// The same for a name and those that it may be known by to the framework.
fn with_each_namesake(id: &Selected, name: Option<String>) -> Vec<BTreeMap<&'static str, String>> {
    let Some(name) = name else {
        return vec![of_one(id, None)];
    };
    let names = with_namesakes(vec![name]).into_iter();
    names.map(|name| of_one(id, Some(name))).collect()
}

/// What the placeholders of one test stand for. A whole file has no name, a name may have no file.
fn of_one(id: &Selected, name: Option<String>) -> BTreeMap<&'static str, String> {
    let file = Some(id.file.clone()).filter(|file| !file.is_empty());
    let values = [
        (Placeholder::Id, Some(id.word.clone())),
        (Placeholder::File, file),
        (Placeholder::Name, name),
        (Placeholder::Filterset, id.aim.filterset.clone()),
    ];
    values
        .into_iter()
        .filter_map(|(placeholder, value)| Some((placeholder.name(), value?)))
        .collect()
}

/// Whether a program may take a selected word for something else: an option, or (javac, MSBuild and others) `@FILE`, a
/// file of further arguments. A keyword may well begin with `@`: tags of behave and Playwright do.
fn is_taken(placeholder: Placeholder, word: &str) -> bool {
    match placeholder {
        // Ours, in front of the names.
        Placeholder::Filters if word == EXACT => false,
        Placeholder::Keyword => word.starts_with('-'),
        _ => word.starts_with(['-', '@']),
    }
}

/// A second test of one name has a number that qaas gave it (`adds[2]`); the framework knows it by the name alone.
fn with_namesakes(names: Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        let number = name.strip_suffix(']').and_then(|name| name.rsplit_once('['));
        let base = number.filter(|(_, number)| number.parse::<u32>().is_ok_and(|number| number > 1));
        let base = base.map(|(base, _)| base.to_owned());
        for name in std::iter::once(name).chain(base) {
            all.push(name);
        }
    }
    all
}

/// A pattern that matches exactly these names, each quoted.
fn pattern(names: &[String], separator: &str) -> String {
    // Jest and vitest match the suites' names joined by a blank. A `::` may be part of a name too (`describe("a::b")`), so
    // both must match; what matches beyond the selection is dropped when read.
    let separator = match separator {
        "::" => "::".to_owned(),
        separator => format!("(?:::|{})", quoted(separator)),
    };
    let pattern = |name: &String| {
        let parts: Vec<String> = name.split("::").map(quoted).collect();
        parts.join(&separator)
    };
    let patterns: Vec<String> = names.iter().map(pattern).collect();
    format!("^(?:{})$", patterns.join("|"))
}
