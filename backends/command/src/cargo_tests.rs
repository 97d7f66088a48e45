use super::*;

fn package(name: &str, targets: &[(&str, &str, &str)]) -> CargoPackage {
    let dir = PathBuf::from("/r").join(name);
    CargoPackage {
        name: name.to_owned(),
        targets: targets
            .iter()
            .map(|(kind, name, path)| CargoTarget {
                kind: (*kind).to_owned(),
                name: (*name).to_owned(),
                path: dir.join(path),
            })
            .collect(),
        dir,
    }
}

fn project() -> Project {
    Project {
        cargo: Some(Cargo {
            packages: vec![
                package(
                    "a",
                    &[
                        ("lib", "a", "src/lib.rs"),
                        ("test", "it", "tests/it.rs"),
                        ("test", "own", "tests/own.rs"),
                    ],
                ),
                package("b", &[("bin", "b", "src/main.rs")]),
            ],
            has_runner: false,
        }),
        ..Project::default()
    }
}

fn whole(path: &str) -> Selected {
    Selected::whole(path)
}

fn named(id: &str) -> Selected {
    Selected {
        word: id.to_owned(),
        file: String::new(),
        name: Some(id.to_owned()),
        ..Selected::whole("")
    }
}

#[test]
fn folders_and_files_are_packages_and_targets() {
    for (path, words, filterset) in [
        (".", "", None),
        ("a", "-p a", Some("package(=a)")),
        ("./a/Cargo.toml", "-p a", Some("package(=a)")),
        (
            "a/tests",
            "-p a --test it --test own",
            Some("binary_id(=a::it) | binary_id(=a::own)"),
        ),
        ("a/tests/it.rs", "-p a --test it", Some("binary_id(=a::it)")),
        ("a/src/lib.rs", "-p a --lib", Some("binary_id(=a)")),
        ("b/src/main.rs", "-p b --bin b", Some("binary_id(=b::bin/b)")),
    ] {
        let aim = aim(&whole(path), Path::new("/r"), &project()).unwrap();
        assert_eq!(aim.target.join(" "), words, "{path}");
        assert_eq!(aim.filterset.as_deref(), filterset, "{path}");
    }
}

#[test]
fn what_is_no_package_and_no_target_is_refused_with_those_that_are() {
    let error = aim(&whole("a/src/deep.rs"), Path::new("/r"), &project()).unwrap_err();
    assert_eq!(error.code, UNSUPPORTED);
    let hint = error.hint.unwrap();
    assert!(
        hint.contains("package `a`") && hint.contains("tests/it.rs"),
        "{hint}"
    );
    assert!(aim(&whole("docs"), Path::new("/r"), &project()).is_err());
}

#[test]
fn each_id_names_its_binary_and_its_test() {
    let exact = |name: &str| Filter::Exact(name.to_owned());
    let part = |name: &str| Filter::Part(name.to_owned());
    for (id, words, filter, filterset) in [
        (
            "a$m::x",
            "-p a --lib",
            exact("m::x"),
            "binary_id(=a) & test(/^m::x$/)",
        ),
        (
            "a::it$x",
            "-p a --test it",
            exact("x"),
            "binary_id(=a::it) & test(/^x$/)",
        ),
        (
            "b::bin/b$x",
            "-p b --bin b",
            exact("x"),
            "binary_id(=b::bin/b) & test(/^x$/)",
        ),
        (
            "a::own$[p] a b.txt",
            "-p a --test own",
            exact("[p] a b.txt"),
            r"binary_id(=a::own) & test(/^\[p\] a b\.txt$/)",
        ),
        ("a::own", "-p a --test own", Filter::All, "binary_id(=a::own)"),
        ("m::x", "", exact("m::x"), "test(/^m::x$/)"),
        (
            "a/src/lib.rs - Stack<A, B>::push (line 12)",
            "--doc",
            part("B>::push"),
            "none()",
        ),
        ("src/lib.rs - (line 7)", "--doc", part("7)"), "none()"),
    ] {
        let aim = aim(&named(id), Path::new("/r"), &project()).unwrap();
        assert_eq!(aim.target.join(" "), words, "{id}");
        assert_eq!(aim.filter, filter, "{id}");
        assert_eq!(aim.filterset.as_deref(), Some(filterset), "{id}");
    }
}

#[test]
fn a_runner_of_the_projects_own_keeps_its_place() {
    let mut project = project();
    let marker = unit_marker(&project).unwrap();
    let config: toml::Table = marker.parse().unwrap();
    let words = config["target"][r#"cfg(target_os = "linux")"#]["runner"]
        .as_array()
        .unwrap();
    assert!(
        words[2]
            .as_str()
            .unwrap()
            .contains(r"printf '\nqaas: test binary"),
        "{marker}"
    );
    project.cargo.as_mut().unwrap().has_runner = true;
    assert_eq!(unit_marker(&project), None);
}
