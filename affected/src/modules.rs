//! Which file an import means.

use foldhash::{HashMap, HashMapExt, HashSet};

use source::names::python::From;

use crate::tree::Tree;

/// Index into [`Tree::sources`], or beyond it for a changed file that is gone.
pub(crate) type File = usize;

/// Names of modules, and the files that have them, by the folder that the name starts from.
pub(crate) struct Modules {
    files: HashMap<String, File>,
    /// Dotted name to every file that has it, each with the folder it is counted from.
    names: HashMap<String, Vec<(String, File)>>,
    paths: Vec<String>,
    packages: HashSet<String>,
    projects: Vec<String>,
    test_folders: HashSet<String>,
}

impl Modules {
    /// `gone` are paths of files that were there before the change.
    pub(crate) fn new(tree: &Tree, gone: &[String]) -> Self {
        let paths: Vec<String> = tree
            .sources
            .iter()
            .map(|s| s.path.clone())
            .chain(gone.iter().cloned())
            .collect();
        let packages = paths
            .iter()
            .filter(|path| is_init(path))
            .map(|path| folder(path).to_owned())
            .collect();
        let tests = tree.sources.iter().filter(|source| source.is_test);
        let mut modules = Self {
            files: paths
                .iter()
                .cloned()
                .enumerate()
                .map(|(file, path)| (path, file))
                .collect(),
            names: HashMap::new(),
            packages,
            projects: tree.projects.clone(),
            test_folders: tests.map(|source| folder(&source.path).to_owned()).collect(),
            paths,
        };
        for file in 0..modules.paths.len() {
            modules.add_names(file);
        }
        modules
    }

    /// A module has a name for each folder above it that is no package: from any of those it may be imported.
    fn add_names(&mut self, file: File) {
        let path = self.paths[file].clone();
        let bare = path
            .strip_suffix("/__init__.py")
            .or_else(|| path.strip_suffix(".py"));
        let Some(bare) = bare.filter(|bare| *bare != "__init__") else {
            return;
        };
        let mut from = folder(bare);
        loop {
            if !self.packages.contains(from) {
                let name = bare[from.len()..].trim_start_matches('/').replace('/', ".");
                self.names.entry(name).or_default().push((from.to_owned(), file));
            }
            if from.is_empty() {
                return;
            }
            from = folder(from);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn path(&self, file: File) -> &str {
        &self.paths[file]
    }

    pub(crate) fn file(&self, path: &str) -> Option<File> {
        self.files.get(path).copied()
    }

    /// The dotted name of a file, for people: from the nearest folder that imports start from.
    pub(crate) fn name(&self, file: File) -> String {
        let path = self.path(file);
        let bare = path
            .strip_suffix("/__init__.py")
            .or_else(|| path.strip_suffix(".py"));
        let bare = bare.unwrap_or(path);
        let mut from = self.base(file);
        while !self.is_source_folder(from) {
            from = folder(from);
        }
        let name = bare.strip_prefix(from).unwrap_or(bare).trim_start_matches('/');
        name.replace('/', ".")
    }

    /// The folder that goes on Python's path for a file that is started or collected by itself: the nearest that is no
    /// package.
    fn base(&self, file: File) -> &str {
        let mut from = folder(self.path(file));
        while self.packages.contains(from) && !from.is_empty() {
            from = folder(from);
        }
        from
    }

    /// The file of exactly this module, as `importer` would get it.
    pub(crate) fn find(&self, importer: File, name: &str) -> Option<File> {
        let places = self.names.get(name)?;
        let base = self.base(importer);
        let here = folder(self.path(importer));
        let rank = |from: &str| {
            if from == base {
                return Some((0, 0));
            }
            let far = usize::MAX - shared_parts(from, here);
            if self.is_source_folder(from) {
                return Some((1, far));
            }
            if is_below(here, from) {
                return Some((2, far));
            }
            // pytest puts the folders of tests on the path for all that follow; elsewhere only a longer name is no chance.
            (name.contains('.') || self.test_folders.contains(from)).then_some((3, far))
        };
        places
            .iter()
            .filter_map(|(from, file)| Some((rank(from)?, *file)))
            .min()
            .map(|(_, file)| file)
    }

    /// Whether imports start from this folder: the root, a project's folder, and `src` or `lib` in one.
    fn is_source_folder(&self, path: &str) -> bool {
        let is_project = |path: &str| path.is_empty() || self.projects.iter().any(|project| project == path);
        let name = path.rsplit('/').next().unwrap_or(path);
        is_project(path) || (matches!(name, "src" | "lib" | "python") && is_project(folder(path)))
    }

    /// The folder that a relative import of so many dots starts from.
    pub(crate) fn relative(&self, importer: File, level: usize) -> Option<String> {
        let mut from = folder(self.path(importer));
        for _ in 1..level {
            if from.is_empty() {
                return None;
            }
            from = folder(from);
        }
        Some(from.to_owned())
    }

    /// The module at a path without its ending: a file or a package.
    pub(crate) fn at(&self, bare: &str) -> Option<File> {
        let bare = bare.trim_start_matches('/');
        let init = if bare.is_empty() {
            "__init__.py".to_owned()
        } else {
            format!("{bare}/__init__.py")
        };
        self.file(&format!("{bare}.py")).or_else(|| self.file(&init))
    }

    /// What stands after `from`, as `importer` means it.
    pub(crate) fn package(&self, importer: File, from: &From) -> Option<Package> {
        if from.level == 0 {
            return Some(Package {
                file: self.find(importer, &from.module),
                place: from.module.clone(),
                relative: false,
            });
        }
        let mut place = self.relative(importer, from.level)?;
        for part in from.module.split('.').filter(|part| !part.is_empty()) {
            place.push('/');
            place.push_str(part);
        }
        Some(Package {
            file: self.at(&place),
            place,
            relative: true,
        })
    }

    /// The module of this name in a package.
    pub(crate) fn part(&self, package: File, name: &str) -> Option<File> {
        let path = self.path(package);
        is_init(path)
            .then(|| self.at(&format!("{}/{name}", folder(path))))
            .flatten()
    }

    /// All modules in a package, those of inner packages too.
    pub(crate) fn parts(&self, package: File) -> Vec<File> {
        let around = folder(self.path(package));
        (0..self.paths.len())
            .filter(|file| *file != package && is_below(&self.paths[*file], around))
            .collect()
    }
}

/// What stands after `from`: a module, or a folder that may hold some.
pub(crate) struct Package {
    pub(crate) file: Option<File>,
    /// Path without its ending for a relative import, dotted name for an absolute one.
    place: String,
    relative: bool,
}

impl Package {
    /// The module of this name in the package, if it has one.
    pub(crate) fn part(&self, modules: &Modules, importer: File, name: &str) -> Option<File> {
        if self.relative {
            return modules.at(&format!("{}/{name}", self.place));
        }
        modules.find(importer, &format!("{}.{name}", self.place))
    }
}

/// What stands before the last `/`; empty for a path without one.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(crate) fn is_init(path: &str) -> bool {
    path == "__init__.py" || path.ends_with("/__init__.py")
}

/// Whether `path` is `outer` or lies in it.
pub(crate) fn is_below(path: &str, outer: &str) -> bool {
    outer.is_empty()
        || path
            .strip_prefix(outer)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn shared_parts(one: &str, other: &str) -> usize {
    one.split('/')
        .zip(other.split('/'))
        .take_while(|(a, b)| a == b && !a.is_empty())
        .count()
}
