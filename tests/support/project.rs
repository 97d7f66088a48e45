//! A throw-away repository, and `qaas` run in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::Pytest;

/// A repository in a temporary folder, with a state folder and a home of its own.
pub(crate) struct Project {
    folder: tempfile::TempDir,
    env: Vec<(String, String)>,
}

/// What one call of `qaas` did.
pub(crate) struct Answer {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Project {
    /// An empty repository that uses the newest pytest, as an active environment.
    pub(crate) fn new() -> Self {
        Self::with_pytest(Pytest::V9_2)
    }

    pub(crate) fn with_pytest(version: Pytest) -> Self {
        Self::bare().env(
            "VIRTUAL_ENV",
            version.python().ancestors().nth(2).unwrap().to_str().unwrap(),
        )
    }

    /// An empty repository and no environment at all.
    pub(crate) fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["repo", "state", "home", "tmp"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self {
            folder,
            env: Vec::new(),
        }
    }

    /// Adds a file to the repository.
    pub(crate) fn file(self, path: &str, contents: &str) -> Self {
        self.write(path, contents);
        self
    }

    /// Sets a variable of `qaas`'s environment.
    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a file of the repository, now.
    pub(crate) fn write(&self, path: &str, contents: &str) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    /// The repository's real path.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("repo").canonicalize().unwrap()
    }

    /// The folder around the repository: for what must lie outside it.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// The command, ready to start, with a controlled environment.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "tests start processes")]
        let mut command = Command::new(env!("CARGO_BIN_EXE_qaas"));
        let base = self.folder.path();
        #[expect(clippy::disallowed_methods, reason = "the tests' own environment")]
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .args(words)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", path)
            .env("HOME", base.join("home"))
            .env("TMPDIR", base.join("tmp"))
            .env("QAAS_STATE_DIR", base.join("state"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("LANG", "C.UTF-8")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null());
        command
    }

    /// Runs `qaas WORDS…` to its end.
    pub(crate) fn qaas(&self, words: &[&str]) -> Answer {
        let output = self.command(words).output().expect("qaas starts");
        Answer {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// The same, typed by somebody who stands in a folder of the repository.
    pub(crate) fn qaas_from(&self, folder: &str, words: &[&str]) -> Answer {
        let mut command = self.command(words);
        let output = command
            .current_dir(self.root().join(folder))
            .output()
            .expect("qaas starts");
        Answer {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Runs git in the repository, without anybody's settings.
    pub(crate) fn git(&self, words: &[&str]) {
        #[expect(clippy::disallowed_methods, reason = "tests start processes")]
        let mut command = Command::new("git");
        let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        command
            .args(who)
            .args(words)
            .current_dir(self.root())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().expect("git starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {words:?}: {said}");
    }

    /// Calls a tool as an agent would, and gives its structured answer.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Value {
        let root = self.root();
        let answer = self.qaas(&[
            "call",
            tool,
            "--root",
            root.to_str().unwrap(),
            "--args",
            &arguments.to_string(),
        ]);
        answer.json()
    }
}

/// Every row of an answer, collection errors included, as `nodeid -> outcome`.
pub(crate) fn rows(answer: &Value) -> BTreeMap<String, String> {
    let text = |row: &Value, key: &str| row[key].as_str().map(str::to_owned);
    ["tests", "collection_errors"]
        .into_iter()
        .filter_map(|key| answer[key].as_array())
        .flatten()
        .map(|row| {
            let outcome = text(row, "outcome").unwrap_or("error".to_owned());
            (text(row, "nodeid").unwrap(), outcome)
        })
        .collect()
}

/// rustup looks for toolchains in the home folder, which is another one here.
pub(crate) fn with_toolchain(project: Project) -> Project {
    let mut project = project.env("CARGO_NET_OFFLINE", "true");
    #[expect(clippy::disallowed_methods, reason = "the tests' own environment")]
    let home = std::env::var("HOME").unwrap_or_default();
    for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
        #[expect(clippy::disallowed_methods, reason = "the tests' own environment")]
        let value = std::env::var(name).unwrap_or_else(|_| format!("{home}/{folder}"));
        project = project.env(name, &value);
    }
    project
}

impl Answer {
    /// Standard output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\nstdout: {}\nstderr: {}", self.stdout, self.stderr))
    }
}
