//! A plug-in's process: the supervised peer of `process`, as the transport of the plug-in protocol.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::environment::Environment;
use exec_plugin::host::{Disconnect, Launch, Received, Shutdown, Transport};
use process::{Job, Limits, Peer, PeerExit, PeerOutput, Supervisor};
use runner_core::backend::BackendError;
use runner_core::wire::{COOKIE, MAX_LINE};

use crate::external;

/// What a plug-in gets of the caller's environment: enough to find an interpreter and to speak the person's language.
/// No secrets, and nothing that makes a program load other code.
const PASSED: [&str; 8] = [
    "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM",
];

/// The program to start, once it is to be started: then its copy is made or looked at.
pub(super) type Program = Box<dyn Fn() -> Result<Vec<OsString>, BackendError> + Send + Sync>;

/// Starts a plug-in's process.
pub(super) struct PeerLaunch {
    pub(super) name: String,
    pub(super) supervisor: Supervisor,
    pub(super) program: Program,
    pub(super) env: BTreeMap<OsString, OsString>,
}

impl Launch for PeerLaunch {
    fn launch(&self) -> Result<Box<dyn Transport>, BackendError> {
        let job = Job {
            name: format!("backend {}", self.name),
            argv: (self.program)()?,
            env: self.env.clone(),
            // Not the repository: nothing in it is to be found by accident.
            cwd: PathBuf::from("/"),
            channel: true,
            stdout_file: None,
            deadline: None,
            grace: Duration::ZERO,
            interrupt: false,
            cancel_grace: Duration::ZERO,
            on_deadline: None,
            limits: Limits::default(),
            view: None,
        };
        let peer = Peer::start(&self.supervisor, job, MAX_LINE);
        let peer = peer.map_err(|error| BackendError::new("no_program", error.to_string()))?;
        Ok(Box::new(PeerTransport(peer)))
    }
}

struct PeerTransport(Peer);

impl Transport for PeerTransport {
    fn send(&mut self, line: &str, within: Duration, goes_on: &mut dyn FnMut(Duration) -> bool) -> bool {
        self.0.send(line, within, goes_on)
    }

    fn receive(&mut self, within: Duration) -> Received {
        match self.0.hear(within) {
            PeerOutput::Line(line) => Received::Line(line),
            PeerOutput::Silence => Received::Silence,
            PeerOutput::TooLong(head) => Received::TooLong(head),
            PeerOutput::End => Received::End,
        }
    }

    fn part(self: Box<Self>, farewell: Shutdown) -> Disconnect {
        let PeerExit {
            failed,
            code,
            signal,
            forced,
            stderr,
        } = match farewell {
            Shutdown::Politely(patience) => self.0.end(patience),
            Shutdown::Going(patience) => self.0.kill(patience),
            Shutdown::Now => self.0.kill(Duration::ZERO),
        };
        Disconnect {
            failed,
            code,
            signal,
            forced,
            stderr,
        }
    }
}

/// A plug-in's environment. PATH without what a repository could plant: relative entries and those inside the root.
pub(super) fn environment(caller: &Environment, root: Option<&Path>) -> BTreeMap<OsString, OsString> {
    let passed = caller
        .vars
        .iter()
        .filter(|(name, _)| PASSED.contains(&name.as_str()) || name.starts_with("LC_"));
    let mut env: BTreeMap<OsString, OsString> =
        passed.map(|(name, value)| (name.into(), value.into())).collect();
    let path = caller.get("PATH").map(OsStr::new).unwrap_or_default();
    let entries = std::env::split_paths(path).filter(|entry| external::passed_over(entry, root).is_none());
    if let Ok(path) = std::env::join_paths(entries) {
        env.insert("PATH".into(), path);
    }
    let (name, value) = COOKIE;
    env.insert(name.into(), value.into());
    env
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plug_in_gets_no_secrets_and_no_path_into_the_repository() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("bin")).unwrap();
        let vars = [
            ("PATH", format!("{}:bin:/usr/bin", root.join("bin").display())),
            ("HOME", "/h".to_owned()),
            ("LC_ALL", "C".to_owned()),
            ("TOKEN", "secret".to_owned()),
            ("PYTHONPATH", ".".to_owned()),
            ("LD_PRELOAD", "/x.so".to_owned()),
        ];
        let caller = Environment {
            vars: vars.map(|(name, value)| (name.to_owned(), value)).into(),
            ..Environment::default()
        };
        let env = environment(&caller, Some(&root));
        let names: Vec<&str> = env.keys().filter_map(|name| name.to_str()).collect();
        assert_eq!(names, ["HOME", "LC_ALL", "PATH", COOKIE.0]);
        assert_eq!(env[OsStr::new("PATH")], "/usr/bin");
    }
}
