//! Compiling libraries, once each, and calling them.

use std::path::{Path, PathBuf};
use std::process::Command;

use dylib_plugin::{Library, LibraryError};
use runner_core::backend::{Mode, RunRequest};
use runner_core::facts::Project;
use runner_core::wire::{Answer, CallError, InitializeParams, Method, PROTOCOL};
use serde_json::{Value, json};
use sha2::Digest;

/// What is compiled of `tests/plugins/lines.c`.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Library,
    Program,
    Object,
}

/// Compiles `tests/plugins/NAME.c` with these arguments. Kept from test to test: each runs in a process of its own.
pub(crate) fn compiled(name: &str, kind: Kind, args: &[&str]) -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = package.join("tests/plugins").join(name).with_extension("c");
    let mut text = std::fs::read(&source).unwrap();
    text.extend(std::fs::read(package.join("qaas_backend.h")).unwrap());
    let flags: &[&str] = match kind {
        Kind::Library => &["-shared", "-fPIC"],
        Kind::Program => &["-fPIE", "-pie"],
        Kind::Object => &["-c", "-fPIC"],
    };
    text.extend([flags, args].concat().join(" ").into_bytes());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}-{}", hash(&text)));
    if !path.exists() {
        let beside = tempfile::NamedTempFile::new_in(&folder).unwrap().into_temp_path();
        #[expect(clippy::disallowed_methods, reason = "tests start compilers")]
        let output = Command::new("cc")
            .args(flags)
            .args([
                "-std=c99",
                "-D_GNU_SOURCE",
                "-Wall",
                "-Wextra",
                "-Wno-infinite-recursion",
                "-O1",
                "-I",
            ])
            .arg(package)
            .args(args)
            .arg("-o")
            .arg(&*beside)
            .arg(&source)
            .output()
            .expect("a C compiler, as Rust needs one too");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        beside.persist(&path).unwrap();
    }
    path
}

fn hash(bytes: &[u8]) -> String {
    // FNV-1a: it only has to tell our own variants apart.
    let start = 0xcbf2_9ce4_8422_2325_u64;
    let hash = bytes.iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// A C backend, with what is said of its table.
pub(crate) fn lines(args: &[&str]) -> PathBuf {
    compiled("lines", Kind::Library, args)
}

/// `tests/plugins/panics.rs`, which Cargo builds as an example.
pub(crate) fn panics() -> PathBuf {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test looks for what was built beside it"
    )]
    let test = std::env::current_exe().unwrap();
    let name = format!(
        "{}panics{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let path = test
        .parent()
        .and_then(Path::parent)
        .unwrap()
        .join("examples")
        .join(name);
    assert!(
        path.exists(),
        "build the examples, too: `cargo test -p dylib-plugin`"
    );
    path
}

/// Looks at a file and loads a copy, as qaas does.
pub(crate) fn load(path: &Path) -> Result<Library, LibraryError> {
    let content = dylib_plugin::look(path)?;
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    std::fs::write(&copy, &content).unwrap();
    // The copy is removed with the folder; what is loaded stays.
    Library::load("it", &copy, &sha256(&content))
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    let digest = sha2::Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Why a file is not loaded.
pub(crate) fn refusal(path: &Path) -> LibraryError {
    load(path).err().expect("it is refused")
}

/// A library that was initialized.
pub(crate) fn begun(path: &Path, config: &Value) -> Library {
    let mut library = load(path).unwrap();
    initialize(&mut library, config).unwrap();
    library
}

pub(crate) fn initialize(library: &mut Library, config: &Value) -> Result<Value, CallError> {
    let params = InitializeParams {
        protocol: PROTOCOL,
        features: Vec::new(),
        host: runner_core::wire::Host::default(),
        root: PathBuf::from("/r"),
        config: config.as_object().unwrap().clone(),
    };
    ask(
        library,
        Method::Initialize,
        &serde_json::to_value(params).unwrap(),
    )
}

/// One call, its answer read.
pub(crate) fn ask(library: &mut Library, method: Method, params: &Value) -> Result<Value, CallError> {
    let text = library.answer(method, &params.to_string())?;
    assert!(!text.contains('\n'), "it goes into one line: {text}");
    Ok(serde_json::from_str(&text).unwrap())
}

/// The parameters of each call, as a host sends them.
pub(crate) fn params(method: Method) -> Value {
    let request = RunRequest::new(Mode::Run, "/w", "/s");
    match method {
        Method::Plan => json!({"request": request, "project": Project::default()}),
        Method::Wrap => json!({"request": request, "project": Project::default(), "plan": {"steps": []}}),
        Method::Open => json!({"reader": 1, "request": request}),
        Method::Read => {
            json!({"reader": 1, "lines": [{"step": 0, "stream": "stdout", "lines": ["ok one", "not ok two"]}]})
        }
        Method::Artifact => {
            json!({"reader": 1, "name": "report", "state": "bytes", "base64": "aGVsbG8=", "last": true})
        }
        Method::Finish => json!({"reader": 1, "exits": [{"step": "sh", "code": 1, "duration_s": 0.1}]}),
        _ => json!({"reader": 1}),
    }
}
