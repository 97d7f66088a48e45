//! The caller's environment as a value. Only the command line reads the real one.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// Variables, working folder and the folders derived from them, taken once by `main`.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Names and values as the system gave them. Ones that are not Unicode are kept out of `vars` (see
    /// [`Environment::undecodable`]).
    pub vars: BTreeMap<String, String>,
    /// Names (lossy) of variables whose value is not Unicode.
    pub undecodable: Vec<String>,
    /// The working folder `qaas` was started in.
    pub cwd: PathBuf,
    /// The running program's file, so that an environment made for qaas itself (`uvx`, `pipx`) is not taken for the
    /// project's. `None`: not known.
    pub program: Option<PathBuf>,
}

impl Environment {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Where qaas keeps what outlives a run: `QAAS_STATE_DIR`, else `XDG_STATE_HOME/qaas`, else the platform's
    /// place under `HOME`. `None` without any of them.
    pub fn state_dir(&self) -> Option<PathBuf> {
        let absolute = |name: &str| {
            self.get(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        absolute("QAAS_STATE_DIR")
            .or_else(|| Some(absolute("XDG_STATE_HOME")?.join("qaas")))
            .or_else(|| {
                let home = absolute("HOME")?;
                let place = if cfg!(target_os = "macos") {
                    "Library/Application Support"
                } else {
                    ".local/state"
                };
                Some(home.join(place).join("qaas"))
            })
    }
}
