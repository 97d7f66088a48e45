use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;
use crate::config::{self, Settings};

fn settings(text: &str) -> Settings {
    config::parse(Path::new("qaas.toml"), text).unwrap()
}

const COMMAND: &str =
    "[backend.own]\nkind = \"command\"\nrun = [\"make\", \"test\"]\nenv = { B = \"2\", A = \"1\" }\n";

/// A repository and a state folder.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(place.root()).unwrap();
        std::fs::create_dir(place.state()).unwrap();
        for folder in [place.root(), place.state()] {
            mode(&folder, 0o700);
        }
        place
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("repository")
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    fn store(&self) -> TrustStore {
        TrustStore::new(&self.state())
    }

    /// The repository's configuration, on disk and read.
    fn configure(&self, text: &str) -> Settings {
        let file = self.root().join(config::FILE_NAME);
        std::fs::write(&file, text).unwrap();
        mode(&file, 0o644);
        config::load(&self.root(), None).unwrap()
    }

    fn decide(&self, settings: &Settings) -> Trust {
        let surface = Surface::of(settings);
        Trust::decide(Some(&self.store()), &self.root(), settings, &surface, false)
    }

    fn grant(&self, settings: &Settings) {
        self.store().grant(&self.root(), &Surface::of(settings)).unwrap();
    }

    fn record_file(&self) -> PathBuf {
        let folder = std::fs::read_dir(self.state().join("trust")).unwrap();
        folder.map(|entry| entry.unwrap().path()).next().unwrap()
    }
}

fn mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn own() -> Part {
    Part::Backend("own".to_owned())
}

#[test]
fn data_is_no_surface() {
    let data = settings(
        r#"
        [suite.unit]
        backend = ["pytest-events", "pytest-json"]
        coverage = "coverage-py"
        dir = "services"
        paths = ["tests"]
        timeout = "5m"
        options = { python = ".venv/bin/python", args = ["-p", "no:randomly"] }
        [env]
        pass = ["DATABASE_URL", "HOME_PAGE"]
        set = { APP_ENV = "test", MYPATH = "x", ENV = "test" }
        [mcp]
        max_bytes = 5000
        "#,
    );
    assert!(Surface::of(&data).is_empty(), "{:?}", Surface::of(&data).lines());
}

#[test]
fn a_command_is_shown_word_for_word_in_a_fixed_order() {
    assert_eq!(
        Surface::of(&settings(COMMAND)).lines(),
        [
            "backend.own.kind = \"command\"",
            "backend.own.env = {\"A\": \"1\", \"B\": \"2\"}",
            "backend.own.run = [\"make\", \"test\"]",
        ]
    );
}

#[test]
fn loader_variables_are_surface_and_others_are_not() {
    for name in [
        "PATH",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "BASH_ENV",
        "PERL5OPT",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "GIT_CONFIG_COUNT",
    ] {
        let surface = Surface::of(&settings(&format!("[env.set]\n{name} = \"x\"")));
        assert_eq!(surface.lines(), [format!("env.set.{name} = \"x\"")]);
    }
    for name in [
        "APP_ENV",
        "DJANGO_SETTINGS_MODULE",
        "MY_PATH",
        "path",
        "TZ",
        "LDAP_HOST",
        "API_KEY",
    ] {
        assert!(
            Surface::of(&settings(&format!("[env.set]\n{name} = \"x\""))).is_empty(),
            "{name}"
        );
    }
}

#[test]
fn secret_shaped_names_are_surface_when_they_are_passed_on() {
    for name in [
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "DB_PASSWORD",
        "STRIPE_API_KEY",
    ] {
        let surface = Surface::of(&settings(&format!("[env]\npass = [\"{name}\"]")));
        assert_eq!(surface.lines(), [format!("env.pass: {name}")]);
    }
    assert!(Surface::of(&settings("[env]\npass = [\"DATABASE_URL\", \"MONKEY\"]")).is_empty());
}

#[test]
fn what_would_deceive_a_reader_is_spelled_out() {
    let text =
        "[backend.own]\nkind = \"command\"\nrun = [\"a\\u202Eb\", \"\\u001B[2Jc\"]\n\"x = 1\\u200B\" = 2";
    let lines = Surface::of(&settings(text)).lines();
    assert!(
        lines
            .iter()
            .all(|line| line.chars().all(|c| (' '..='~').contains(&c))),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"backend.own.run = [\"a\\u{202e}b\", \"\\u001b[2Jc\"]".to_owned()),
        "{lines:?}"
    );
    assert!(
        lines.contains(&"backend.own.\"x = 1\\u{200b}\" = 2".to_owned()),
        "{lines:?}"
    );
}

#[test]
fn what_is_not_agreed_to_is_refused_with_the_command_to_type() {
    let place = Place::new();
    let trust = place.decide(&place.configure(COMMAND));
    assert!(!trust.allows(&own()));
    let refusal = trust.require(&own()).unwrap_err();
    assert_eq!(refusal.code, "untrusted");
    assert_eq!(
        refusal.message,
        "backend `own` is not trusted yet, so it was not used"
    );
    assert!(
        refusal
            .hint
            .contains(&format!("`qaas trust --root {}`", place.root().display())),
        "{}",
        refusal.hint
    );
    assert!(
        refusal
            .lines
            .contains(&"backend.own.run = [\"make\", \"test\"]".to_owned())
    );
    assert!(trust.allows(&Part::Backend("pytest-events".to_owned())));
    assert_eq!(trust.refusals(), [refusal]);
}

#[test]
fn what_is_agreed_to_may_be_used_until_a_word_of_it_changes() {
    let place = Place::new();
    let settings = place.configure(COMMAND);
    place.grant(&settings);
    assert!(place.decide(&settings).allows(&own()));
    let slower = place.configure(&format!(
        "{COMMAND}[suite.a]\nbackend = \"own\"\ntimeout = \"9m\""
    ));
    assert!(place.decide(&slower).allows(&own()), "a time limit is data");
    let changed = place.configure(&COMMAND.replace("test", "deploy"));
    let refusal = place.decide(&changed).require(&own()).unwrap_err();
    assert!(
        refusal.message.contains("changed since you agreed"),
        "{}",
        refusal.message
    );
    assert_eq!(
        refusal.lines,
        [
            "- backend.own.run = [\"make\", \"test\"]",
            "+ backend.own.run = [\"make\", \"deploy\"]"
        ]
    );
}

#[test]
fn a_part_that_is_added_or_shortened_needs_new_consent_and_one_that_goes_does_not() {
    let place = Place::new();
    let two = format!("{COMMAND}[env.set]\nPATH = \"/opt/bin\"\n");
    place.grant(&place.configure(&two));
    assert!(place.decide(&place.configure(COMMAND)).allows(&own()));
    let shorter = place.configure(&COMMAND.replace(", \"test\"", ""));
    assert!(!place.decide(&shorter).allows(&own()));
    place.grant(&place.configure(COMMAND));
    let trust = place.decide(&place.configure(&two));
    assert!(trust.allows(&own()), "agreed to as it is");
    assert!(!trust.allows(&Part::Set("PATH".to_owned())));
}

#[test]
fn consent_for_one_command_covers_everything_and_is_not_remembered() {
    let place = Place::new();
    let settings = place.configure(COMMAND);
    let surface = Surface::of(&settings);
    let trust = Trust::decide(Some(&place.store()), &place.root(), &settings, &surface, true);
    assert!(trust.allows(&own()));
    assert!(!place.decide(&settings).allows(&own()));
    assert!(!place.state().join("trust").exists());
}

#[test]
fn variables_without_consent_are_left_out_and_named() {
    let place = Place::new();
    let settings = place
        .configure("[env]\npass = [\"GITHUB_TOKEN\", \"DATABASE_URL\"]\nset = { PATH = \"x\", APP = \"1\" }");
    let (env, left_out) = place.decide(&settings).environment(&settings.env);
    assert_eq!(env.pass, ["DATABASE_URL"]);
    assert_eq!(env.set.keys().collect::<Vec<_>>(), ["APP"]);
    let left_out = left_out.unwrap();
    for word in [
        "`PATH`",
        "`GITHUB_TOKEN`",
        "they were not used",
        "qaas trust --root",
    ] {
        assert!(left_out.contains(word), "{left_out}");
    }
    place.grant(&settings);
    let (env, left_out) = place.decide(&settings).environment(&settings.env);
    assert_eq!((env, left_out), (settings.env.clone(), None));
}

#[test]
fn an_interpreter_is_agreed_to_by_its_suite_and_path() {
    let place = Place::new();
    let settings = place.configure("[suite.a]\noptions = { python = \"sh\" }");
    let part = Part::Interpreter("a".to_owned());
    let mut surface = Surface::of(&settings);
    assert!(surface.is_empty());
    surface.add_interpreter("a", "sh");
    let decide =
        |surface: &Surface| Trust::decide(Some(&place.store()), &place.root(), &settings, surface, false);
    assert!(!decide(&surface).allows(&part));
    place.store().grant(&place.root(), &surface).unwrap();
    assert!(decide(&surface).allows(&part));
    let mut other = Surface::default();
    other.add_interpreter("a", "bash");
    assert!(!decide(&other).allows(&part));
}

#[test]
fn records_are_private_listed_and_revoked() {
    let place = Place::new();
    let settings = place.configure(COMMAND);
    assert!(place.store().list().unwrap().records.is_empty());
    assert!(!place.store().revoke(&place.root()).unwrap());
    place.grant(&settings);
    place.grant(&settings);
    let file = place.record_file();
    assert_eq!(
        std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        std::fs::metadata(file.parent().unwrap())
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o700
    );
    let listed = place.store().list().unwrap();
    assert_eq!(listed.records.len(), 1);
    assert_eq!(listed.records[0].root, place.root().to_string_lossy());
    assert_eq!(listed.records[0].items, Surface::of(&settings).items());
    assert!(place.store().revoke(&place.root()).unwrap());
    assert!(!place.decide(&settings).allows(&own()));
}

#[test]
fn consent_for_one_repository_is_none_for_another() {
    let (one, other) = (Place::new(), Place::new());
    one.grant(&one.configure(COMMAND));
    let settings = other.configure(COMMAND);
    let surface = Surface::of(&settings);
    let trust = Trust::decide(Some(&one.store()), &other.root(), &settings, &surface, false);
    assert!(!trust.allows(&own()));
    // Nor does the record of one do for the other when it is copied to its name.
    let copied = one.record_file();
    one.store().grant(&other.root(), &surface).unwrap();
    let files = std::fs::read_dir(copied.parent().unwrap()).unwrap();
    let target = files
        .map(|entry| entry.unwrap().path())
        .find(|path| *path != copied)
        .unwrap();
    std::fs::copy(&copied, &target).unwrap();
    let trust = Trust::decide(Some(&one.store()), &other.root(), &settings, &surface, false);
    let refusal = trust.require(&own()).unwrap_err();
    assert!(refusal.message.contains("speaks of"), "{}", refusal.message);
}

#[test]
fn a_record_that_others_could_have_written_is_not_believed() {
    let place = Place::new();
    let settings = place.configure(COMMAND);
    let refused = |why: &str| {
        let refusal = place.decide(&settings).require(&own()).unwrap_err();
        assert!(refusal.message.contains(why), "{why}: {}", refusal.message);
    };
    place.grant(&settings);
    mode(&place.record_file(), 0o666);
    refused("its mode must be 0600");
    let file = place.record_file();
    mode(&file, 0o600);
    let kept = place.dir.path().join("kept");
    std::fs::rename(&file, &kept).unwrap();
    symlink(&kept, &file).unwrap();
    refused("cannot be used");
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, "{}").unwrap();
    mode(&file, 0o600);
    refused("missing field");
    assert_eq!(place.store().list().unwrap().warnings.len(), 1);
    std::fs::remove_file(&file).unwrap();
    std::fs::rename(&kept, &file).unwrap();
    assert!(place.decide(&settings).allows(&own()));
    mode(&place.state(), 0o777);
    refused("can be changed by other users");
    mode(&place.state(), 0o700);
    let elsewhere = place.dir.path().join("elsewhere");
    std::fs::rename(place.state().join("trust"), &elsewhere).unwrap();
    symlink(&elsewhere, place.state().join("trust")).unwrap();
    refused("not a folder");
}

#[test]
fn what_everybody_can_change_cannot_be_trusted() {
    let place = Place::new();
    let settings = place.configure(COMMAND);
    place.grant(&settings);
    let refused = |path: &Path, open: u32, closed: u32| {
        mode(path, open);
        let refusal = place.decide(&settings).require(&own()).unwrap_err();
        assert!(
            refusal.message.contains("by every user of this machine"),
            "{}",
            refusal.message
        );
        assert!(
            refusal.message.contains(&path.display().to_string()),
            "{}",
            refusal.message
        );
        check_owners(&place.root(), settings.file.as_deref()).unwrap_err();
        mode(path, closed);
    };
    refused(&place.root(), 0o777, 0o755);
    refused(&place.root().join(config::FILE_NAME), 0o666, 0o644);
    assert!(place.decide(&settings).allows(&own()));
}

#[test]
fn what_belongs_to_another_user_cannot_be_trusted() {
    let place = Place::new();
    let user = rustix::process::geteuid().as_raw();
    owner::check(&place.root(), user).unwrap();
    if user != 0 {
        // For somebody else, the folder is another user's.
        let error = owner::check(&place.root(), user + 1).unwrap_err();
        assert!(error.to_string().contains(&format!("uid {user}")), "{error}");
        test_skip::skip!(
            test_skip::Need::Root,
            "no file can be given to another user, to be decided about"
        );
    }
    let file = place.root().join(config::FILE_NAME);
    let settings = place.configure(COMMAND);
    place.grant(&settings);
    std::os::unix::fs::chown(&file, Some(12345), None).unwrap();
    let refusal = place.decide(&settings).require(&own()).unwrap_err();
    assert!(
        refusal.message.contains("belongs to another user (uid 12345"),
        "{}",
        refusal.message
    );
}

#[test]
fn without_a_state_folder_nothing_is_trusted_and_the_answer_says_so() {
    let place = Place::new();
    let settings = place.configure(COMMAND);
    let trust = Trust::decide(None, &place.root(), &settings, &Surface::of(&settings), false);
    let refusal = trust.require(&own()).unwrap_err();
    assert!(refusal.message.contains("no state folder"), "{}", refusal.message);
    assert!(refusal.hint.contains("QAAS_STATE_DIR"));
}

#[test]
fn the_command_to_type_survives_any_path() {
    assert_eq!(
        command(Path::new("/home/me/repo-1")),
        "qaas trust --root /home/me/repo-1"
    );
    assert_eq!(
        command(Path::new("/a b/it's")),
        r"qaas trust --root '/a b/it'\''s'"
    );
}

#[test]
fn a_byte_of_a_plug_ins_file_changes_the_surface() {
    let of = |content: &[u8]| {
        let mut settings = Settings::default();
        let backend = config::CommandBackend {
            kind: "exec".to_owned(),
            table: serde_json::Map::new(),
            file: Some(config::PluginFile {
                path: "tools/x".to_owned(),
                sha256: crate::digest::sha256(content),
            }),
            line: 1,
            places: std::collections::BTreeMap::new(),
        };
        settings.backends.insert("own".to_owned(), backend);
        Surface::of(&settings)
    };
    assert_eq!(of(b"one").digest(), of(b"one").digest());
    assert_ne!(of(b"one").digest(), of(b"onf").digest());
    assert!(of(b"one").lines()[1].starts_with("backend.own: \"tools/x\" sha256 = "));
}

proptest::proptest! {
    /// Two different command lines never look the same to the person who agrees.
    #[test]
    fn different_commands_have_different_surfaces(one in proptest::collection::vec(".{0,6}", 0..4), other in proptest::collection::vec(".{0,6}", 0..4)) {
        let of = |words: &[String]| {
            let mut settings = Settings::default();
            let table = serde_json::json!({"run": words}).as_object().unwrap().clone();
            let backend = config::CommandBackend {
                kind: "command".to_owned(),
                table,
                file: None,
                line: 1,
                places: std::collections::BTreeMap::new(),
            };
            settings.backends.insert("own".to_owned(), backend);
            Surface::of(&settings)
        };
        proptest::prop_assert_eq!(one == other, of(&one).digest() == of(&other).digest());
    }
}
