use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use crate::run_id::new_run_id;
use runner_core::event::{RunEvent, StopReason, TestEvent};
use runner_core::model::{Outcome, Status, TestResult};

const ROOT: &str = "/some/repository";

fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("state")).unwrap();
    (folder, store)
}

fn facts(run_id: &str) -> RunFacts {
    RunFacts {
        run_id: run_id.to_owned(),
        root: ROOT.into(),
        suite: "unit".to_owned(),
        ..RunFacts::default()
    }
}

/// A number that a fast parser gives back with another last digit.
const DURATION_S: f64 = 2.314_313_541;

/// A run with one row, up to but without its end.
fn begun(store: &Store) -> (String, RunFolder) {
    // Ids sort by the millisecond.
    std::thread::sleep(std::time::Duration::from_millis(2));
    let run_id = new_run_id();
    let mut folder = store.begin(&facts(&run_id)).unwrap();
    folder.append(&RunEvent::Started(Box::new(facts(&run_id))));
    folder.append(&RunEvent::IterationStarted { iteration: 1 });
    let test = TestEvent::Finished(Box::new(TestResult::new("t::a", Outcome::Failed)));
    folder.append(&RunEvent::Test { iteration: 1, test });
    (run_id, folder)
}

fn end() -> RunEvent {
    RunEvent::Finished {
        cause: StopReason::TimedOut {
            limit_ms: 5,
            unanswered: None,
        },
        duration_s: DURATION_S,
    }
}

fn stored(store: &Store) -> String {
    let (run_id, mut folder) = begun(store);
    folder.output(&["one".to_owned(), "two".to_owned()]);
    folder.append(&end());
    let mut report = Report::default();
    report.add(&end());
    folder.close(report.status());
    run_id
}

fn run_path(store: &Store, run_id: &str) -> PathBuf {
    store.runs_path(Path::new(ROOT)).join(run_id)
}

fn ids(store: &Store) -> Vec<String> {
    let list = store.list(Path::new(ROOT));
    list.into_iter().map(|summary| summary.facts.run_id).collect()
}

#[test]
fn a_run_is_stored_listed_and_read_back() {
    let (_guard, store) = store();
    let (first, second) = (stored(&store), stored(&store));
    let report = store.load(Path::new(ROOT), &first).unwrap();
    assert_eq!(report.status(), Status::TimedOut);
    assert_eq!(
        report.duration_s.to_bits(),
        DURATION_S.to_bits(),
        "to the last digit"
    );
    assert_eq!(report.first().row("t::a").unwrap().outcome, Outcome::Failed);
    assert_eq!(store.output(Path::new(ROOT), &first).unwrap(), "one\ntwo\n");
    assert_eq!(ids(&store), [second.clone(), first.clone()]);
    assert_eq!(store.list(Path::new(ROOT))[0].status, Status::TimedOut);
    let latest = store
        .latest(Path::new(ROOT), |facts| facts.suite == "unit")
        .unwrap();
    assert_eq!(latest.facts.run_id, second);
    assert!(
        store
            .latest(Path::new(ROOT), |facts| facts.suite == "other")
            .is_none()
    );
}

#[test]
fn repositories_do_not_see_each_others_runs() {
    let (_guard, store) = store();
    let run_id = stored(&store);
    let other = Path::new("/some/other");
    assert!(store.list(other).is_empty());
    assert!(matches!(
        store.load(other, &run_id),
        Err(StoreError::NoSuchRun { .. })
    ));
    assert_ne!(
        store.cache_dir(other).unwrap(),
        store.cache_dir(Path::new(ROOT)).unwrap()
    );
}

#[test]
fn a_run_goes_on_while_its_writer_lives_and_has_an_end_once_it_is_gone() {
    let (_guard, store) = store();
    let (run_id, mut folder) = begun(&store);
    folder.append(&RunEvent::Warning {
        message: "flushes".to_owned(),
    });
    assert_eq!(
        store.load(Path::new(ROOT), &run_id).unwrap().status(),
        Status::Running
    );
    assert_eq!(store.list(Path::new(ROOT))[0].status, Status::Running);
    assert!(store.latest(Path::new(ROOT), |_| true).is_none());
    drop(folder);
    let report = store.load(Path::new(ROOT), &run_id).unwrap();
    assert_eq!(report.status(), Status::Incomplete);
    assert!(report.first().row("t::a").is_some());
    assert_eq!(store.list(Path::new(ROOT))[0].status, Status::Incomplete);
}

#[test]
fn a_line_that_was_being_written_is_left_out() {
    let (_guard, store) = store();
    let (run_id, folder) = begun(&store);
    drop(folder);
    let events = run_path(&store, &run_id).join(folder::EVENTS);
    let mut text = fs::read_to_string(&events).unwrap();
    text.push_str(r#"{"type":"test","iterat"#);
    fs::write(&events, text).unwrap();
    assert_eq!(
        store.load(Path::new(ROOT), &run_id).unwrap().first().rows.len(),
        1
    );
}

#[test]
fn damaged_and_planted_records_are_named_and_left_out_of_the_list() {
    let (_guard, store) = store();
    let good = stored(&store);
    let other = fs::read(run_path(&store, &good).join(folder::EVENTS)).unwrap();
    for planted in [
        b"garbage\n".to_vec(),
        b"".to_vec(),
        vec![0xff; 100],
        b"{\"type\":\"finished\"}\n".to_vec(),
        other,
    ] {
        let run_id = stored(&store);
        fs::write(run_path(&store, &run_id).join(folder::EVENTS), &planted).unwrap();
        let loaded = store.load(Path::new(ROOT), &run_id);
        assert!(matches!(loaded, Err(StoreError::Damaged { .. })), "{loaded:?}");
        assert_eq!(ids(&store), [good.as_str()]);
        fs::remove_dir_all(run_path(&store, &run_id)).unwrap();
    }
}

#[test]
fn only_run_ids_become_paths() {
    let (_guard, store) = store();
    let run_id = stored(&store);
    for odd in [
        "",
        ".",
        "..",
        "../../..",
        "/etc",
        &format!("./{run_id}"),
        &run_id.to_uppercase(),
        "a\u{1b}[31m",
    ] {
        let error = store.load(Path::new(ROOT), odd).unwrap_err();
        assert!(matches!(error, StoreError::NoSuchRun { .. }), "{odd:?}");
        assert!(!error.to_string().contains('\u{1b}'));
    }
}

#[test]
fn many_runs_are_bounded_and_those_that_go_on_stay() {
    let (_guard, store) = store();
    let (running, folder) = begun(&store);
    let first = stored(&store);
    let newest: Vec<String> = (0..prune::MOST_RUNS).map(|_| stored(&store)).collect();
    let kept = ids(&store);
    assert!(kept.len() <= prune::MOST_RUNS + 1);
    assert!(kept.contains(&running));
    assert!(!kept.contains(&first));
    assert_eq!(kept.first(), newest.last());
    drop(folder);
    stored(&store);
    assert!(!ids(&store).contains(&running));
}

#[test]
fn a_scratch_goes_with_its_value_whatever_tests_did_to_it() {
    let (guard, store) = store();
    let scratch = store.scratch().unwrap();
    let path = scratch.path().to_owned();
    assert!(path.as_os_str().len() <= 80);
    let locked = path.join("t/deep");
    fs::create_dir_all(&locked).unwrap();
    fs::write(locked.join("file"), "x").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
        let outside = guard.path().join("outside");
        fs::create_dir(&outside).unwrap();
        symlink(&outside, path.join("t/link")).unwrap();
        drop(scratch);
        assert!(outside.exists());
    }
    assert!(!path.exists());
}

#[test]
fn opening_removes_the_scratches_of_the_dead_and_no_others() {
    let (guard, store) = store();
    let alive = store.scratch().unwrap();
    let dead = store.scratches.join("aaaaaaaa");
    fs::create_dir(&dead).unwrap();
    fs::write(dead.join("lock"), "").unwrap();
    fs::write(dead.join("file"), "x").unwrap();
    let in_the_making = store.scratches.join("bbbbbbbb");
    fs::create_dir(&in_the_making).unwrap();
    let foreign = store.scratches.join("somebody's notes");
    fs::create_dir(&foreign).unwrap();
    let target = guard.path().join("target");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("lock"), "").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&target, store.scratches.join("cccccccc")).unwrap();

    Store::open(store.state()).unwrap();
    assert!(!dead.exists());
    for kept in [alive.path(), &in_the_making, &foreign, &target.join("lock")] {
        assert!(kept.exists(), "{kept:?}");
    }
    for left in [&in_the_making, &foreign] {
        fs::remove_dir_all(left).unwrap();
    }
    let _ = fs::remove_file(store.scratches.join("cccccccc"));
}

#[cfg(unix)]
#[test]
fn the_state_folder_is_ours_alone_and_no_link() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let guard = tempfile::tempdir().unwrap();
    let state = guard.path().join("made/by/hand");
    fs::create_dir_all(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).unwrap();
    let store = Store::open(&state).unwrap();
    let run_id = stored(&store);
    for path in [
        state.clone(),
        run_path(&store, &run_id),
        store.cache_dir(Path::new(ROOT)).unwrap(),
    ] {
        assert_eq!(
            fs::symlink_metadata(&path).unwrap().mode() & 0o777,
            0o700,
            "{path:?}"
        );
    }
    let link = guard.path().join("link");
    symlink(&state, &link).unwrap();
    let file = guard.path().join("file");
    fs::write(&file, "").unwrap();
    for bad in [link.as_path(), &file, &file.join("below"), Path::new("relative")] {
        assert!(
            matches!(Store::open(bad), Err(StoreError::Unusable { .. })),
            "{bad:?}"
        );
    }
}

#[test]
fn a_state_folder_spelled_with_dots_gives_a_plain_cache_folder() {
    let guard = tempfile::tempdir().unwrap();
    fs::create_dir(guard.path().join("repository")).unwrap();
    let store = Store::open(&guard.path().join("repository/../state")).unwrap();
    let cache = store.cache_dir(Path::new(ROOT)).unwrap();
    // pytest 9.2 takes no other.
    assert!(
        !cache.components().any(|part| part.as_os_str() == ".."),
        "{cache:?}"
    );
}

#[cfg(unix)]
#[test]
fn links_in_the_place_of_records_are_not_followed() {
    use std::os::unix::fs::symlink;
    let (guard, store) = store();
    let run_id = stored(&store);
    let moved = guard.path().join(&run_id);
    fs::rename(run_path(&store, &run_id), &moved).unwrap();
    symlink(&moved, run_path(&store, &run_id)).unwrap();
    assert!(ids(&store).is_empty());
    assert!(matches!(
        store.load(Path::new(ROOT), &run_id),
        Err(StoreError::NoSuchRun { .. })
    ));

    let run_id = stored(&store);
    let events = run_path(&store, &run_id).join(folder::EVENTS);
    fs::remove_file(&events).unwrap();
    symlink(moved.join(folder::EVENTS), &events).unwrap();
    assert!(matches!(
        store.load(Path::new(ROOT), &run_id),
        Err(StoreError::Damaged { .. })
    ));
}

#[test]
fn what_failed_tests_left_is_kept_within_bounds() {
    let (guard, store) = store();
    let tmp = guard.path().join("tmp");
    let left = tmp.join("pytest-of-me/pytest-0/test_a0");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("evidence"), "x").unwrap();
    fs::create_dir(tmp.join("other")).unwrap();
    let (run_id, mut folder) = begun(&store);
    folder.keep_temporary_files(&tmp);
    let kept = store.kept_files(Path::new(ROOT), &run_id).unwrap();
    assert!(kept.join("pytest-of-me/pytest-0/test_a0/evidence").exists());
    assert!(!kept.join("other").exists());

    let big = tmp.join("pytest-of-me");
    fs::create_dir(&big).unwrap();
    let file = fs::File::create(big.join("big")).unwrap();
    file.set_len(record::LARGEST_FILES + 1).unwrap();
    let (run_id, mut folder) = begun(&store);
    folder.keep_temporary_files(&tmp);
    assert_eq!(store.kept_files(Path::new(ROOT), &run_id), None);
}

#[test]
fn endless_output_is_cut() {
    let (_guard, store) = store();
    let (run_id, mut folder) = begun(&store);
    for _ in 0..3000 {
        folder.output(&["x".repeat(1023)]);
    }
    drop(folder);
    let output = store.output(Path::new(ROOT), &run_id).unwrap();
    assert!(output.len() as u64 <= folder::LARGEST_OUTPUT);
}

#[test]
fn a_scratch_in_the_making_is_not_taken_away_by_who_cleans_up() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path();
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                super::scratch::remove_stale(base);
            }
        });
        let all_there = (0..500).all(|_| {
            let scratch = Scratch::new_in(base).unwrap();
            std::thread::yield_now();
            scratch.path().is_dir()
        });
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(all_there);
    });
}
