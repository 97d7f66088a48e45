use super::*;

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn no_file_means_the_defaults() {
    assert_eq!(load(folder().path(), None).unwrap(), Settings::default());
}

#[test]
fn the_roots_file_is_read_and_another_one_can_be_named() {
    let root = folder();
    std::fs::write(root.path().join(FILE_NAME), "\u{feff}[suite.here]").unwrap();
    assert_eq!(load(root.path(), None).unwrap().suites[0].name, "here");
    let other = folder();
    let named = other.path().join("ci.toml");
    std::fs::write(&named, "[suite.there]").unwrap();
    let settings = load(root.path(), Some(&named)).unwrap();
    assert_eq!(settings.suites[0].name, "there");
    assert_eq!(settings.file, Some(named));
}

#[test]
fn a_named_file_that_does_not_exist_is_an_error() {
    let root = folder();
    let error = load(root.path(), Some(&root.path().join("none.toml"))).unwrap_err();
    assert!(error.to_string().contains("none.toml: cannot be read"), "{error}");
    assert!(error.hint.is_some());
}

#[test]
fn what_is_no_regular_file_is_refused_without_waiting() {
    let root = folder();
    let file = root.path().join(FILE_NAME);
    std::fs::create_dir(&file).unwrap();
    assert!(load(root.path(), None).unwrap_err().message.contains("a folder"));
    std::fs::remove_dir(&file).unwrap();
    #[cfg(target_os = "linux")]
    {
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &file,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        assert!(
            load(root.path(), None)
                .unwrap_err()
                .message
                .contains("not a regular file")
        );
    }
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let root = folder();
    let comment = format!("# {}\n", "x".repeat(97)).repeat(3000);
    std::fs::write(root.path().join(FILE_NAME), comment).unwrap();
    assert!(
        load(root.path(), None)
            .unwrap_err()
            .message
            .contains("larger than 256 kB")
    );
}

#[test]
fn bytes_that_are_no_utf8_are_located() {
    let root = folder();
    std::fs::write(root.path().join(FILE_NAME), b"# fine\n# caf\xe9\n").unwrap();
    let error = load(root.path(), None).unwrap_err();
    assert_eq!((error.line, error.column), (Some(2), Some(6)), "{error}");
    assert!(error.message.contains("UTF-8"));
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_inside_the_root_only() {
    let root = folder();
    let outside = folder();
    let file = root.path().join(FILE_NAME);
    std::fs::write(root.path().join("real.toml"), "[suite.linked]").unwrap();
    std::os::unix::fs::symlink("real.toml", &file).unwrap();
    assert_eq!(load(root.path(), None).unwrap().suites[0].name, "linked");
    std::fs::remove_file(&file).unwrap();
    std::fs::write(outside.path().join("secret"), "password").unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret"), &file).unwrap();
    let error = load(root.path(), None).unwrap_err();
    assert!(error.message.contains("out of the repository"), "{error}");
    std::fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("nowhere", &file).unwrap();
    assert!(
        load(root.path(), None)
            .unwrap_err()
            .message
            .contains("cannot be read")
    );
}
