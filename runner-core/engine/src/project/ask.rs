//! Asking an interpreter what reading cannot tell: the only thing that discovery starts.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::error::{ProjectError, ProjectErrorKind};
use super::packages::{Packages, normal};
use crate::environment::Environment;
use process::{Cancel, Job, Limits, Supervisor};
use runner_core::facts::Interpreter;
use runner_core::plan::Stream;

/// How long an interpreter may take to answer.
const LIMIT: Duration = Duration::from_secs(5);

const SCRIPT: &str = include_str!("ask.py");

/// What begins the line of the answer; whatever else is printed is somebody's start-up file.
const MARK: &str = "qaas-interpreter:";

#[derive(Deserialize)]
struct Answer {
    version: String,
    packages: BTreeMap<String, Option<String>>,
}

/// The same interpreter, with its version and packages filled in by its own word.
///
/// For an interpreter whose packages are not known ([`Interpreter::packages`] is `None`), and only on the way to running
/// tests with it. It is started in an empty folder with `environment` as its whole environment; nothing of the working
/// folder or of PYTHONPATH is imported. An interpreter whose packages are known is handed back as it is.
pub async fn ask(
    interpreter: &Interpreter,
    supervisor: &Supervisor,
    environment: &Environment,
) -> Result<Interpreter, ProjectError> {
    if interpreter.packages.is_some() {
        return Ok(interpreter.clone());
    }
    let empty = empty_folder(environment).map_err(|error| {
        ProjectError::new(
            ProjectErrorKind::InterpreterSilent,
            format!("no empty folder could be made to start Python in: {error}"),
        )
    })?;
    let mut output: Vec<String> = Vec::new();
    let mut sink = |stream: Stream, lines: Vec<String>| {
        output.extend(lines.into_iter().filter(|_| stream != Stream::Channel));
    };
    let job = job(interpreter, environment, empty.path());
    let exited = supervisor.run(job, &Cancel::new(), &mut sink).await;
    let exited = exited.map_err(|error| silent(interpreter, "not at all", &error.to_string()))?;
    if exited.exit.timed_out {
        return Err(silent(interpreter, "not in time", &said(&output)));
    }
    let line = output.iter().rev().find_map(|line| line.strip_prefix(MARK));
    let answer = line.and_then(|line| serde_json::from_str::<Answer>(line).ok());
    let answer = answer.ok_or_else(|| silent(interpreter, "not in JSON", &said(&output)))?;
    Ok(Interpreter {
        version: Some(answer.version),
        packages: Some(packages(answer.packages)),
        ..interpreter.clone()
    })
}

fn empty_folder(environment: &Environment) -> std::io::Result<tempfile::TempDir> {
    let make = |place: &Path| tempfile::Builder::new().prefix("qaas-ask-").tempdir_in(place);
    let wanted = environment.get("TMPDIR").map(PathBuf::from);
    wanted.map_or_else(
        || make(Path::new("/tmp")),
        |place| make(&place).or_else(|_| make(Path::new("/tmp"))),
    )
}

fn job(interpreter: &Interpreter, environment: &Environment, empty: &Path) -> Job {
    let program = interpreter.path.clone().into_os_string();
    let python_path = environment.get("PYTHONPATH").unwrap_or_default();
    let args = ["-c", SCRIPT, MARK, python_path].map(OsString::from);
    let vars = environment.vars.iter();
    let mut env: BTreeMap<OsString, OsString> = vars.map(|(k, v)| (k.into(), v.into())).collect();
    env.remove(OsStr::new("PYTHONPATH"));
    env.insert("PYTHONDONTWRITEBYTECODE".into(), "1".into());
    env.insert("PYTHONIOENCODING".into(), "utf-8".into());
    Job {
        name: "interpreter".to_owned(),
        argv: std::iter::once(program).chain(args).collect(),
        env,
        cwd: empty.to_owned(),
        channel: false,
        stdout_file: None,
        deadline: Some(tokio::time::Instant::now() + LIMIT),
        grace: Duration::ZERO,
        interrupt: false,
        cancel_grace: Duration::ZERO,
        on_deadline: None,
        limits: Limits::default(),
        view: None,
    }
}

fn packages(answered: BTreeMap<String, Option<String>>) -> Packages {
    answered
        .into_iter()
        .map(|(name, version)| (normal(&name), version.unwrap_or_default()))
        .collect()
}

/// The beginning of what it printed instead.
fn said(output: &[String]) -> String {
    const MOST: usize = 200;
    let text: String = output.join("\n").trim().chars().take(MOST).collect();
    if text.is_empty() {
        "it said nothing".to_owned()
    } else {
        format!("it said: {text}")
    }
}

fn silent(interpreter: &Interpreter, how: &str, why: &str) -> ProjectError {
    ProjectError::new(
        ProjectErrorKind::InterpreterSilent,
        format!(
            "QA0305 the environment answers but {how}\nenvironment: {}, chosen because it is {}\n{why}",
            interpreter.path.display(),
            interpreter.why
        ),
    )
    .with_hint("other environment: qaas run --python PATH")
}
