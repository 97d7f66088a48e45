//! The commit that a change is held against.

use gix::ObjectId;

use super::{GitError, Repository};

/// A commit, and why it is the one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub commit: ObjectId,
    pub why: String,
}

/// Why there is no base.
#[derive(Debug, thiserror::Error)]
pub enum BaseError {
    #[error("this git repository has no commit yet: there is nothing to compare with")]
    Unborn,
    #[error("there is no commit, branch or tag `{0}` in this git repository")]
    NoSuchRevision(String),
    #[error("the git repository has no default branch: no origin/HEAD, no main and no master")]
    NoDefaultBranch,
    #[error("the clone is shallow: where HEAD left {0} is not in it")]
    Shallow(String),
    #[error("HEAD and {0} have no common ancestor: their histories never met, so there is no merge base")]
    Unrelated(String),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl BaseError {
    /// What mends it.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unborn => "Make a first commit: git add -A && git commit".to_owned(),
            Self::NoSuchRevision(_) => {
                "List what there is with `git branch -a` and `git tag`; bring in what is missing with `git fetch --all --tags`.".to_owned()
            }
            Self::NoDefaultBranch => "Name the base, or tell git: git remote set-head origin --auto".to_owned(),
            Self::Shallow(_) => "Bring in the history: git fetch --unshallow".to_owned(),
            Self::Unrelated(_) => "Name a base that HEAD descends from.".to_owned(),
            Self::Git(_) => return None,
        })
    }
}

/// Where the default branch may be written down, the most telling first.
const DEFAULT_BRANCHES: [(&str, &str); 5] = [
    ("refs/remotes/origin/HEAD", "origin/HEAD"),
    ("refs/heads/main", "main"),
    ("refs/heads/master", "master"),
    ("refs/remotes/origin/main", "origin/main"),
    ("refs/remotes/origin/master", "origin/master"),
];

impl Repository {
    /// The revision that was asked for; else the merge base of HEAD with the default branch, which is HEAD itself on
    /// that branch: then the change is what is not committed.
    pub fn base(&self, asked: Option<&str>) -> Result<Base, BaseError> {
        let head = self.head().ok_or(BaseError::Unborn)?;
        if let Some(asked) = asked {
            let commit = self
                .commit_of(asked)
                .ok_or_else(|| BaseError::NoSuchRevision(asked.to_owned()))?;
            return Ok(Base {
                commit,
                why: format!("`{asked}` was asked for"),
            });
        }
        let (branch, tip) = self.default_branch().ok_or(BaseError::NoDefaultBranch)?;
        let found = self.git.merge_base(head, tip).map_err(GitError::unreadable);
        let merge_base = found.ok().flatten().map(gix::Id::detach);
        match merge_base {
            Some(commit) if commit == head => Ok(Base {
                commit,
                why: format!("HEAD, which is on {branch}: the change is what is not committed"),
            }),
            Some(commit) => Ok(Base {
                commit,
                why: format!("the merge base of HEAD with {branch}"),
            }),
            None if self.git.is_shallow().unwrap_or_default() => Err(BaseError::Shallow(branch.to_owned())),
            None => Err(BaseError::Unrelated(branch.to_owned())),
        }
    }

    /// Where a change that is at hand began: HEAD, so that it is what is not committed; or, of a revision, the commit at
    /// which HEAD left it, so that what came to it since is no part of the change.
    pub fn change_began(&self, asked: Option<&str>) -> Result<Base, BaseError> {
        let head = self.head().ok_or(BaseError::Unborn)?;
        let Some(asked) = asked else {
            return Ok(Base {
                commit: head,
                why: "HEAD: the change is what is not committed".to_owned(),
            });
        };
        let commit = self
            .commit_of(asked)
            .ok_or_else(|| BaseError::NoSuchRevision(asked.to_owned()))?;
        let merge_base = self
            .git
            .merge_base(head, commit)
            .ok()
            .flatten()
            .map(gix::Id::detach);
        Ok(match merge_base {
            Some(left) if left == commit => Base {
                commit,
                why: format!("`{asked}` was asked for"),
            },
            Some(left) => Base {
                commit: left,
                why: format!("the merge base of HEAD with `{asked}`"),
            },
            None => Base {
                commit,
                why: format!("`{asked}` itself: no merge base with HEAD is known"),
            },
        })
    }

    /// The commit that a branch, a tag, an abbreviated hash or an expression such as `HEAD~2` means.
    pub fn commit_of(&self, revision: &str) -> Option<ObjectId> {
        let id = self.git.rev_parse_single(revision).ok()?;
        let commit = id.object().ok()?.peel_to_commit().ok()?;
        Some(commit.id)
    }

    fn default_branch(&self) -> Option<(&'static str, ObjectId)> {
        DEFAULT_BRANCHES.iter().find_map(|(full, short)| {
            let mut reference = self.git.try_find_reference(*full).ok()??;
            Some((*short, reference.peel_to_commit().ok()?.id))
        })
    }
}
