//! Backends in programs of their own: good ones, hostile ones, and ones that nobody agreed to.

mod hostile;
mod install;
mod run;
mod told;

use std::path::{Path, PathBuf};

use crate::support::Project;

/// A repository whose suite is served by a plug-in that does one thing wrong.
pub(crate) struct Plugged {
    pub(crate) project: Project,
    /// The plug-in writes its process id there each time it is started.
    pub(crate) mark: PathBuf,
}

impl Plugged {
    /// `keys`: further lines of the plug-in's table.
    pub(crate) fn new(mode: &str, keys: &str) -> Self {
        let project = Project::bare();
        let mark = project.outside().join("mark");
        let config = format!(
            "[suite.own]\nbackend = \"own\"\n\n[backend.own]\nkind = \"exec\"\npath = \"tools/own.py\"\n{keys}\n"
        );
        project.write("qaas.toml", &config);
        let plugged = Self { project, mark };
        plugged.program("tools/own.py", mode);
        plugged
    }

    /// Writes the plug-in, at a path in the repository.
    pub(crate) fn program(&self, path: &str, mode: &str) {
        let text = include_str!("../data/misbehaving_backend.py");
        let text = text
            .replace("{mode}", mode)
            .replace("{mark}", self.mark.to_str().unwrap());
        self.project.write(path, &text);
        executable(&self.project.root().join(path));
    }

    /// A person agrees, which may start the plug-in; the marks of that are wiped away.
    pub(crate) fn trusted(self) -> Self {
        let agreed = self.project.qaas(&["trust", "--yes"]);
        assert_eq!(agreed.code, Some(0), "{}", agreed.stderr);
        let _ = std::fs::remove_file(&self.mark);
        self
    }

    /// The plug-in's processes, by what they wrote.
    pub(crate) fn started(&self) -> Vec<u32> {
        let text = std::fs::read_to_string(&self.mark).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Whether one of them hangs by now.
    pub(crate) fn hangs(&self) -> bool {
        self.mark.with_extension("hangs").exists()
    }

    /// Those that are still there.
    pub(crate) fn alive(&self) -> Vec<u32> {
        let is_alive = |pid: &u32| {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            !status.is_empty() && !status.contains("State:\tZ")
        };
        self.started().into_iter().filter(is_alive).collect()
    }
}

pub(crate) fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}
