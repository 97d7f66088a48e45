//! Environments that a tool keeps outside the project, in a store of its own, by the rules with which the tool names them.
//! Only read: a tool that is asked may take seconds, and may change what it is asked about.

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use sha2::{Digest, Sha256};

use super::Search;
use crate::project::manager;
use crate::project::settings_file::read_small;

/// An environment's folder, and why it is this project's.
pub(super) struct Stored {
    pub(super) folder: PathBuf,
    pub(super) why: &'static str,
}

/// What the stores hold for the folders from the start up to the root, nearest first. Folders that are not there are
/// among them.
pub(super) fn environments(search: &Search<'_>) -> Vec<Stored> {
    let mut found = Vec::new();
    for folder in search.upward() {
        let (why, folders) = match manager::of_folder(folder) {
            Some("poetry") => ("poetry's environment of this project", poetry(search, folder)),
            Some("pdm") => ("pdm's environment of this project", pdm(folder)),
            Some("pipenv") => ("pipenv's environment of this project", pipenv(search, folder)),
            Some("hatch") => ("hatch's environment of this project", hatch(search, folder)),
            Some("conda") => (
                "the conda environment that environment.yml names",
                conda(search, folder),
            ),
            _ => continue,
        };
        found.extend(folders.into_iter().map(|folder| Stored { folder, why }));
    }
    found
}

/// The beginning of the hash of a path by which poetry and hatch tell projects of one name apart.
pub(super) fn path_hash(path: &Path) -> String {
    let digest = Sha256::digest(path.to_string_lossy().as_bytes());
    URL_SAFE.encode(digest).chars().take(8).collect()
}

/// An absolute path out of a variable, else one below `HOME`.
fn place(search: &Search<'_>, variable: &str, below_home: &str) -> Option<PathBuf> {
    let named = search.environment.get(variable).map(PathBuf::from);
    named
        .filter(|path| path.is_absolute())
        .or_else(|| Some(Path::new(search.environment.get("HOME")?).join(below_home)))
}

/// A user's folder by the XDG rules, and by macOS's own place.
fn user_folder(search: &Search<'_>, variable: &str, linux: &str, macos: &str) -> Option<PathBuf> {
    if cfg!(target_os = "macos") {
        return Some(Path::new(search.environment.get("HOME")?).join(macos));
    }
    place(search, variable, linux)
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    folders
}

/// `{name}-{hash of the folder}-py{minor}` below poetry's `virtualenvs.path`; `envs.toml` there says which one is active.
fn poetry(search: &Search<'_>, folder: &Path) -> Vec<PathBuf> {
    let Some(name) = project_name(folder) else {
        return Vec::new();
    };
    let special = |c: char| if " $`!*@\"\\\r\n\t".contains(c) { '_' } else { c };
    let name: String = name.to_lowercase().chars().map(special).take(42).collect();
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let base = format!("{name}-{}", path_hash(&real));
    let Some(store) = poetry_store(search, folder) else {
        return Vec::new();
    };
    let active = read_small(&store.join("envs.toml")).and_then(|text| text.parse::<toml::Table>().ok());
    let minor = active
        .as_ref()
        .and_then(|envs| envs.get(&base)?.get("minor")?.as_str());
    let prefix = format!("{base}-py");
    let named = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
    };
    let all = subfolders(&store).into_iter().filter(named);
    minor
        .map(|minor| store.join(format!("{prefix}{minor}")))
        .into_iter()
        .chain(all)
        .collect()
}

/// Where poetry keeps environments: the project's `poetry.toml`, the variables, the user's `config.toml`, the cache.
fn poetry_store(search: &Search<'_>, folder: &Path) -> Option<PathBuf> {
    let own = || {
        user_folder(
            search,
            "XDG_CONFIG_HOME",
            ".config",
            "Library/Application Support",
        )
    };
    let config = place(search, "POETRY_CONFIG_DIR", "")
        .filter(|_| search.environment.get("POETRY_CONFIG_DIR").is_some());
    let config = config.or_else(|| Some(own()?.join("pypoetry")))?;
    let read = |file: PathBuf| read_small(&file).and_then(|text| text.parse::<toml::Table>().ok());
    let files: Vec<toml::Table> = [folder.join("poetry.toml"), config.join("config.toml")]
        .into_iter()
        .filter_map(read)
        .collect();
    let written = |value: Option<&toml::Value>| value.and_then(toml::Value::as_str).map(str::to_owned);
    let cache = search.environment.get("POETRY_CACHE_DIR").map(str::to_owned);
    let cache = cache.or_else(|| files.iter().find_map(|file| written(file.get("cache-dir"))));
    let cache = cache.map(PathBuf::from).or_else(|| {
        Some(user_folder(search, "XDG_CACHE_HOME", ".cache", "Library/Caches")?.join("pypoetry"))
    })?;
    let path = search
        .environment
        .get("POETRY_VIRTUALENVS_PATH")
        .map(str::to_owned);
    let path = path.or_else(|| {
        files
            .iter()
            .find_map(|file| written(file.get("virtualenvs")?.get("path")))
    });
    let Some(path) = path else {
        return Some(cache.join("virtualenvs"));
    };
    let path = path.replace("{cache-dir}", &cache.to_string_lossy());
    match path.strip_prefix("~/") {
        Some(rest) => Some(Path::new(search.environment.get("HOME")?).join(rest)),
        None => Some(folder.join(path)),
    }
}

fn project_name(folder: &Path) -> Option<String> {
    let pyproject = manager::pyproject(folder)?;
    let name = |table: &toml::Value| Some(table.get("name")?.as_str()?.to_owned());
    let project = pyproject.get("project").and_then(name);
    project.or_else(|| pyproject.get("tool")?.get("poetry").and_then(name))
}

/// `.pdm-python` holds the path of the interpreter that pdm uses.
fn pdm(folder: &Path) -> Vec<PathBuf> {
    let named = read_small(&folder.join(".pdm-python"));
    let python = named.map(|text| folder.join(text.trim()));
    let environment = python.and_then(|python| python.parent()?.parent().map(Path::to_owned));
    environment
        .into_iter()
        .filter(|folder| folder.join("pyvenv.cfg").is_file())
        .collect()
}

/// Each environment below `WORKON_HOME` says in `.project` whose it is.
fn pipenv(search: &Search<'_>, folder: &Path) -> Vec<PathBuf> {
    let data = || Some(place(search, "XDG_DATA_HOME", ".local/share")?.join("virtualenvs"));
    let home = search
        .environment
        .get("WORKON_HOME")
        .map(PathBuf::from)
        .or_else(data);
    let belongs = |environment: &PathBuf| {
        read_small(&environment.join(".project")).is_some_and(|text| Path::new(text.trim()) == folder)
    };
    subfolders(&home.unwrap_or_default())
        .into_iter()
        .filter(belongs)
        .collect()
}

/// `env/virtual/{project}/{hash of the folder}/{environment}` in hatch's data folder. Tests are run in `hatch-test…`, else in
/// the default environment, which has the project's name.
fn hatch(search: &Search<'_>, folder: &Path) -> Vec<PathBuf> {
    let data = search
        .environment
        .get("HATCH_DATA_DIR")
        .map(PathBuf::from)
        .or_else(|| {
            Some(
                user_folder(
                    search,
                    "XDG_DATA_HOME",
                    ".local/share",
                    "Library/Application Support",
                )?
                .join("hatch"),
            )
        });
    let (Some(data), Some(name)) = (data, project_name(folder)) else {
        return Vec::new();
    };
    let name = name.to_ascii_lowercase().replace(['_', '.'], "-");
    let below = data.join("env/virtual").join(&name).join(path_hash(folder));
    let mut environments = subfolders(&below);
    let of_tests = |path: &PathBuf| {
        !path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("hatch-test"))
    };
    environments.sort_by_key(of_tests);
    environments
}

/// The environment of the name that `environment.yml` gives, among those that conda lists as the user's.
fn conda(search: &Search<'_>, folder: &Path) -> Vec<PathBuf> {
    let file = ["environment.yml", "environment.yaml"].map(|name| folder.join(name));
    let text = file.iter().find_map(|file| read_small(file)).unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("name:"));
    let Some(name) = name.map(|name| name.trim().trim_matches(['"', '\''])) else {
        return Vec::new();
    };
    let listed = place(search, "", ".conda/environments.txt")
        .and_then(|file| read_small(&file))
        .unwrap_or_default();
    let listed = listed.lines().map(PathBuf::from);
    listed
        .filter(|path| path.file_name().is_some_and(|last| last == name))
        .collect()
}
