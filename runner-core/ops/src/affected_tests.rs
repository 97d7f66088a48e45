//! `affected_tests`: which test files a change reaches. Reads, runs nothing.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::ToolAnswer;
use super::arguments::Reader;
use super::compare_with_base::Base;
use super::definition::shared::CWD;
use super::definition::{Action, Argument, Called, Definition, Hints, Kind, Needs};
use super::{ErrorKind, NextCall, OpError, Tool, Workspace, cut};
use runner_core::affected::{AffectedTest, AffectedTests, ChangedFile, Question};
use runner_core::paths;

/// How many files the headline and the ready call name.
const MOST_NAMED: usize = 10;
/// How much of a commit's hash a person is shown.
const SHORT_HASH: usize = 10;

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::AffectedTests,
    title: "Tests for a change",
    description: "Which test files a change reaches, best first, with reasons: of these paths, or of what git says has \
        changed. Runs nothing. A heuristic: run everything before saying that nothing broke.",
    hints: Hints::READS,
    needs: Needs::Nothing,
    own: &[
        Argument::new(
            "paths",
            Kind::Strings,
            "Changed files, with lines or not: a.py:3-9",
        ),
        Argument::new("base", Kind::String, "Revision; else HEAD"),
        CWD,
    ],
    action: Action::Read {
        call: |call| {
            Box::pin(async move {
                let arguments = Arguments::from_json(call.arguments)?;
                Ok(Called::answer(run(call.workspace, arguments).await?))
            })
        },
    },
};

/// What may be asked.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// Changed files, relative to the root (or to `cwd`), each with its changed lines (`a.py:3-9,20`) or without. They need
    /// not exist any more. None: what git says has changed.
    pub paths: Vec<String>,
    /// The revision that the change is held against: where HEAD left it.
    pub base: Option<String>,
    pub cwd: Option<String>,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
        let arguments = Self {
            paths: reader.strings("paths")?,
            base: reader.string("base")?,
            cwd: reader.string("cwd")?,
        };
        reader.finish()?;
        Ok(arguments)
    }
}

/// Test files, the likeliest first.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// Always `done`: no test was run.
    pub status: &'static str,
    pub affected: Vec<AffectedTest>,
    /// What git was asked for: which commit, and why that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<Base>,
    /// What git said has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<Vec<String>>,
    /// Always true: a place to start, not a proof.
    pub heuristic: bool,
    /// How many test files were looked at.
    pub searched: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Changed files in languages that are not searched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
}

/// Finds them.
pub async fn run(workspace: &Workspace, arguments: Arguments) -> Result<Answer, OpError> {
    workspace.settings()?;
    let cwd = match &arguments.cwd {
        Some(text) => workspace.folder(text)?,
        None => workspace.root.clone(),
    };
    // Who names a folder means what lies there; who names none, what lies where they stand.
    let paths: Vec<String> = match arguments.cwd {
        None => arguments
            .paths
            .iter()
            .map(|path| workspace.typed_change(path))
            .collect(),
        Some(_) => arguments.paths.clone(),
    };
    let found = find(workspace, &paths, arguments.base.as_deref(), &cwd).await?;
    if found.searched == 0 && found.unread.is_empty() {
        let message = format!(
            "there is no test file of a language that can be searched for them in {}",
            workspace.root.display()
        );
        return Err(OpError::new(ErrorKind::NoTests, "no_tests", message)
            .with_hint("Is this the right repository? `cwd` and `--root` say where to look."));
    }
    Ok(answer(workspace, &arguments, found, &cwd))
}

/// Asks the finder. Paths are those of a caller in `cwd`.
async fn find(
    workspace: &Workspace,
    paths: &[String],
    base: Option<&str>,
    cwd: &Path,
) -> Result<AffectedTests, OpError> {
    let changed: Result<Vec<ChangedFile>, OpError> = paths
        .iter()
        .map(|path| changed(&workspace.root, cwd, path))
        .collect();
    let store = workspace.engine.store.as_ref();
    let question = Question {
        changed: changed?,
        base: base.map(str::to_owned),
        cache: store.and_then(|store| store.derived_dir(&workspace.root).ok()),
    };
    let (finder, root) = (Arc::clone(&workspace.affected), workspace.root.clone());
    let found = tokio::task::spawn_blocking(move || finder.find(&root, &question)).await;
    let found = found.map_err(|error| {
        let message = format!("the search broke off: {error}");
        OpError::new(ErrorKind::Broken, "crashed", message)
    })?;
    Ok(found?)
}

fn answer(workspace: &Workspace, arguments: &Arguments, found: AffectedTests, cwd: &Path) -> Answer {
    let mut affected = found.affected;
    if let Ok(below) = cwd.strip_prefix(&workspace.root)
        && below != Path::new("")
    {
        affected.retain_mut(|test| match Path::new(&test.test_file).strip_prefix(below) {
            Ok(relative) => {
                test.test_file = relative.to_string_lossy().into_owned();
                true
            }
            Err(_) => false,
        });
    }
    let files: Vec<&str> = affected
        .iter()
        .take(MOST_NAMED)
        .map(|test| test.test_file.as_str())
        .collect();
    let next = if !files.is_empty() {
        let call = NextCall::new(Tool::RunSuite, "run the likeliest of them")
            .with("selectors", files)
            .maybe("cwd", arguments.cwd.clone());
        vec![call]
    } else if found.unread.is_empty() {
        Vec::new()
    } else {
        vec![NextCall::new(Tool::RunSuite, "run everything")]
    };
    let (base, changed) = match found.since {
        Some(since) => {
            let base = Base {
                commit: since.commit,
                why: since.why,
            };
            (Some(base), Some(since.changed))
        }
        None => (None, None),
    };
    Answer {
        status: "done",
        affected,
        base,
        changed,
        heuristic: true,
        searched: found.searched,
        notes: found.notes,
        unread: found.unread,
        next,
    }
}

/// A changed file as it was typed: a path, and its changed lines or not.
fn changed(root: &Path, cwd: &Path, text: &str) -> Result<ChangedFile, OpError> {
    let is_whole_name = root.join(text).exists() || cwd.join(text).exists();
    let (path, lines) = match text.rsplit_once(':') {
        Some((path, lines)) if !is_whole_name && !path.is_empty() => match ranges(lines) {
            Some(lines) => (path, lines),
            None => (text, Vec::new()),
        },
        _ => (text, Vec::new()),
    };
    Ok(ChangedFile {
        path: inside(root, cwd, path)?,
        lines,
    })
}

/// `3`, `3-9`, `3-9,20`. `None` if these are no lines.
fn ranges(text: &str) -> Option<Vec<(u32, u32)>> {
    let line = |text: &str| text.trim().parse::<u32>().ok().filter(|line| *line > 0);
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) => Some((line(first)?, line(last)?)).filter(|(first, last)| first <= last),
        None => line(part).map(|line| (line, line)),
    };
    text.split(',').map(range).collect()
}

/// A changed path relative to the root, `/` between parts. It need not exist; it must not leave the root.
fn inside(root: &Path, cwd: &Path, text: &str) -> Result<String, OpError> {
    let outside = || {
        let message = format!(
            "path `{}` lies outside the repository ({})",
            cut::quote_truncated(text),
            root.display()
        );
        OpError::new(ErrorKind::BadRequest, "outside_root", message)
    };
    if text.contains('\0') {
        return Err(OpError::bad_argument(format!(
            "path `{}` holds a NUL",
            cut::quote_truncated(text)
        )));
    }
    let from_cwd = cwd != root && !root.join(text).exists() && cwd.join(text).exists();
    let joined = if from_cwd { cwd.join(text) } else { root.join(text) };
    let path = paths::clean(&joined).ok_or_else(outside)?;
    let relative = path.strip_prefix(root).map_err(|_| outside())?;
    if relative == Path::new("") {
        return Err(OpError::bad_argument("the repository itself is no changed file"));
    }
    // What exists of it must not lead out by a link.
    let existing = path.ancestors().find(|part| part.exists());
    let real = existing.and_then(|part| part.canonicalize().ok());
    if !real.is_some_and(|real| real.starts_with(root)) {
        return Err(outside());
    }
    let parts: Vec<String> = relative
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    Ok(parts.join("/"))
}

impl Answer {
    /// That nothing is known of some of the files, as the end of a headline.
    fn unread_words(&self) -> Option<String> {
        let files = cut::quote_truncated(&self.unread.join(", "));
        (!self.unread.is_empty()).then(|| {
            format!(" What uses {files} is not read, only Python is: a run of everything is the sure answer.")
        })
    }
}

impl ToolAnswer for Answer {
    /// The likeliest files, or that there are none, which is worth saying too.
    fn headline(&self) -> String {
        if let (Some(base), Some([])) = (&self.base, self.changed.as_deref()) {
            return format!(
                "Nothing has changed since {} ({}). `base` names another commit, `paths` the files.",
                &base.commit[..base.commit.len().min(SHORT_HASH)],
                base.why
            );
        }
        let unread = self.unread_words();
        if self.affected.is_empty() && unread.is_some() {
            return format!("Not known.{}", unread.unwrap_or_default());
        }
        if self.affected.is_empty() {
            return format!(
                "None of {} test files looks related to these paths. Worth saying in a report: the change may be untested.",
                self.searched
            );
        }
        let names: Vec<&str> = self
            .affected
            .iter()
            .take(MOST_NAMED)
            .map(|test| test.test_file.as_str())
            .collect();
        let more = self.affected.len() - names.len();
        let more = if more > 0 {
            format!(", and {more} more")
        } else {
            String::new()
        };
        format!(
            "Likely to cover the change, best first: {}{more}.{}",
            names.join(", "),
            unread.unwrap_or_default()
        )
    }

    fn take_next(&mut self) -> Vec<NextCall> {
        std::mem::take(&mut self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_behind_a_colon_unless_the_file_is_called_so() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("odd:7"), "").unwrap();
        let read = |text: &str| {
            let file = changed(&root, &root, text).unwrap();
            (file.path, file.lines)
        };
        assert_eq!(read("a.py"), ("a.py".to_owned(), vec![]));
        assert_eq!(read("a.py:3-9,20"), ("a.py".to_owned(), vec![(3, 9), (20, 20)]));
        assert_eq!(read("odd:7"), ("odd:7".to_owned(), vec![]));
        for no_lines in ["a.py:x", "a.py:9-3", "a.py:0", "a.py:"] {
            assert_eq!(read(no_lines), (no_lines.to_owned(), vec![]), "{no_lines}");
        }
    }

    #[test]
    fn changed_paths_may_be_gone_but_never_outside() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("pkg/src")).unwrap();
        std::fs::write(root.join("pkg/src/a.py"), "").unwrap();
        std::os::unix::fs::symlink(outside.path(), root.join("link")).unwrap();
        let at =
            |cwd: &str, text: &str| inside(&root, &root.join(cwd), text).map_err(|error| error.error.code);
        let absolute = root.join("pkg/src/a.py").display().to_string();

        assert_eq!(at("", "src/gone.py").unwrap(), "src/gone.py");
        assert_eq!(at("", "./pkg//src/../src/a.py").unwrap(), "pkg/src/a.py");
        assert_eq!(at("", &absolute).unwrap(), "pkg/src/a.py");
        assert_eq!(at("pkg", "src/a.py").unwrap(), "pkg/src/a.py");
        for bad in ["../x.py", "/etc/passwd", "a/../../x", "link/x.py"] {
            assert_eq!(at("", bad).unwrap_err(), "outside_root", "{bad}");
        }
        assert_eq!(at("", "a\0b").unwrap_err(), "bad_argument");
    }
}
