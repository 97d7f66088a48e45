//! Paths: what to measure, and which measured files count.

use std::path::{Component, Path, PathBuf};

use runner_core::backend::RunRequest;

/// `--source=…` for the paths that were asked for; nothing if none were, and then the project's configuration decides.
pub(crate) fn source_word(request: &RunRequest) -> Option<String> {
    let mut folders: Vec<String> = Vec::new();
    for path in &request.filters.coverage_paths {
        let path = clean(&relative_to(&request.cwd, Path::new(path)));
        // Sources are folders: for a file it is the one that holds it, and its neighbours are left out afterwards.
        let is_file = path.extension().is_some_and(|end| end == "py" || end == "pyw");
        let folder = if is_file {
            path.parent().unwrap_or(Path::new(""))
        } else {
            &path
        };
        let folder = match folder.to_string_lossy() {
            text if text.is_empty() => ".".to_owned(),
            text => text.into_owned(),
        };
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    // A comma separates sources and cannot be part of one. Measuring what is imported is right for all other files.
    let good = !folders.is_empty() && !folders.iter().any(|folder| folder.contains(','));
    good.then(|| format!("--source={}", folders.join(",")))
}

/// Says of measured files whether they count, and what they are called.
#[derive(Debug)]
pub(crate) struct Filter {
    cwd: PathBuf,
    scratch: PathBuf,
    /// Empty: all.
    wanted: Vec<PathBuf>,
}

impl Filter {
    pub(crate) fn new(request: &RunRequest) -> Self {
        let wanted = request
            .filters
            .coverage_paths
            .iter()
            .map(|path| clean(&relative_to(&request.cwd, Path::new(path))));
        Self {
            cwd: request.cwd.clone(),
            scratch: request.scratch.clone(),
            wanted: wanted.collect(),
        }
    }

    /// The file's path seen from the working folder, if it counts.
    pub(crate) fn accept(&self, file: &str) -> Option<String> {
        let file = Path::new(file);
        let path = clean(&relative_to(&self.cwd, file));
        let wanted = self.wanted.iter().find(|wanted| path.starts_with(wanted));
        if wanted.is_none() && !self.wanted.is_empty() {
            return None;
        }
        let asked_for = wanted.is_some_and(|wanted| is_installed(wanted));
        if self.is_temporary(file) || (is_installed(&path) && !asked_for) {
            return None;
        }
        Some(path.to_string_lossy().replace('\\', "/"))
    }

    /// What a run brings along itself (a reporter that qaas injects), and modules that tests write and import.
    fn is_temporary(&self, file: &Path) -> bool {
        if !file.is_absolute() || file.starts_with(&self.cwd) {
            return false;
        }
        // coverage.py resolves links, so the scratch may be called otherwise: it is known by its end as well.
        let end = last_two(&self.scratch);
        let parts: Vec<Component<'_>> = file.components().collect();
        let in_scratch = parts
            .windows(end.len().max(1))
            .any(|window| window == end.as_slice());
        let by_pytest = parts
            .iter()
            .any(|part| part.as_os_str().to_string_lossy().starts_with("pytest-of-"));
        in_scratch || by_pytest || self.run_folder().is_some_and(|folder| file.starts_with(folder))
    }

    /// The folder that holds the scratch, if it is this run's and not one that everybody uses.
    fn run_folder(&self) -> Option<&Path> {
        let folder = self.scratch.parent()?;
        (folder.components().count() > 3 && !self.cwd.starts_with(folder)).then_some(folder)
    }
}

/// Other people's code, which coverage.py before version 6 lists too.
fn is_installed(path: &Path) -> bool {
    path.components()
        .any(|part| part.as_os_str() == "site-packages" || part.as_os_str() == "dist-packages")
}

fn last_two(path: &Path) -> Vec<Component<'_>> {
    let parts: Vec<Component<'_>> = path.components().collect();
    parts[parts.len().saturating_sub(2)..].to_vec()
}

/// As seen from `cwd`, with `..` where it lies beside it.
fn relative_to(cwd: &Path, path: &Path) -> PathBuf {
    if !path.is_absolute() {
        return path.to_owned();
    }
    if let Ok(below) = path.strip_prefix(cwd) {
        return below.to_owned();
    }
    let shared = cwd
        .components()
        .zip(path.components())
        .take_while(|(one, other)| one == other)
        .count();
    // Nothing but the root in common: the absolute path says it better.
    if shared <= 1 {
        return path.to_owned();
    }
    let up = cwd.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

/// Without `.` parts; the working folder itself is empty.
fn clean(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}
