//! From a name or a table to a backend that can be started, if it may be.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use engine::config::{PluginFile, Settings};
use engine::digest::sha256;
use engine::environment::Environment;
use engine::store::plugins::{Plugins, RememberedCapabilities, read_program};
use engine::trust::{Part, Surface, Trust, TrustStore, check_owners};
use exec_plugin::host::{Capabilities, ExecBackend, Gate, Spec};
use runner_core::backend::{BackendError, NAMES, NOT_STARTED, StillWanted, is_name};
use runner_core::wire::SERVE;
use serde_json::{Map, Value};

use super::file::{self, Refused, Typed};
use super::peer::{PeerLaunch, Program, environment};
use super::table::Table;
use super::{Kind, PREFIX};
use crate::{external, library_host, world};

/// Whether a command may start plug-ins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Starting {
    Allowed,
    /// The command starts nothing at all (`qaas check`).
    Never,
}

/// Where a plug-in comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The repository's file, as its table names it.
    Repository(String),
    /// `qaas backend add` copied it from here.
    Installed(PathBuf),
    OnPath(PathBuf),
}

/// A plug-in that was found. Nothing of it was started.
#[derive(Clone)]
pub(crate) struct Plugin {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) origin: Origin,
    pub(crate) sha256: String,
    pub(crate) backend: Arc<ExecBackend>,
    /// What its answer about itself depends on.
    key: String,
}

impl Plugin {
    /// Whether it is the same file from the same place.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.origin, &self.sha256) == (&other.name, &other.origin, &other.sha256)
    }
}

/// What loading depends on.
pub(crate) struct Loader {
    /// The repository's root, real path. Empty: there is none.
    root: PathBuf,
    environment: Environment,
    /// `None` without a usable state folder.
    plugins: Option<Plugins>,
    starting: Starting,
    consent: Arc<Consent>,
}

/// Whether a person agreed to what a table would start. Looked up each time: it may come and go under a server.
struct Consent {
    root: PathBuf,
    records: Option<TrustStore>,
    /// A person typed `--trust`.
    session: bool,
    /// Set once the configuration is complete. Until then nothing is agreed to.
    settings: OnceLock<Arc<Settings>>,
}

impl Consent {
    fn require(&self, name: &str) -> Result<(), BackendError> {
        let Some(settings) = self.settings.get() else {
            return Err(BackendError::new(
                "untrusted",
                "the configuration is not read yet",
            ));
        };
        let surface = Surface::of(settings);
        let records = self.records.as_ref();
        let trust = Trust::decide(records, &self.root, settings, &surface, self.session);
        trust
            .require(&Part::Backend(name.to_owned()))
            .map_err(|refusal| BackendError::new(refusal.code, refusal.message).with_hint(refusal.hint))
    }
}

impl Loader {
    pub(crate) fn new(
        root: &Path,
        environment: &Environment,
        plugins: Option<Plugins>,
        starting: Starting,
        session_trust: bool,
    ) -> Self {
        let records = environment.state_dir().map(|state| TrustStore::new(&state));
        Self {
            root: root.to_owned(),
            environment: environment.clone(),
            plugins,
            starting,
            consent: Arc::new(Consent {
                root: root.to_owned(),
                records,
                session: session_trust,
                settings: OnceLock::new(),
            }),
        }
    }

    /// The configuration that tables were read from: what is agreed to is looked up in it.
    pub(crate) fn settle(&self, settings: &Arc<Settings>) {
        let _ = self.consent.settings.set(Arc::clone(settings));
    }

    /// The plug-in of a table, and its file for the trust in it.
    pub(crate) fn table(
        &self,
        name: &str,
        kind: Kind,
        table: &Table,
    ) -> Result<(Plugin, Option<PluginFile>), Refused> {
        let Some(written) = &table.path else {
            return Ok((self.without_path(name, kind, table)?, None));
        };
        let (consent, owner) = (Arc::clone(&self.consent), name.to_owned());
        let gate = self.gate(move || consent.require(&owner));
        let origin = Origin::Repository(written.clone());
        if kind == Kind::Library && file::is_not_there(&self.root, written) {
            let missing = dylib_plugin::LibraryError {
                path: self.root.join(written),
                fault: dylib_plugin::Fault::Missing,
            };
            let program: Program = Box::new(move || Err(missing.clone().into()));
            let plugin = self.made(name, kind, origin, String::new(), table, program, gate);
            return Ok((plugin, None));
        }
        let real = file::inside(&self.root, written)?;
        let bytes = file::content(kind, &real)?;
        let file = PluginFile {
            path: written.clone(),
            sha256: sha256(&bytes),
        };
        let hash = file.sha256.clone();
        let program = self.copy(name, kind, real, bytes);
        Ok((
            self.made(name, kind, origin, hash, table, program, gate),
            Some(file),
        ))
    }

    fn without_path(&self, name: &str, kind: Kind, table: &Table) -> Result<Plugin, Refused> {
        let found = self.find(name, table)?.ok_or_else(|| {
            let on_path = match kind {
                Kind::Exec => format!(", and no {PREFIX}{name} on PATH"),
                Kind::Library => String::new(),
            };
            Refused::new(
                format!("there is no backend `{name}` among those installed{on_path}"),
                "give the table a `path`, or install it: `qaas backend add PATH`",
            )
        })?;
        if found.kind != kind {
            let is = found.kind.as_str();
            return Err(Refused::new(
                format!(
                    "says `{}`, and the backend `{name}` that is installed is `{is}`",
                    kind.as_str()
                ),
                format!("write `kind = \"{is}\"`"),
            ));
        }
        Ok(found)
    }

    /// A plug-in by its name alone: one that a person installed, else a program on PATH. Needs no trust.
    pub(crate) fn find(&self, name: &str, table: &Table) -> Result<Option<Plugin>, Refused> {
        let installed = self
            .plugins
            .as_ref()
            .and_then(|plugins| Some((plugins, plugins.installed(name)?)));
        if let Some((plugins, installed)) = installed
            && let Some(kind) = Kind::parse(&installed.kind)
        {
            let again = || {
                let message = format!("the copy of the installed backend `{name}` is damaged");
                Refused::new(
                    message,
                    format!("`qaas backend add {}`", installed.from.display()),
                )
            };
            let bytes = plugins.content(&installed).ok_or_else(again)?;
            let origin = Origin::Installed(installed.from.clone());
            let program = self.copy(name, kind, installed.from, bytes);
            let gate = self.gate(|| Ok(()));
            let plugin = self.made(name, kind, origin, installed.sha256, table, program, gate);
            return Ok(Some(plugin));
        }
        let Some(program) = self.on_path_of(name) else {
            return Ok(None);
        };
        self.on_path(name, &program, table).map(Some)
    }

    /// The names of all plug-ins that can be named without a table.
    pub(crate) fn names(&self) -> Vec<String> {
        let installed = self.plugins.iter().flat_map(Plugins::all_installed);
        let mut names: Vec<String> = installed.map(|installed| installed.name).collect();
        let path = self.environment.get("PATH").map(OsStr::new);
        for (program, _) in external::programs(path, self.inside()) {
            if let Some(name) = program.strip_prefix("backend-")
                && !names.iter().any(|known| known == name)
            {
                names.push(name.to_owned());
            }
        }
        names
    }

    /// Every plug-in that can be named without a table.
    pub(crate) fn all(&self) -> Vec<Result<Plugin, Refused>> {
        let find = |name: &String| {
            if is_name(name) {
                return self.find(name, &Table::default());
            }
            let message = format!("{PREFIX}{name}: {name:?} cannot be the name of a backend");
            Err(Refused::new(message, NAMES))
        };
        let names = self.names();
        names.iter().map(find).filter_map(Result::transpose).collect()
    }

    /// Where something of this name lies that could be a plug-in, in words. Reads nothing of it.
    pub(crate) fn place(&self, name: &str) -> Option<String> {
        let installed = self.plugins.as_ref().and_then(|plugins| plugins.installed(name));
        if installed.is_some() {
            return Some(format!("the installed backend `{name}`"));
        }
        self.on_path_of(name).map(|program| program.display().to_string())
    }

    fn on_path_of(&self, name: &str) -> Option<PathBuf> {
        let path = self.environment.get("PATH").map(OsStr::new);
        is_name(name)
            .then(|| external::program(&format!("{PREFIX}{name}"), path, self.inside()))
            .flatten()
    }

    /// A file whose path a person typed: consent for this command.
    pub(crate) fn typed(&self, name: &str, typed: Typed, table: &Table) -> Plugin {
        let Typed { kind, from, content } = typed;
        let hash = sha256(&content);
        let program = self.copy(name, kind, from.clone(), content);
        let gate = self.gate(|| Ok(()));
        self.made(name, kind, Origin::Installed(from), hash, table, program, gate)
    }

    fn on_path(&self, name: &str, program: &Path, table: &Table) -> Result<Plugin, Refused> {
        let refused = |message: String| Refused::new(message, "install it again, or take it off PATH");
        let folder = program.parent().unwrap_or(Path::new("/"));
        check_owners(folder, Some(program)).map_err(|error| refused(error.to_string()))?;
        let bytes = read_program(program)
            .map_err(|error| refused(format!("{} cannot be read: {error}", program.display())))?;
        let argv: Vec<OsString> = vec![program.into(), SERVE.into()];
        let start: Program = Box::new(move || Ok(argv.clone()));
        let (origin, hash) = (Origin::OnPath(program.to_owned()), sha256(&bytes));
        let gate = self.gate(|| Ok(()));
        Ok(self.made(name, Kind::Exec, origin, hash, table, start, gate))
    }

    /// The command line of a copy of these bytes, whose copy is made when it is needed. `from` is only for messages.
    fn copy(&self, name: &str, kind: Kind, from: PathBuf, bytes: Vec<u8>) -> Program {
        let (plugins, name) = (self.plugins.clone(), name.to_owned());
        Box::new(move || {
            if kind == Kind::Library {
                dylib_plugin::check(&from, &bytes)?;
            }
            let missing = || {
                BackendError::new(
                    "no_state",
                    "there is no state folder to keep a copy of the backend in",
                )
                .with_hint("set HOME or QAAS_STATE_DIR to a folder that can be written")
            };
            let kept = plugins.as_ref().ok_or_else(missing)?.keep(&bytes, &from);
            let copy = kept
                .map_err(|error| BackendError::new("no_state", error.to_string()).with_hint(error.hint()))?;
            Ok(match kind {
                Kind::Exec => vec![copy.into(), SERVE.into()],
                Kind::Library => library_host::argv(&name, &from, copy, &sha256(&bytes)),
            })
        })
    }

    /// The folder that no program is taken from.
    fn inside(&self) -> Option<&Path> {
        Some(self.root.as_path()).filter(|root| !root.as_os_str().is_empty())
    }

    fn gate(&self, allowed: impl Fn() -> Result<(), BackendError> + Send + Sync + 'static) -> Gate {
        let starting = self.starting;
        Box::new(move || match starting {
            Starting::Allowed => allowed(),
            Starting::Never => Err(BackendError::new(NOT_STARTED, "this command starts no plug-in")),
        })
    }

    #[expect(clippy::too_many_arguments, reason = "all that a plug-in is made of")]
    fn made(
        &self,
        name: &str,
        kind: Kind,
        origin: Origin,
        hash: String,
        table: &Table,
        program: Program,
        gate: Gate,
    ) -> Plugin {
        let key = key(name, &hash, &table.config);
        let remembered = self.plugins.as_ref().and_then(|plugins| plugins.remembered(&key));
        let spec = Spec {
            name: name.to_owned(),
            root: self.root.clone(),
            config: table.config.clone(),
            timeout: table.timeout,
            idle: IDLE,
            known: remembered.map(|remembered| (remembered.info, remembered.left_out)),
        };
        let launch = PeerLaunch {
            name: name.to_owned(),
            supervisor: world::supervisor(),
            program,
            env: environment(&self.environment, self.inside()),
        };
        Plugin {
            name: name.to_owned(),
            kind,
            origin,
            sha256: hash,
            backend: Arc::new(ExecBackend::new(spec, Box::new(launch), gate)),
            key,
        }
    }

    /// Asks a plug-in what it can do, unless that is known, and remembers it.
    /// `waits`: how long somebody waits for that, beside the plug-in's own time limit.
    pub(crate) fn probe(
        &self,
        plugin: &Plugin,
        waits: &StillWanted,
    ) -> Result<Option<Capabilities>, BackendError> {
        if plugin.backend.is_known() {
            return Ok(None);
        }
        let learned = plugin.backend.probe(waits)?;
        self.remember(plugin, &learned);
        Ok(Some(learned))
    }

    /// What is remembered saves a start the next time; without it nothing is lost.
    pub(crate) fn remember(&self, plugin: &Plugin, learned: &Capabilities) {
        if let Some(plugins) = &self.plugins {
            let said = RememberedCapabilities {
                info: learned.info.clone(),
                left_out: learned.left_out.clone(),
            };
            let _ = plugins.remember(&plugin.key, &said);
        }
    }
}

/// How long a process of a plug-in is kept for the next run of a server.
const IDLE: Duration = Duration::from_secs(300);

fn key(name: &str, hash: &str, config: &Map<String, Value>) -> String {
    let config = Value::Object(config.clone());
    format!("{name}\n{hash}\n{config}\n{}", env!("CARGO_PKG_VERSION"))
}
