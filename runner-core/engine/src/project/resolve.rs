//! Selectors and folders that somebody wrote, made into ones that are known to stay inside the root.
//!
//! What is checked is what is passed on: the path is first made plain (absolute, without `.` and `..`, exactly as the
//! frameworks do it, which do not ask the disk about `..`), then that plain path is followed through its links on the
//! disk, and where that ends inside the root, that real path is what the framework is given. A link that somebody turns
//! round between the look and the run then leads nowhere; tests behind a link have the names of their real files.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::{ProjectError, ProjectErrorKind, shown};
use super::skip;
use runner_core::language::Language;
use runner_core::nodeid::NodeId;
use runner_core::paths::{self, clean};
use runner_core::selector::{MAX_SELECTOR_BYTES, Selector, without_margins};

/// Makes a selector of what somebody wrote: refuses options and argument files, resolves paths inside the root.
/// Paths in the result are relative to `cwd`. See [`resolve_from`] for where they are looked for.
pub fn resolve(root: &Path, cwd: &Path, text: &str) -> Result<Selector, ProjectError> {
    resolve_from(root, cwd, None, &[], text)
}

/// Like [`resolve`], with more folders that a path may be relative to.
///
/// Who stands in a folder (`here`) means what lies there. A framework's ids, however, are relative to *its* root, which
/// need not be that folder, nor the working folder of the run. A path is therefore looked for in `here`, then in `cwd`,
/// then in each folder from there up to the root, then in `others` (a suite's folder); the first that has it wins.
/// `root`, `cwd`, `here` and `others` are real paths, the latter three inside the root.
pub fn resolve_from(
    root: &Path,
    cwd: &Path,
    here: Option<&Path>,
    others: &[&Path],
    text: &str,
) -> Result<Selector, ProjectError> {
    let text = without_margins(text);
    check_text(text)?;
    let id = NodeId::of(text);
    let (file, rest) = (id.file(), Some(id.rest()).filter(|rest| !rest.is_empty()));
    let bases = bases(root, cwd, here, others);
    for base in &bases {
        let found = match find(root, base, file) {
            // Its `..` lead out of the root from elsewhere only: from where somebody stands it is merely not there.
            Err(_) if here.is_some_and(|here| here != base && plain(root, here, file).is_ok()) => None,
            found => found?,
        };
        if let Some(real) = found {
            return selector(cwd, &real, rest, text);
        }
    }
    if rest.is_some() || looks_like_path(text) {
        return Err(not_there(root, cwd, &bases, file));
    }
    check_keyword(text)?;
    Ok(Selector::Keyword {
        expression: text.to_owned(),
    })
}

/// Where a path that somebody typed lies as seen from `here`, if something does, inside the root: absolute, without `.` and
/// `..`.
pub fn seen_from(root: &Path, here: &Path, text: &str) -> Option<PathBuf> {
    let place = plain(root, here, text).ok()?;
    place.exists().then_some(place)
}

/// A folder inside the root, as a real path; `text` is relative to the root or absolute. Empty: the root.
pub fn resolve_dir(root: &Path, text: &str) -> Result<PathBuf, ProjectError> {
    let text = text.trim();
    check_characters("folder", text)?;
    let path = root.join(text);
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) => {
            plain(root, root, text)?;
            let why = reason(&error);
            return Err(ProjectError::new(
                ProjectErrorKind::NoSuchPath,
                format!("the folder `{}` {why}", shown(text)),
            )
            .with_hint(format!("folders are relative to the root {}", root.display())));
        }
    };
    if !real.starts_with(root) {
        return Err(outside(root, text));
    }
    if !real.is_dir() {
        return Err(ProjectError::new(
            ProjectErrorKind::NoSuchPath,
            format!("`{}` is not a folder", shown(text)),
        ));
    }
    Ok(real)
}

/// One of a suite's paths, as the framework is given it in the suite's `folder`. One that is not there stays as it is,
/// for the framework to complain about.
pub fn resolve_suite_path(root: &Path, folder: &Path, text: &str) -> Result<String, ProjectError> {
    let found = find(root, folder, text)?;
    let real = found.and_then(|real| relative(folder, &real));
    Ok(real.unwrap_or_else(|| text.to_owned()))
}

fn refused(what: &str, text: &str, why: &str) -> ProjectError {
    ProjectError::new(
        ProjectErrorKind::BadSelector,
        format!("the {what} `{}` {why}", shown(text)),
    )
}

/// What can be told without the disk.
fn check_text(text: &str) -> Result<(), ProjectError> {
    let hint = "name a path, a test id (tests/test_a.py::test_x) or a keyword expression";
    if text.is_empty() {
        return Err(
            ProjectError::new(ProjectErrorKind::BadSelector, "the selector is empty").with_hint(hint),
        );
    }
    check_characters("selector", text)?;
    if text.starts_with('-') {
        let why = "begins with `-`: options are not selectors";
        return Err(
            refused("selector", text, why).with_hint(format!("{hint}; a file of that name is `./-…`"))
        );
    }
    if text.starts_with('@') {
        let why = "begins with `@`: argument files are not selectors";
        return Err(
            refused("selector", text, why).with_hint(format!("{hint}; a file of that name is `./@…`"))
        );
    }
    Ok(())
}

/// Length and control characters. Within a test id a parameter may hold any character but NUL, which no command line
/// can carry: frameworks can be told to show parameters raw, line ends included.
fn check_characters(what: &str, text: &str) -> Result<(), ProjectError> {
    if text.len() > MAX_SELECTOR_BYTES {
        let why = format!("is longer than {MAX_SELECTOR_BYTES} bytes");
        return Err(refused(what, text, &why));
    }
    let id = NodeId::of(text);
    if id.file().chars().any(char::is_control) {
        return Err(refused(
            what,
            text,
            "holds a control character (line end, NUL, …)",
        ));
    }
    if id.rest().contains('\0') {
        return Err(refused(what, text, "holds a NUL character"));
    }
    Ok(())
}

/// A keyword expression goes to the framework as the value of an option of its own, where `@file` must not be read as
/// an argument file either.
fn check_keyword(text: &str) -> Result<(), ProjectError> {
    let mut words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '\'' | '"'));
    if words.any(|word| word.starts_with('@')) {
        return Err(refused(
            "keyword expression",
            text,
            "holds a word that begins with `@`",
        ));
    }
    Ok(())
}

/// Whether a text that is no test id can only be meant as a path.
pub fn looks_like_path(text: &str) -> bool {
    let expression = text
        .split_whitespace()
        .any(|word| matches!(word, "and" | "or" | "not"));
    text.contains(['/', '\\']) || (!expression && Language::of(Path::new(text)).is_some())
}

/// Where paths are looked for, nearest first.
fn bases(root: &Path, cwd: &Path, here: Option<&Path>, others: &[&Path]) -> Vec<PathBuf> {
    let upward = cwd.ancestors().take_while(|folder| folder.starts_with(root));
    let mut bases: Vec<PathBuf> = Vec::new();
    for base in here.into_iter().chain(upward).chain(others.iter().copied()) {
        if base.starts_with(root) && !bases.iter().any(|known| known == base) {
            bases.push(base.to_owned());
        }
    }
    bases
}

/// `file` in `base`, as a real path, if it is there. An error if it leaves the root or is neither file nor folder.
fn find(root: &Path, base: &Path, file: &str) -> Result<Option<PathBuf>, ProjectError> {
    if file.is_empty() {
        return Err(refused("test id", "::…", "names no file before its `::`"));
    }
    let plain = match plain(root, base, file) {
        Ok(plain) => plain,
        // Only from the working folder upward is a `..` too many: a nearer base may still hold the path.
        Err(error) if base == root || Path::new(file).is_absolute() => return Err(error),
        Err(_) => return Ok(None),
    };
    match plain.canonicalize() {
        Ok(real) if !real.starts_with(root) => Err(outside(root, file)),
        Ok(real) if real.is_file() || real.is_dir() => Ok(Some(real)),
        Ok(_) => Err(refused("selector", file, "is neither a file nor a folder")),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        // A name too long for the disk, a loop of links, a folder that may not be entered: if it is a path at all, it
        // is one that cannot be used.
        Err(error) if looks_like_path(file) => Err(ProjectError::new(
            ProjectErrorKind::NoSuchPath,
            format!("`{}` {}", shown(file), reason(&error)),
        )),
        Err(_) => Ok(None),
    }
}

/// `file` made absolute and free of `.` and `..` without asking the disk; inside the root, or an error.
fn plain(root: &Path, base: &Path, file: &str) -> Result<PathBuf, ProjectError> {
    let plain = clean(&base.join(file)).ok_or_else(|| outside(root, file))?;
    if plain.starts_with(root) {
        return Ok(plain);
    }
    // The root spelt through a link of its own (`/tmp` for `/private/tmp`).
    if Path::new(file).is_absolute()
        && let Ok(real) = plain.canonicalize()
        && real.starts_with(root)
    {
        return Ok(real);
    }
    Err(outside(root, file))
}

fn selector(cwd: &Path, real: &Path, rest: Option<&str>, text: &str) -> Result<Selector, ProjectError> {
    let path = relative(cwd, real)
        .ok_or_else(|| refused("selector", text, "names a file whose path is not Unicode"))?;
    let Some(rest) = rest else {
        return Ok(Selector::Path { path });
    };
    if rest == "::" {
        return Err(refused("test id", text, "names no test after its `::`"));
    }
    if real.is_dir() {
        let why = "begins with a folder; a test id begins with a file";
        return Err(refused("test id", text, why));
    }
    Ok(Selector::Node {
        path,
        rest: rest.to_owned(),
    })
}

/// `path` as seen from `cwd`, with `/` between parts. Never begins with `-` or `@`, so that no framework takes it for
/// an option or an argument file.
fn relative(cwd: &Path, path: &Path) -> Option<String> {
    let relative = paths::relative(cwd, path)?;
    Some(match relative.as_str() {
        "" => ".".to_owned(),
        option if option.starts_with(['-', '@']) => format!("./{option}"),
        _ => relative,
    })
}

fn outside(root: &Path, text: &str) -> ProjectError {
    ProjectError::new(
        ProjectErrorKind::OutsideRoot,
        format!(
            "`{}` lies outside the repository ({})",
            shown(text),
            root.display()
        ),
    )
    .with_hint("name something inside the root, or start with another --root")
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "does not exist".to_owned(),
        _ => format!("cannot be used: {error}"),
    }
}

fn not_there(root: &Path, cwd: &Path, bases: &[PathBuf], file: &str) -> ProjectError {
    let places: Vec<String> = bases
        .iter()
        .map(|base| match relative(root, base).as_deref() {
            Some(".") | None => "the root".to_owned(),
            Some(place) => place.to_owned(),
        })
        .collect();
    let error = ProjectError::new(
        ProjectErrorKind::NoSuchPath,
        format!(
            "`{}` does not exist (looked in {})",
            shown(file),
            places.join(", ")
        ),
    );
    let near = near_files(root, cwd, file);
    if near.is_empty() {
        error.with_hint(
            "what has `/`, `\\` or `::`, or ends like a source file, is taken for a path or a test id",
        )
    } else {
        error.with_hint(format!("did you mean {}?", near.join(", ")))
    }
}

/// Up to three files that the writer may have meant, as they would be written from `cwd`.
fn near_files(root: &Path, cwd: &Path, file: &str) -> Vec<String> {
    const MOST_FOLDERS: usize = 2_000;
    const MOST_BYTES: usize = 400;
    let wanted = file.replace('\\', "/");
    let name = wanted.rsplit('/').next().unwrap_or(&wanted);
    if wanted.len() > MOST_BYTES {
        return Vec::new();
    }
    let mut near: Vec<(usize, String)> = Vec::new();
    let mut folders = vec![root.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        seen += 1;
        if seen > MOST_FOLDERS {
            break;
        }
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Some(found) = entry.file_name().to_str().map(str::to_owned) else {
                continue;
            };
            let distance = strsim::damerau_levenshtein(name, &found);
            if distance <= name.len().div_ceil(4)
                && let Some(path) = relative(cwd, &entry.path())
            {
                near.push((
                    distance * 1_000 + strsim::damerau_levenshtein(&wanted, &path).min(999),
                    path,
                ));
            }
        }
        folders.extend(skip::own_folders(&folder));
    }
    near.sort();
    // The very name in another folder leaves nothing to guess.
    if near.first().is_some_and(|(distance, _)| *distance < 1_000) {
        near.retain(|(distance, _)| *distance < 1_000);
    }
    near.into_iter()
        .take(3)
        .map(|(_, path)| format!("`{path}`"))
        .collect()
}

#[cfg(test)]
mod tests;
