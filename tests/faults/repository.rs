//! Repositories that hold what no repository should, and state that somebody else wrote.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;

use super::nasty::{PLAIN, nasty, nothing_lies_about, survived};
use crate::support::{Client, Project};

fn fifo(path: &Path) {
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
}

/// A pipe nobody writes to, a loop of links, a device, a file of 3 GiB (of holes), one that may not be read.
fn littered() -> Project {
    let project = nasty("import shop\ndef test_nasty(): pass\n")
        .file("shop.py", "X = 1\n")
        .file("unreadable_test.py", "x");
    let root = project.root();
    fifo(&root.join("test_pipe.py"));
    fifo(&root.join("conftest_pipe.toml"));
    std::fs::create_dir(root.join("loop")).unwrap();
    symlink("..", root.join("loop/again")).unwrap();
    symlink("test_self.py", root.join("test_self.py")).unwrap();
    symlink("/dev/zero", root.join("test_zero.py")).unwrap();
    let giant = std::fs::File::create(root.join("test_giant.py")).unwrap();
    giant.set_len(3 << 30).unwrap();
    let closed = std::fs::Permissions::from_mode(0o0);
    std::fs::set_permissions(root.join("unreadable_test.py"), closed).unwrap();
    project
}

#[test]
fn pipes_loops_devices_and_giant_files_do_not_stop_what_reads_a_repository() {
    let project = littered();
    let mut client = Client::start(&project);
    let affected = client.structure("affected_tests", &json!({"paths": ["shop.py"]}));
    assert_eq!(
        affected["affected"][0]["test_file"], "test_nasty.py",
        "{affected:#}"
    );
    client.is_well(PLAIN);
    for words in [&["check"][..], &["affected", "shop.py"]] {
        assert_eq!(project.qaas(words).code, Some(0), "{words:?}");
    }
}

#[test]
fn a_configuration_that_is_a_pipe_a_device_or_giant_is_told() {
    let project = nasty("");
    let file = project.root().join("qaas.toml");
    for plant in [
        &(|| fifo(&file)) as &dyn Fn(),
        &|| symlink("/dev/zero", &file).unwrap(),
        &|| std::fs::write(&file, "x = 1\n".repeat(3_000_000)).unwrap(),
        &|| std::fs::write(&file, format!("a = {}", "[".repeat(50_000))).unwrap(),
        &|| std::fs::write(&file, b"\xff\xfe\x00garbage").unwrap(),
        &|| std::fs::create_dir(&file).unwrap(),
    ] {
        let _ = std::fs::remove_file(&file);
        plant();
        let answer = Client::start(&project).call("run_suite", &json!({"selector": "test_plain.py"}));
        assert_eq!(answer["isError"], true, "{answer:#}");
        assert!(answer.to_string().contains("qaas.toml"), "{answer:#}");
        assert_eq!(project.qaas(&["check"]).code, Some(4));
    }
}

#[test]
fn a_link_that_is_turned_round_during_calls_leads_nowhere_else() {
    let project = nasty("").file("inside/test_link.py", "def test_link(): pass\n");
    let marker = project.outside().join("escaped");
    let outside = project.outside().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    let evil = format!("open({marker:?}, 'w')\ndef test_link(): pass\n");
    std::fs::write(outside.join("test_link.py"), evil).unwrap();
    let link = project.root().join("link");
    let turn = |to: &Path| {
        let next = project.root().join("next");
        let _ = std::fs::remove_file(&next);
        symlink(to, &next).unwrap();
        std::fs::rename(&next, &link).unwrap();
    };
    turn(Path::new("inside"));
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                turn(&outside);
                turn(Path::new("inside"));
            }
        });
        let mut client = Client::start(&project);
        let calls: Vec<u64> = (0..8)
            .map(|number| match number % 2 {
                0 => client.begin_call(
                    "run_suite",
                    &json!({"selector": "link/test_link.py", "timeout_s": 60}),
                ),
                _ => client.begin_call(
                    "run_single",
                    &json!({"test_id": "link/test_link.py::test_link", "timeout_s": 60}),
                ),
            })
            .collect();
        for call in calls {
            client.wait(call);
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    assert!(!marker.exists(), "a file outside the root was run");
}

#[test]
fn odd_names_are_no_reason_to_refuse() {
    let ids = [
        "a::b c", "[", "]", "-p", "@x", "smile", "x/y", "..", "--co", "a\\b",
    ];
    let project = nasty("").file(
        "tests/test sp\u{e9} x.py",
        &format!(
            "import pytest\nIDS = {}\n@pytest.mark.parametrize('v', IDS, ids=IDS)\ndef test_p(v): pass\n",
            json!(ids)
        ),
    );
    let listed = project.call(
        "list_tests",
        &json!({"selector": "tests/test sp\u{e9} x.py", "max_bytes": 0}),
    );
    let mut client = Client::start(&project);
    let nodeids: Vec<String> = listed["nodeids"]
        .as_array()
        .unwrap_or_else(|| panic!("{listed:#}"))
        .iter()
        .map(|test| test.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(nodeids.len(), ids.len(), "{listed:#}");
    for nodeid in nodeids {
        let answer = client.structure("run_single", &json!({"test_id": nodeid, "timeout_s": 60}));
        assert_eq!(answer["outcome"], "passed", "{nodeid}: {answer:#}");
    }
}

#[test]
fn a_planted_state_is_not_believed_and_nothing_it_names_is_touched() {
    let project = nasty("");
    let (state, treasure) = (
        project.outside().join("state"),
        project.outside().join("treasure"),
    );
    std::fs::create_dir(&treasure).unwrap();
    std::fs::write(treasure.join("gold"), "gold").unwrap();
    // A store as qaas makes it, then everything in it replaced.
    Client::start(&project).is_well(PLAIN);
    let mut folders = vec![state.clone()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let kind = entry.file_type().unwrap();
            // The tests' own cache is theirs to spoil.
            if kind.is_dir() && entry.file_name() != "cache" {
                folders.push(entry.path());
            } else if !kind.is_dir() {
                files.push(entry.path());
            }
        }
    }
    assert!(!files.is_empty());
    let planted = format!("{{\"pid\": 1, \"path\": {treasure:?}, \"root\": \"/\"}}\n");
    for (number, file) in files.iter().enumerate() {
        std::fs::remove_file(file).unwrap();
        match number % 3 {
            0 => std::fs::write(file, &planted).unwrap(),
            1 => symlink(treasure.join("gold"), file).unwrap(),
            _ => fifo(file),
        }
    }
    // Links in the place of scratches and run folders.
    for folder in ["s", "s/aaaaaaaa", "runs", "scratch"] {
        let place = state.join(folder);
        if !place.exists() {
            let _ = symlink(&treasure, place);
        }
    }
    let mut client = Client::start(&project);
    client.is_well(PLAIN);
    client.call("get_run", &json!({}));
    drop(client);
    assert_eq!(std::fs::read_to_string(treasure.join("gold")).unwrap(), "gold");
    nothing_lies_about(&project);
}

#[test]
fn a_state_folder_that_others_may_write_or_that_is_a_link_is_not_used() {
    for spoil in [
        (|state: &Path| std::fs::set_permissions(state, std::fs::Permissions::from_mode(0o777)).unwrap())
            as fn(&Path),
        |state| {
            let real = state.with_extension("real");
            std::fs::rename(state, &real).unwrap();
            symlink(&real, state).unwrap();
        },
        |state| {
            std::fs::remove_dir(state).unwrap();
            std::fs::write(state, "x").unwrap();
        },
    ] {
        let project = nasty("def test_nasty(): pass\n");
        let state = project.outside().join("state");
        spoil(&state);
        let answer = survived(&project, 60.0);
        assert_eq!(answer["status"], "passed", "{answer:#}");
        let links = std::fs::symlink_metadata(&state).unwrap();
        let private = links.is_dir() && links.permissions().mode() & 0o077 == 0;
        let unused = links.is_file() || std::fs::read_dir(&state).unwrap().next().is_none();
        assert!(private || unused, "a state folder of others was used");
    }
}

#[test]
fn every_tool_leaves_the_repository_and_the_temporary_folder_as_they_were() {
    let project = nasty("def test_nasty(tmp_path):\n    (tmp_path / 'x').write_text('x'); assert False\n");
    let mut client = Client::start(&project);
    for (tool, arguments) in [
        ("run_suite", json!({})),
        ("run_single", json!({"test_id": "test_nasty.py::test_nasty"})),
        ("run_n_times", json!({"test_id": PLAIN, "n": 2})),
        ("get_coverage", json!({})),
        ("list_tests", json!({})),
        ("affected_tests", json!({"paths": ["test_plain.py"]})),
    ] {
        client.call(tool, &arguments);
    }
    drop(client);
    nothing_lies_about(&project);
    let mut names: Vec<String> = std::fs::read_dir(project.root())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["qaas.toml", "test_nasty.py", "test_plain.py"]);
}
