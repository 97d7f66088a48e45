//! From a request to pytest's command lines.
//!
//! Always `INTERPRETER -m pytest`. What is added here changes no test's result: no terminal width, no plug-in
//! switched off, and pytest's cache is moved (if asked for), never disabled, so that `--lf` in a project's own
//! configuration keeps working.

use std::path::Path;

use runner_core::backend::{BackendError, Mode, RunRequest};
use runner_core::facts::Project;
use runner_core::nodeid::NodeId;
use runner_core::plan::{Plan, ScratchFile, Step, step_name};

use crate::options::{PytestVersion, pytest_version};

/// The most bytes of selected ids that are put on a command line as they are. Linux takes about 2 MB with the
/// environment, macOS half of that.
const INLINE_BYTES: usize = 128 * 1024;

/// The most bytes of ids for one step where pytest cannot read them from a file.
const STEP_BYTES: usize = 512 * 1024;

/// The name of the step (of the first, where a selection needs several).
pub const STEP_NAME: &str = "pytest";

/// The plan of a pytest run without anything that is one backend's own. `last` is put behind all arguments of the
/// suite and of the caller, so that an absolute option there (`--verbosity=1`) holds, and in front of the selectors.
///
/// One step, except for selections too long for a command line with a pytest that cannot read them from a file:
/// those become several sessions, one after another.
pub fn base_plan(request: &RunRequest, project: &Project, last: &[String]) -> Result<Plan, BackendError> {
    let interpreter = project.interpreter.as_ref().ok_or_else(|| {
        BackendError::new("no_interpreter", "no Python interpreter was found for this suite").with_hint(
            "make a virtual environment in the project (`python3 -m venv .venv`), or name one with `--python PATH`",
        )
    })?;
    let options = option_words(request, project, last);
    let step = |number: usize, selectors: Vec<String>| Step {
        name: step_name(STEP_NAME, number),
        program: interpreter.path.clone(),
        launcher: vec!["-m".to_owned(), "pytest".to_owned()],
        args: options.iter().cloned().chain(selectors).collect(),
        cwd: request.cwd.clone(),
        always: number > 0,
        ..Step::default()
    };
    let (files, groups) = selector_groups(request, project);
    Ok(Plan {
        files,
        steps: groups
            .into_iter()
            .enumerate()
            .map(|(number, words)| step(number, words))
            .collect(),
        artifacts: Vec::new(),
    })
}

/// All arguments but the selectors, `last` behind the others.
pub fn option_words(request: &RunRequest, project: &Project, last: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(folder) = &request.cache_dir {
        words.extend(["-o".to_owned(), format!("cache_dir={}", folder.display())]);
    }
    let has_key =
        pytest_version(project).is_some_and(|version| version >= PytestVersion::ASSERTION_VERBOSITY);
    if request.filters.full_texts && has_key {
        // Before the suite's own words, which may say otherwise. `-vv` would change what the terminal plug-in prints, too.
        words.extend(["-o".to_owned(), "verbosity_assertions=2".to_owned()]);
    }
    words.extend(request.option_list("args"));
    // One word each (`-k=…`): as a word of its own an expression could be taken for an option (`-x`) or, since
    // pytest 8.2, for the name of a file with arguments (`@file`).
    if let Some(expression) = keyword(request) {
        words.push(format!("-k={expression}"));
    }
    if let Some(markers) = &request.filters.markers {
        words.push(format!("-m={markers}"));
    }
    if let Some(count) = request.filters.max_failures {
        words.push(format!("--maxfail={count}"));
    }
    if let Some(workers) = &request.filters.workers {
        words.extend(["-n".to_owned(), workers.clone()]);
    }
    words.extend(request.filters.extra_args.iter().cloned());
    if request.mode == Mode::List {
        words.push("--collect-only".to_owned());
    }
    words.extend(last.iter().cloned());
    words
}

/// The selection's keyword expressions and the caller's own: both must hold.
fn keyword(request: &RunRequest) -> Option<String> {
    match (request.selection.keyword(), request.filters.keyword.clone()) {
        (Some(selected), Some(asked)) => Some(format!("({selected}) and ({asked})")),
        (selected, asked) => selected.or(asked),
    }
}

/// The selectors of each step, and the argument file if they stand in one.
fn selector_groups(request: &RunRequest, project: &Project) -> (Vec<ScratchFile>, Vec<Vec<String>>) {
    let words = selector_words(request);
    if bytes(&words) <= INLINE_BYTES {
        return (Vec::new(), vec![words]);
    }
    let by_file = pytest_version(project).is_some_and(|version| version >= PytestVersion::ARGUMENT_FILES);
    // An argument file holds one word a line, so a word with a line end cannot stand in it.
    if by_file && !words.iter().any(|word| word.contains(['\n', '\r'])) {
        let file = ScratchFile {
            path: "selected.txt".into(),
            contents: words.join("\n") + "\n",
        };
        let word = format!("@{}", request.scratch.join(&file.path).display());
        return (vec![file], vec![vec![word]]);
    }
    (Vec::new(), split(words))
}

fn split(words: Vec<String>) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut size = STEP_BYTES;
    for word in words {
        if size + word.len() > STEP_BYTES {
            groups.push(Vec::new());
            size = 0;
        }
        size += word.len() + 1;
        groups
            .last_mut()
            .expect("a group was pushed for the first word")
            .push(word);
    }
    groups
}

fn bytes(words: &[String]) -> usize {
    words.iter().map(|word| word.len() + 1).sum()
}

/// Selected files and tests, or the suite's own paths where none are selected.
fn selector_words(request: &RunRequest) -> Vec<String> {
    let selected = request.selection.words();
    let words = if selected.is_empty() {
        request.paths.clone()
    } else {
        selected
    };
    words
        .into_iter()
        .map(without_group)
        .map(never_an_option)
        .collect()
}

/// xdist's `--dist loadgroup` writes a test's group behind its nodeid (`test_a.py::test_x[1]@group`), where pytest knows
/// no test. In front of a parameter stand only identifiers, and behind it nothing.
fn without_group(mut word: String) -> String {
    let id = NodeId::of(&word);
    if let Some(rest) = id.names()
        && Path::new(id.file())
            .extension()
            .is_some_and(|extension| extension == "py")
    {
        let names = word.len() - rest.len();
        let end = rest.rfind(']').map_or(names, |at| names + at);
        let group = word[end..].find('@').map(|at| end + at);
        if let Some(at) = group.filter(|&at| !word[..at].ends_with("::")) {
            word.truncate(at);
        }
    }
    word
}

/// A file's name may begin like an option or an argument file; as a path it does not.
fn never_an_option(word: String) -> String {
    if word.starts_with(['-', '@']) {
        format!("./{word}")
    } else {
        word
    }
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
