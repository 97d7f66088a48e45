//! Folders and environments to choose among.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::project::error::ProjectError;
use crate::project::interpreter::{Search, find};
use runner_core::facts::Interpreter;

/// A repository, another project, a home and a system, in one temporary folder. Paths are relative to it.
pub(super) struct World {
    temp: tempfile::TempDir,
    pub(super) environment: Environment,
    start: &'static str,
    pub(super) typed: Option<&'static str>,
    pub(super) written: Option<&'static str>,
}

impl World {
    pub(super) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let mut world = Self {
            temp,
            environment: Environment::default(),
            start: "repo",
            typed: None,
            written: None,
        };
        fs::create_dir_all(world.at("repo")).unwrap();
        world.environment.cwd = world.at("repo");
        world.program("system/bin/python3").var("PATH", "system/bin")
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(path)
    }

    pub(super) fn file(self, path: &str, text: &str) -> Self {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// Something that would fail if anybody started it.
    pub(super) fn program(self, path: &str) -> Self {
        let world = self.file(path, "#!/bin/sh\nexit 70\n");
        fs::set_permissions(world.at(path), fs::Permissions::from_mode(0o755)).unwrap();
        world
    }

    pub(super) fn link(self, path: &str, target: &str) -> Self {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        symlink(target, self.at(path)).unwrap();
        self
    }

    /// An environment as `python -m venv` makes it, of Python 3.11.7, holding `packages` (`pytest-9.2.0`).
    pub(super) fn venv(self, folder: &str, packages: &[&str]) -> Self {
        let base = self.at("system/bin/python3");
        let config = format!(
            "home = {}\ninclude-system-site-packages = false\nversion = 3.11.7\n",
            self.at("system/bin").display()
        );
        let site = format!("{folder}/lib/python3.11/site-packages");
        fs::create_dir_all(self.at(&site)).unwrap();
        let mut world = self.file(&format!("{folder}/pyvenv.cfg"), &config);
        for package in packages {
            world = world.file(&format!("{site}/{package}.dist-info/METADATA"), "");
        }
        world
            .link(&format!("{folder}/bin/python3"), "python")
            .link(&format!("{folder}/bin/python"), &base.to_string_lossy())
    }

    /// Sets a variable; a value that begins with a folder of this world becomes absolute.
    pub(super) fn var(mut self, name: &str, value: &str) -> Self {
        let absolute = |part: &str| match self.at(part) {
            path if path.starts_with(self.temp.path().canonicalize().unwrap()) && part.contains('/') => {
                path.to_string_lossy().into_owned()
            }
            _ => part.to_owned(),
        };
        let value = value.split(':').map(absolute).collect::<Vec<_>>().join(":");
        self.environment.vars.insert(name.to_owned(), value);
        self
    }

    pub(super) fn start(mut self, start: &'static str) -> Self {
        fs::create_dir_all(self.at(start)).unwrap();
        self.start = start;
        self
    }

    pub(super) fn find(&self) -> Result<Interpreter, ProjectError> {
        let (root, start) = (self.at("repo"), self.at(self.start));
        let search = Search {
            root: &root,
            dir: &start,
            start: &start,
            environment: &self.environment,
        };
        find(&search, self.typed.map(Path::new), self.written)
    }

    /// The choice as one line: path, reason, and what was passed over.
    pub(super) fn story(&self) -> String {
        let top = self.temp.path().canonicalize().unwrap();
        let story = match self.find() {
            Ok(found) => {
                let passed = found.passed_over.iter().map(|note| format!(" | {note}"));
                let path = found.path.strip_prefix(&top).unwrap_or(&found.path).display();
                format!("{path}, {}{}", found.why, passed.collect::<String>())
            }
            Err(error) => error.message.lines().next().unwrap().to_owned(),
        };
        story.replace(&format!("{}/", top.display()), "")
    }
}
