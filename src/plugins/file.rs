//! The file of a plug-in: which one is meant, whose it is, what is in it.

use std::path::{Component, Path, PathBuf};

use engine::store::plugins::read_program;
use engine::trust::check_owners;
use runner_core::backend::is_name;

use super::{Kind, PREFIX};

/// Why a file is not taken, and what to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl Refused {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: hint.into(),
        }
    }
}

/// The file that a table names: relative, and really inside the root.
pub(super) fn inside(root: &Path, written: &str) -> Result<PathBuf, Refused> {
    const SHAPE: &str = "write a path below the repository's root, such as `tools/backend.py`; a program from elsewhere \
                         is installed with `qaas backend add PATH`, and then named without a path";
    let path = Path::new(written);
    let plain = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let strange = written.is_empty() || written.contains(['$', '~', '\0']) || written.contains("://");
    if !plain || strange {
        return Err(Refused::new("is not a plain relative path", SHAPE));
    }
    let real = root.join(path).canonicalize().map_err(|error| {
        Refused::new(
            format!("names {written}, which cannot be used: {error}"),
            "is the path right?",
        )
    })?;
    if !real.starts_with(root) {
        let message = format!("leads out of the repository, to {}", real.display());
        return Err(Refused::new(message, SHAPE));
    }
    Ok(real)
}

/// Whether a table names a library that was not built yet: no fault of the configuration.
pub(super) fn is_not_there(root: &Path, written: &str) -> bool {
    let found = root.join(written).symlink_metadata();
    found.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

/// The content of a plug-in that nobody else can change.
pub(super) fn content(kind: Kind, file: &Path) -> Result<Vec<u8>, Refused> {
    let content = owned(file)?;
    if kind == Kind::Exec {
        executable(file, &content)?;
    }
    Ok(content)
}

fn owned(file: &Path) -> Result<Vec<u8>, Refused> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    check_owners(folder, Some(file)).map_err(|error| Refused::new(error.to_string(), error.hint()))?;
    read_program(file).map_err(|error| {
        let message = format!("{} cannot be read: {error}", file.display());
        Refused::new(message, "name a backend's own file")
    })
}

/// Whether the system can start it. A text without a first line that says by what would be taken for a shell script.
fn executable(path: &Path, content: &[u8]) -> Result<(), Refused> {
    let file = path.display();
    match interpreter(content) {
        Interpreter::None => {
            let message = format!("{file} is a text without a first line that says what runs it");
            let hint = "begin it with such a line: `#!/usr/bin/env python3`";
            return Err(Refused::new(message, hint));
        }
        Interpreter::Named(path) if path.is_absolute() && !path.exists() => {
            let message = format!(
                "the first line of {file} names {}, which is not there",
                path.display()
            );
            let hint = "name a program that is there: `#!/usr/bin/env python3` looks for one on PATH";
            return Err(Refused::new(message, hint));
        }
        Interpreter::Named(_) | Interpreter::Machine => {}
    }
    if is_executable(path) {
        return Ok(());
    }
    Err(Refused::new(
        format!("{file} cannot be executed"),
        format!("`chmod +x {file}`"),
    ))
}

/// What runs a program.
#[derive(Debug, PartialEq, Eq)]
enum Interpreter {
    /// The machine itself, or a format that the system knows by its first bytes.
    Machine,
    /// Its first line's.
    Named(PathBuf),
    None,
}

fn interpreter(content: &[u8]) -> Interpreter {
    let line = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let head = &content[..content.len().min(512)];
    match line.strip_prefix(b"#!") {
        Some(words) => {
            let words = String::from_utf8_lossy(words);
            let program = words.split_whitespace().next().unwrap_or_default();
            Interpreter::Named(PathBuf::from(program))
        }
        None if head.contains(&0) || std::str::from_utf8(line).is_err() => Interpreter::Machine,
        None => Interpreter::None,
    }
}

/// A file that a person typed.
pub(crate) struct Typed {
    pub(crate) kind: Kind,
    /// Its real path.
    pub(crate) from: PathBuf,
    pub(crate) content: Vec<u8>,
}

/// Reads a file that a person typed, and tells what it is.
pub(crate) fn read_typed(cwd: &Path, path: &Path) -> Result<Typed, Refused> {
    let from = cwd.join(path).canonicalize().map_err(|error| {
        Refused::new(
            format!("{}: {error}", path.display()),
            "give the path of the backend's program or library",
        )
    })?;
    let content = owned(&from)?;
    let kind = Kind::of(&from, &content);
    if kind == Kind::Exec {
        executable(&from, &content)?;
    }
    Ok(Typed { kind, from, content })
}

/// The name that a file suggests: `qaas-backend-x.py` and `libqaas_x.so` are `x`.
pub(crate) fn name_of(kind: Kind, path: &Path) -> Option<String> {
    let stem = path.file_stem()?.to_str()?;
    let name = match kind {
        Kind::Exec => stem.strip_prefix(PREFIX).unwrap_or(stem),
        Kind::Library => {
            let stem = stem.strip_prefix(std::env::consts::DLL_PREFIX).unwrap_or(stem);
            ["qaas_backend_", "qaas_"]
                .iter()
                .find_map(|begin| stem.strip_prefix(begin))
                .unwrap_or(stem)
        }
    };
    is_name(name).then(|| name.to_owned())
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata()
        .is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_inside_the_root_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let root = base.join("root");
        std::fs::create_dir_all(root.join("tools")).unwrap();
        std::fs::write(root.join("tools/x"), "").unwrap();
        std::fs::write(base.join("y"), "").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(base.join("y"), root.join("link")).unwrap();
        assert_eq!(inside(&root, "./tools/x"), Ok(root.join("tools/x")));
        let absolute = base.join("y").display().to_string();
        let wrong = [
            "",
            "../y",
            "tools/../../y",
            "~/y",
            "$HOME/y",
            "https://h/y",
            "none",
            "link",
            absolute.as_str(),
        ];
        for written in wrong {
            assert!(inside(&root, written).is_err(), "{written}");
        }
    }

    #[test]
    fn a_text_that_does_not_say_what_runs_it_is_never_taken_for_a_shell_script() {
        let named = |path: &str| Interpreter::Named(PathBuf::from(path));
        for (content, wanted) in [
            (&b"#!/usr/bin/env python3\nimport os\n"[..], named("/usr/bin/env")),
            (b"#! /bin/sh -e\n", named("/bin/sh")),
            (b"#!\n", named("")),
            (b"import os\n", Interpreter::None),
            (b"", Interpreter::None),
            (b"\x7fELF\x02\x01\x01\0\0", Interpreter::Machine),
        ] {
            assert_eq!(interpreter(content), wanted, "{content:?}");
        }
    }

    #[test]
    fn a_name_is_made_of_the_file() {
        let name = |path: &str| name_of(Kind::Exec, Path::new(path));
        assert_eq!(name("/a/qaas-backend-doctest").as_deref(), Some("doctest"));
        assert_eq!(name("b/doctest_backend.py").as_deref(), Some("doctest_backend"));
        assert_eq!(name("a b"), None);
        let name = |path: &str| name_of(Kind::Library, Path::new(path));
        for (path, wanted) in [
            ("libqaas_rustdoc", "rustdoc"),
            ("libqaas_backend_x", "x"),
            ("y", "y"),
        ] {
            let path = format!("/a/{path}{}", std::env::consts::DLL_SUFFIX);
            assert_eq!(name(&path).as_deref(), Some(wanted));
        }
    }
}
