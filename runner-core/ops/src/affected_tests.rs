//! `affected_tests`: which test files a change reaches. Reads, runs nothing.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use super::answer::ToolAnswer;
use super::arguments::Reader;
use super::definition::shared::CWD;
use super::definition::{Action, Argument, Called, Definition, Hints, Kind, Needs};
use super::{ErrorKind, NextCall, OpError, Tool, Workspace, cut};
use runner_core::affected::{AffectedTest, AffectedTests};
use runner_core::paths;

/// How many files the headline and the ready call name.
const MOST_NAMED: usize = 10;

/// The tool.
pub static DEFINITION: Definition = Definition {
    tool: Tool::AffectedTests,
    title: "Tests for a change",
    description: "Which test files a change to these paths reaches, best first, with reasons. Runs nothing. \
        A heuristic: run everything before saying that nothing broke.",
    hints: Hints::READS,
    needs: Needs::Nothing,
    own: &[
        Argument::new("paths", Kind::Strings, "Changed files, from the root").required(),
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
    /// Changed files, relative to the root (or to `cwd`). They need not exist any more.
    pub paths: Vec<String>,
    pub cwd: Option<String>,
}

impl Arguments {
    /// What a client may send.
    pub fn from_json(map: &Map<String, Value>) -> Result<Self, OpError> {
        let mut reader = Reader::new(&DEFINITION, map);
        let arguments = Self {
            paths: reader.strings("paths")?,
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
    /// Always true: a place to start, not a proof.
    pub heuristic: bool,
    /// How many test files were looked at.
    pub searched: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<NextCall>,
}

/// Finds them.
pub async fn run(workspace: &Workspace, arguments: Arguments) -> Result<Answer, OpError> {
    workspace.settings()?;
    if arguments.paths.is_empty() {
        return Err(OpError::bad_argument(
            "`paths` must be an array of at least one changed file, relative to the repository",
        ));
    }
    let cwd = match &arguments.cwd {
        Some(text) => workspace.folder(text)?,
        None => workspace.root.clone(),
    };
    let changed: Result<Vec<String>, OpError> = arguments
        .paths
        .iter()
        .map(|path| match arguments.cwd {
            None => inside(&workspace.root, &cwd, &workspace.typed_change(path)),
            Some(_) => inside(&workspace.root, &cwd, path),
        })
        .collect();
    let changed = changed?;
    let (finder, root) = (Arc::clone(&workspace.affected), workspace.root.clone());
    let found = tokio::task::spawn_blocking(move || finder.find(&root, &changed))
        .await
        .map_err(|error| {
            OpError::new(
                ErrorKind::Broken,
                "crashed",
                format!("the search broke off: {error}"),
            )
        })?;
    if found.searched == 0 {
        let message = format!(
            "there is no test file of a language that can be searched for them in {}",
            workspace.root.display()
        );
        return Err(OpError::new(ErrorKind::NoTests, "no_tests", message)
            .with_hint("Is this the right repository? `cwd` and `--root` say where to look."));
    }
    Ok(answer(workspace, &arguments, found, &cwd))
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
    let next = if files.is_empty() {
        Vec::new()
    } else {
        let call = NextCall::new(Tool::RunSuite, "run the likeliest of them")
            .with("selectors", files)
            .maybe("cwd", arguments.cwd.clone());
        vec![call]
    };
    Answer {
        status: "done",
        affected,
        heuristic: true,
        searched: found.searched,
        notes: found.notes,
        next,
    }
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

impl ToolAnswer for Answer {
    /// The likeliest files, or that there are none, which is worth saying too.
    fn headline(&self) -> String {
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
            "Likely to cover the change, best first: {}{more}.",
            names.join(", ")
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
