//! Interpreters that are asked what they have. Needs a `python3` on PATH.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use engine::environment::Environment;
use engine::project::ask;
use runner_core::facts::Interpreter;

use crate::scripted::supervisor;

fn environment(more: &[(&str, &str)]) -> Environment {
    #[expect(
        clippy::disallowed_methods,
        reason = "where Python is is the caller's business"
    )]
    let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".into());
    let mut environment = Environment::default();
    environment.vars.insert("PATH".to_owned(), path);
    for (name, value) in more {
        environment.vars.insert((*name).to_owned(), (*value).to_owned());
    }
    environment
}

fn python() -> Interpreter {
    let folders = environment(&[]).vars["PATH"].clone();
    let mut found = std::env::split_paths(&folders).map(|folder| folder.join("python3"));
    named(found.find(|path| path.is_file()).expect("a python3 on PATH"))
}

fn named(path: PathBuf) -> Interpreter {
    Interpreter {
        path,
        why: "named by a test".to_owned(),
        ..Interpreter::default()
    }
}

fn plant(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[tokio::test]
async fn an_interpreter_tells_its_version_and_what_lies_on_its_path_without_importing_from_there() {
    let temp = tempfile::tempdir().unwrap();
    let planted = "raise SystemExit('planted code was run')\n";
    plant(
        temp.path(),
        &[
            ("json.py", planted),
            ("pytest.py", planted),
            ("importlib/__init__.py", planted),
            ("email/__init__.py", planted),
            (
                "some_tool-1.2.dist-info/METADATA",
                "Metadata-Version: 2.1\nName: Some.Tool\nVersion: 1.2\n",
            ),
        ],
    );
    let environment = environment(&[("PYTHONPATH", temp.path().to_str().unwrap())]);
    let answer = ask(&python(), &supervisor(), &environment).await.unwrap();
    assert!(answer.version.as_deref().unwrap().starts_with("3."), "{answer:?}");
    assert_eq!(answer.package("some-tool"), Some("1.2"));
    assert_eq!(answer.why, "named by a test");
}

#[tokio::test]
async fn who_is_known_already_is_not_started() {
    let mut known = named(PathBuf::from("/no/such/python"));
    known.packages = Some([("pytest".to_owned(), "9.2.0".to_owned())].into());
    assert_eq!(ask(&known, &supervisor(), &environment(&[])).await, Ok(known));
}

#[tokio::test]
async fn what_is_no_python_is_told_with_the_beginning_of_what_it_said() {
    let temp = tempfile::tempdir().unwrap();
    let fake = temp.path().join("python");
    fs::write(
        &fake,
        "#!/bin/sh\necho pyenv: version 3.9 is not installed >&2\nexit 127\n",
    )
    .unwrap();
    fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
    let error = ask(&named(fake), &supervisor(), &environment(&[]))
        .await
        .unwrap_err();
    assert_eq!(error.kind.as_str(), "interpreter_silent");
    let message = error.message;
    assert!(
        message.starts_with("QA0305 the environment answers but not in JSON\n"),
        "{message}"
    );
    assert!(
        message.ends_with("it said: pyenv: version 3.9 is not installed"),
        "{message}"
    );
}
