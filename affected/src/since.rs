//! What git says has changed.

use runner_core::affected::{ChangedFile, Since};
use runner_core::change::NoBase;
use source::git::{Base, BaseError, GitError, Repository};

/// The commit that the change is held against, and the change where git is asked for it.
pub(crate) fn since(
    repository: Result<&Repository, &GitError>,
    base: Option<&str>,
) -> Result<(Since, Vec<String>), NoBase> {
    let repository = repository.map_err(|error| no_base(&error.to_string(), None))?;
    let began = began(repository, base)?;
    let found = repository
        .difference(began.commit)
        .map_err(|error| no_base(&error.to_string(), None))?;
    let mut changed = Vec::new();
    let mut outside = 0;
    for path in found.was.keys().chain(&found.added) {
        let path = path.to_string_lossy();
        match repository.below_root(&path) {
            Some(below) => changed.push(below.to_owned()),
            None => outside += 1,
        }
    }
    changed.sort();
    let notes = (outside > 0).then(|| format!("{outside} changed files outside the root were left out"));
    let since = Since {
        commit: began.commit.to_string(),
        why: began.why,
        changed,
    };
    Ok((since, notes.into_iter().collect()))
}

/// The commit at which the change began.
pub(crate) fn began(repository: &Repository, base: Option<&str>) -> Result<Base, NoBase> {
    repository
        .change_began(base)
        .map_err(|error: BaseError| no_base(&error.to_string(), error.hint()))
}

fn no_base(message: &str, hint: Option<String>) -> NoBase {
    let hint = hint.unwrap_or_else(|| "Name the changed files: `paths`.".to_owned());
    NoBase {
        message: message.to_owned(),
        hint: Some(hint),
    }
}

/// The files of a change, as a question names them.
pub(crate) fn files(since: &Since) -> Vec<ChangedFile> {
    since.changed.iter().map(ChangedFile::whole).collect()
}
