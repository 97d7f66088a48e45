//! The tool that keeps a project's Python environment: which one, what it was told to install, and the command that mends
//! an environment in its own words. Found by reading; none of these tools is run.

use std::collections::BTreeSet;
use std::path::Path;

use super::interpreter::NAMED;
use super::packages::normal;
use super::settings_file::read_small;
use runner_core::facts::{Interpreter, Project};

/// Files that belong to one tool alone, the surest first.
const FILES: [(&str, &str); 10] = [
    ("uv.lock", "uv"),
    ("poetry.lock", "poetry"),
    ("pdm.lock", "pdm"),
    ("Pipfile.lock", "pipenv"),
    ("Pipfile", "pipenv"),
    (".pdm-python", "pdm"),
    ("poetry.toml", "poetry"),
    ("hatch.toml", "hatch"),
    ("environment.yml", "conda"),
    ("environment.yaml", "conda"),
];

/// Tables of `pyproject.toml` under `tool` that only a project kept by that tool has.
const TABLES: [&str; 4] = ["uv", "poetry", "pdm", "hatch"];

/// The tool that keeps the Python environment here: by its files, then by its table in `pyproject.toml`; nearest folder
/// first.
pub(super) fn manager(root: &Path, start: &Path) -> Option<&'static str> {
    upward(root, start).find_map(of_folder)
}

/// The tool of one folder.
pub(super) fn of_folder(folder: &Path) -> Option<&'static str> {
    let by_file = FILES.iter().find(|(file, _)| folder.join(file).is_file());
    by_file.map(|(_, tool)| *tool).or_else(|| {
        let pyproject = pyproject(folder)?;
        let tools = pyproject.get("tool")?.as_table()?;
        TABLES.into_iter().find(|table| tools.contains_key(*table))
    })
}

fn upward<'a>(root: &'a Path, start: &'a Path) -> impl Iterator<Item = &'a Path> {
    start
        .ancestors()
        .take_while(move |folder| folder.starts_with(root))
}

/// `pyproject.toml` of a folder, if it can be read.
pub(super) fn pyproject(folder: &Path) -> Option<toml::Table> {
    read_small(&folder.join("pyproject.toml"))?.parse().ok()
}

/// Distributions that the project says it needs, in lock files and in `pyproject.toml`: lower-case names with `-`.
pub(super) fn declared(root: &Path, start: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for folder in upward(root, start) {
        for lock in ["uv.lock", "poetry.lock", "pdm.lock"] {
            let text = read_small(&folder.join(lock)).unwrap_or_default();
            let quoted = |line: &str| Some(line.strip_prefix("name = \"")?.strip_suffix('"')?.to_owned());
            names.extend(text.lines().filter_map(|line| quoted(line.trim_end())));
        }
        let pipfile = read_small(&folder.join("Pipfile"));
        let pipfile: Option<toml::Table> = pipfile.and_then(|text| text.parse().ok());
        for table in ["packages", "dev-packages"] {
            names.extend(keys(pipfile.as_ref().and_then(|pipfile| pipfile.get(table))));
        }
        if let Some(pyproject) = pyproject(folder) {
            requirements(&toml::Value::Table(pyproject), &mut names);
        }
    }
    names.into_iter().map(|name| normal(&name)).collect()
}

/// All places of `pyproject.toml` that list requirements: PEP 621, PEP 735, and the tools' own tables.
fn requirements(pyproject: &toml::Value, names: &mut BTreeSet<String>) {
    let at = |path: &[&str]| path.iter().try_fold(pyproject, |value, key| value.get(key));
    let lists = [
        at(&["project", "dependencies"]),
        at(&["tool", "uv", "dev-dependencies"]),
        at(&["tool", "hatch", "envs", "default", "dependencies"]),
    ];
    let groups = [
        at(&["project", "optional-dependencies"]),
        at(&["dependency-groups"]),
        at(&["tool", "pdm", "dev-dependencies"]),
    ];
    let grouped = groups.into_iter().flatten().filter_map(toml::Value::as_table);
    let lists = lists
        .into_iter()
        .flatten()
        .chain(grouped.flat_map(toml::Table::values));
    let written = lists.filter_map(toml::Value::as_array).flatten();
    names.extend(written.filter_map(toml::Value::as_str).map(requirement));
    let poetry = at(&["tool", "poetry", "group"]).and_then(toml::Value::as_table);
    let groups = poetry.into_iter().flat_map(toml::Table::values);
    let tables = groups.map(|group| group.get("dependencies")).chain([
        at(&["tool", "poetry", "dependencies"]),
        at(&["tool", "poetry", "dev-dependencies"]),
    ]);
    names.extend(tables.flat_map(keys));
}

fn keys(table: Option<&toml::Value>) -> Vec<String> {
    let table = table.and_then(toml::Value::as_table);
    table
        .map(|table| table.keys().cloned().collect())
        .unwrap_or_default()
}

/// The name at the beginning of a requirement (PEP 508): `pytest` of `pytest[x]>=8; python_version > "3"`.
fn requirement(text: &str) -> String {
    let name = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    text.trim().chars().take_while(name).collect()
}

/// The command that makes the environment what the project says it is, where a tool keeps it.
pub(crate) fn synchronise(manager: &str) -> Option<&'static str> {
    Some(match manager {
        "uv" => "uv sync",
        "poetry" => "poetry install",
        "pdm" => "pdm install",
        "pipenv" => "pipenv install --dev",
        "hatch" => "hatch env create",
        "conda" => "conda env update --file environment.yml",
        _ => return None,
    })
}

/// The command that brings a distribution into the environment that `interpreter` stands for: in the words of the tool
/// that keeps it, and only a synchronisation where the project names the distribution already; into the very interpreter
/// that somebody named, where somebody did; never into a Python that is not the project's.
pub fn install(package: &str, project: &Project, interpreter: &Interpreter) -> String {
    let named = interpreter.why.starts_with(NAMED);
    let manager = project.manager.as_deref().filter(|_| !named);
    if let Some(command) = manager.and_then(synchronise)
        && project.declared.contains(&normal(package))
    {
        return command.to_owned();
    }
    match manager {
        Some("uv") => format!("uv add --dev {package}"),
        Some("poetry") => format!("poetry add --group dev {package}"),
        Some("pdm") => format!("pdm add -d {package}"),
        Some("pipenv") => format!("pipenv install --dev {package}"),
        Some("hatch") => {
            format!("add {package} to `[tool.hatch.envs.default] dependencies`, then: hatch env create")
        }
        Some("conda") => {
            format!("add {package} to environment.yml, then: conda env update --file environment.yml")
        }
        _ if interpreter.venv.is_none() && !named => {
            format!("python3 -m venv .venv && .venv/bin/python -m pip install {package}")
        }
        _ => {
            let path = &interpreter.path;
            let path = path.strip_prefix(&project.root).unwrap_or(path);
            format!("{} -m pip install {package}", path.display())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_project_declares_is_read_from_every_place_that_lists_requirements() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let files = [
            ("uv.lock", "[[package]]\nname = \"from-uv\"\nversion = \"1\"\n"),
            ("Pipfile", "[dev-packages]\nFrom_Pipfile = \"*\"\n"),
            (
                "pyproject.toml",
                "[project]\ndependencies = [\"from.project >= 1\"]\n[project.optional-dependencies]\ntest = [\"from-extra[x]; python_version > '3'\"]\n\
                 [dependency-groups]\ndev = [\"from-group\", {include-group = \"other\"}]\n\
                 [tool.poetry.group.dev.dependencies]\nfrom-poetry = \"^8\"\n",
            ),
        ];
        for (name, text) in files {
            std::fs::write(root.join(name), text).unwrap();
        }
        let names = declared(&root, &root);
        let expected = [
            "from-extra",
            "from-group",
            "from-pipfile",
            "from-poetry",
            "from-project",
            "from-uv",
        ];
        assert_eq!(names.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_declared_package_is_synchronised_and_another_added_by_the_tool_that_keeps_the_environment() {
        let mut project = Project {
            declared: ["pytest".to_owned()].into(),
            ..Project::default()
        };
        let interpreter = Interpreter {
            path: "/usr/bin/python3".into(),
            ..Interpreter::default()
        };
        for (manager, synchronised, added) in [
            ("uv", "uv sync", "uv add --dev black"),
            ("poetry", "poetry install", "poetry add --group dev black"),
            ("pdm", "pdm install", "pdm add -d black"),
            ("pipenv", "pipenv install --dev", "pipenv install --dev black"),
        ] {
            project.manager = Some(manager.to_owned());
            assert_eq!(install("pytest", &project, &interpreter), synchronised);
            assert_eq!(install("black", &project, &interpreter), added);
        }
    }

    #[test]
    fn nothing_is_installed_into_a_python_that_is_not_the_projects() {
        let mut interpreter = Interpreter {
            path: "/usr/bin/python3".into(),
            ..Interpreter::default()
        };
        let command = install("pytest", &Project::default(), &interpreter);
        assert_eq!(
            command,
            "python3 -m venv .venv && .venv/bin/python -m pip install pytest"
        );
        interpreter.why = format!("{NAMED} by --python");
        let command = install("pytest", &Project::default(), &interpreter);
        assert_eq!(command, "/usr/bin/python3 -m pip install pytest");
    }
}
