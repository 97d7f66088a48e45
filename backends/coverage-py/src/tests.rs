use std::path::PathBuf;

use runner_core::event::TestEvent;
use runner_core::facts::Interpreter;
use runner_core::model::Coverage;
use runner_core::plan::{ArtifactState, Artifacts, Lines, Step, StepExit, Stream};

use super::*;
use runner_core::backend::{Filters, Mode};

fn request() -> RunRequest {
    RunRequest::new(Mode::Run, "/home/me/shop", "/home/me/.state/q1/w")
}

fn project(packages: &[&str]) -> Project {
    let packages = packages.iter().map(|name| ((*name).to_owned(), "1.0".to_owned()));
    Project {
        root: "/home/me/shop".into(),
        dir: "/home/me/shop".into(),
        interpreter: Some(Interpreter {
            path: "/home/me/shop/.venv/bin/python".into(),
            packages: Some(packages.collect()),
            ..Interpreter::default()
        }),
        ..Project::default()
    }
}

/// A test backend's plan, with one step.
fn inner(module: &str) -> Plan {
    Plan {
        steps: vec![Step {
            name: "tests".to_owned(),
            program: "/home/me/shop/.venv/bin/python".into(),
            launcher: vec!["-m".to_owned(), module.to_owned()],
            args: vec!["--verbosity=1".to_owned(), "tests".to_owned()],
            env: [("KEPT".to_owned(), Some("1".to_owned()))].into(),
            cwd: "/home/me/shop".into(),
            channel: true,
            ..Step::default()
        }],
        ..Plan::default()
    }
}

fn wrapped(request: &RunRequest, packages: &[&str]) -> Plan {
    CoveragePy
        .wrap(request, &project(packages), inner("pytest"))
        .unwrap()
}

mod plans {
    use super::*;

    #[test]
    fn the_tests_run_under_coverage_and_two_steps_follow_whatever_they_say() {
        let plan = wrapped(&request(), &["coverage", "pytest"]);
        let names: Vec<&str> = plan.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["tests", "coverage combine", "coverage json"]);
        let tests = &plan.steps[0];
        assert_eq!(
            tests.launcher,
            ["-m", "coverage", "run", "--parallel-mode", "-m", "pytest"]
        );
        assert_eq!(tests.args, ["--verbosity=1", "tests"]);
        assert!(tests.channel, "the tests keep their private channel");
        assert!(plan.steps[1..].iter().all(|step| step.always && !step.channel));
        for step in &plan.steps {
            assert_eq!(step.cwd, PathBuf::from("/home/me/shop"));
            assert_eq!(
                step.env["COVERAGE_FILE"].as_deref(),
                Some("/home/me/.state/q1/w/coverage.data")
            );
            assert_eq!(step.env["KEPT"].as_deref(), Some("1"));
            assert_eq!(step.env["COVERAGE_PROCESS_START"], None);
        }
        assert_eq!(plan.steps[2].launcher, ["-m", "coverage", "json"]);
        assert_eq!(
            plan.artifacts[0].path,
            PathBuf::from("/home/me/.state/q1/w/coverage.json")
        );
    }

    #[test]
    fn every_session_of_a_long_selection_is_measured() {
        let mut two = inner("pytest");
        two.steps.push(Step {
            name: "tests (2)".to_owned(),
            ..two.steps[0].clone()
        });
        let plan = CoveragePy.wrap(&request(), &project(&["coverage"]), two).unwrap();
        assert!(
            plan.steps[..2]
                .iter()
                .all(|step| step.launcher.contains(&"run".to_owned()))
        );
        assert_eq!(plan.steps.len(), 4);
    }

    #[test]
    fn paths_become_sources_and_a_file_becomes_its_folder() {
        let source = |paths: &[&str]| {
            let mut request = request();
            request.filters.coverage_paths = paths.iter().map(|path| (*path).to_owned()).collect();
            let launcher = wrapped(&request, &["coverage"]).steps.remove(0).launcher;
            launcher.into_iter().find(|word| word.starts_with("--source"))
        };
        assert_eq!(source(&[]), None);
        assert_eq!(source(&["src", "lib/"]).as_deref(), Some("--source=src,lib"));
        assert_eq!(
            source(&["src/shop/cart.py", "src/shop/ghost.py"]).as_deref(),
            Some("--source=src/shop")
        );
        assert_eq!(source(&["setup.py"]).as_deref(), Some("--source=."));
        assert_eq!(
            source(&["./src/./shop", "."]).as_deref(),
            Some("--source=src/shop,.")
        );
        assert_eq!(source(&["/home/me/shop/src"]).as_deref(), Some("--source=src"));
        assert_eq!(source(&["a,b"]), None, "a comma cannot stand in a source");
    }

    #[test]
    fn plug_ins_that_would_measure_or_spread_the_tests_are_held_back_where_they_are_installed() {
        let args = |packages: &[&str]| wrapped(&request(), packages).steps.remove(0).args;
        assert_eq!(
            args(&["coverage", "pytest-cov", "pytest-xdist"]),
            [
                "--verbosity=1",
                "tests",
                "-p",
                "pytest_cov",
                "--no-cov",
                "-p",
                "xdist",
                "-n0"
            ]
        );
        assert_eq!(args(&["coverage"]), ["--verbosity=1", "tests"]);
        let mut plan = inner("pytest");
        plan.steps[0].args = vec!["-q".to_owned(), "--".to_owned(), "-odd.py".to_owned()];
        let plan = CoveragePy
            .wrap(&request(), &project(&["coverage", "pytest-cov"]), plan)
            .unwrap();
        assert_eq!(
            plan.steps[0].args,
            ["-q", "-p", "pytest_cov", "--no-cov", "--", "-odd.py"]
        );
        let other = CoveragePy
            .wrap(
                &request(),
                &project(&["coverage", "pytest-cov"]),
                inner("unittest"),
            )
            .unwrap();
        assert_eq!(
            other.steps[0].args,
            ["--verbosity=1", "tests"],
            "they are pytest's plug-ins"
        );
    }

    #[test]
    fn without_coverage_there_is_no_number_and_no_estimate() {
        let error = CoveragePy
            .wrap(&request(), &project(&["pytest"]), inner("pytest"))
            .unwrap_err();
        assert_eq!(error.code, "missing_package");
        assert!(error.message.contains("coverage is not installed"), "{error}");
        assert!(error.message.contains("do not estimate"), "{error}");
        assert!(
            error
                .hint
                .unwrap()
                .contains(".venv/bin/python -m pip install coverage")
        );
    }

    #[test]
    fn packages_that_nobody_could_read_are_left_to_the_run() {
        let mut unread = project(&[]);
        unread.interpreter.as_mut().unwrap().packages = None;
        CoveragePy.wrap(&request(), &unread, inner("pytest")).unwrap();
    }

    #[test]
    fn what_is_no_python_module_cannot_be_measured() {
        let mut plan = inner("pytest");
        plan.steps[0].program = "/usr/bin/cargo".into();
        let error = CoveragePy
            .wrap(&request(), &project(&["coverage"]), plan)
            .unwrap_err();
        assert_eq!(error.code, "unsupported");
        assert!(error.hint.is_some());
        let error = CoveragePy.plan(&request(), &project(&["coverage"])).unwrap_err();
        assert_eq!(error.code, "unsupported");
    }

    #[test]
    fn listing_measures_nothing() {
        let request = RunRequest {
            mode: Mode::List,
            ..request()
        };
        assert_eq!(wrapped(&request, &["coverage"]), inner("pytest"));
    }
}

mod readings {
    use super::*;

    const BRANCH: &str = include_str!("../fixtures/branch-7.17.5.json");
    const BRANCH_OLDER: &str = include_str!("../fixtures/branch-7.6.12.json");
    const LINES: &str = include_str!("../fixtures/lines-7.17.5.json");
    const SOURCE: &str = include_str!("../fixtures/source-7.17.5.json");

    fn finish(
        request: &RunRequest,
        report: Option<&str>,
        said: &[&str],
    ) -> Result<Vec<TestEvent>, BackendError> {
        let mut reader = CoveragePy.reader(request);
        let mut events = Vec::new();
        let lines = Lines {
            step: 1,
            stream: Stream::Stderr,
            lines: said.iter().map(|line| (*line).to_owned()).collect(),
        };
        reader.read(&lines, &mut events);
        let mut files = Artifacts::default();
        if let Some(report) = report {
            files.insert("coverage.json", ArtifactState::Bytes(report.as_bytes().to_vec()));
        }
        reader.finish(&[], &files, &mut events)?;
        Ok(events)
    }

    fn coverage(request: &RunRequest, report: &str) -> Coverage {
        let mut events = finish(request, Some(report), &[]).unwrap();
        assert_eq!(events.len(), 1);
        match events.remove(0) {
            TestEvent::Coverage(coverage) => coverage,
            other => panic!("{other:?}"),
        }
    }

    fn percents(coverage: &Coverage) -> Vec<(&str, f64)> {
        coverage
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.percent))
            .collect()
    }

    fn only(paths: &[&str]) -> RunRequest {
        RunRequest {
            filters: Filters {
                coverage_paths: paths.iter().map(|path| (*path).to_owned()).collect(),
                ..Filters::default()
            },
            ..request()
        }
    }

    #[test]
    fn lines_are_counted_without_what_the_run_brought_along() {
        let coverage = coverage(&request(), LINES);
        assert_eq!(
            percents(&coverage),
            [
                ("src/shop/__init__.py", 100.0),
                ("src/shop/cart.py", 200.0 / 3.0),
                ("tests/test_cart.py", 100.0),
            ]
        );
        let cart = &coverage.files[1];
        assert_eq!(
            (cart.covered_lines, cart.statements, &cart.missing_lines[..]),
            (4, 6, &[3, 8][..])
        );
        // The report says 15 of 17, with the injected reporter and a module that a test wrote.
        assert_eq!(coverage.percent, Some(100.0 * 12.0 / 14.0));
    }

    #[test]
    fn branches_count_as_coverage_py_counts_them() {
        for report in [BRANCH, BRANCH_OLDER] {
            let coverage = coverage(&request(), report);
            let cart = &coverage.files[1];
            assert_eq!((cart.covered_branches, cart.branches, cart.percent), (1, 2, 62.5));
            assert_eq!(coverage.percent, Some(100.0 * 13.0 / 16.0));
        }
    }

    #[test]
    fn a_file_that_was_never_imported_counts_with_nothing() {
        let coverage = coverage(&only(&["src"]), SOURCE);
        assert_eq!(percents(&coverage)[2], ("src/shop/ghost.py", 0.0));
        assert_eq!(coverage.percent, Some(100.0 * 4.0 / 7.0));
    }

    #[test]
    fn paths_are_compared_part_by_part() {
        let names = |paths: &[&str]| {
            let coverage = coverage(&only(paths), SOURCE);
            (
                coverage
                    .files
                    .into_iter()
                    .map(|file| file.path)
                    .collect::<Vec<_>>(),
                coverage.percent,
            )
        };
        assert_eq!(
            names(&["src/shop/cart.py"]),
            (vec!["src/shop/cart.py".to_owned()], Some(200.0 / 3.0))
        );
        assert_eq!(names(&["src/shop/ca"]), (Vec::new(), None));
        assert_eq!(names(&["src/sho"]), (Vec::new(), None));
        assert_eq!(names(&["./src/shop/"]).0.len(), 3);
        assert_eq!(names(&["."]).0.len(), 3);
        assert_eq!(
            names(&["/home/me/shop/src/shop/ghost.py"]),
            (vec!["src/shop/ghost.py".to_owned()], Some(0.0))
        );
    }

    #[test]
    fn files_beside_the_working_folder_keep_a_way_to_them() {
        let filter = paths::Filter::new(&RunRequest::new(
            Mode::Run,
            "/repo/services/api",
            "/home/me/.state/q1/w",
        ));
        let accept = |file: &str| filter.accept(file);
        assert_eq!(
            accept("/repo/libs/common/x.py").as_deref(),
            Some("../../libs/common/x.py")
        );
        assert_eq!(accept("/repo/services/api/app.py").as_deref(), Some("app.py"));
        assert_eq!(accept("./app.py").as_deref(), Some("app.py"));
        assert_eq!(
            accept("/opt/elsewhere/x.py").as_deref(),
            Some("/opt/elsewhere/x.py")
        );
        for foreign in [
            "/home/me/.state/q1/w/reporter.py",
            "/home/me/.state/q1/t/tmpab/made.py",
            "/private/home/me/.state/q1/w/reporter.py",
            "/tmp/pytest-of-me/pytest-0/test_a0/made.py",
            "/usr/lib/python3/dist-packages/six.py",
            ".venv/lib/python3.11/site-packages/pluggy/_hooks.py",
        ] {
            assert_eq!(accept(foreign), None, "{foreign}");
        }
        assert!(accept("tests/pytest-of-gold.py").is_some());
    }

    #[test]
    fn a_report_without_files_is_no_number() {
        let coverage = coverage(
            &request(),
            "{\"files\": {}, \"totals\": {\"percent_covered\": 100.0}}",
        );
        assert_eq!((coverage.percent, coverage.files.len()), (None, 0));
    }

    #[test]
    fn a_report_that_is_not_there_is_explained_in_the_tools_own_words() {
        let error = finish(
            &request(),
            None,
            &["No data to combine", "", "No data to report."],
        )
        .unwrap_err();
        assert_eq!(error.code, "no_report");
        assert!(
            error
                .message
                .contains("was not written: No data to combine; No data to report."),
            "{error}"
        );
        assert!(error.hint.unwrap().contains("os._exit"));
        let error = finish(&request(), None, &["/v/bin/python: No module named coverage"]).unwrap_err();
        assert_eq!(error.code, "missing_package");
        assert!(error.message.contains("coverage is not installed"), "{error}");
    }

    #[test]
    fn a_damaged_report_is_refused() {
        for report in ["", "[]", "{\"files\": 3}", &LINES[..LINES.len() / 2]] {
            assert_eq!(
                finish(&request(), Some(report), &[]).unwrap_err().code,
                "bad_report"
            );
        }
    }

    #[test]
    fn a_run_that_was_cut_short_has_no_coverage_and_no_complaint() {
        let cut = [
            StepExit {
                timed_out: true,
                ..StepExit::default()
            },
            StepExit {
                cancelled: true,
                ..StepExit::default()
            },
        ];
        for exit in cut {
            let mut events = Vec::new();
            let mut reader = CoveragePy.reader(&request());
            reader
                .finish(&[exit], &Artifacts::default(), &mut events)
                .unwrap();
            assert_eq!(events, []);
        }
    }

    #[test]
    fn workers_that_were_asked_for_and_not_used_are_told() {
        let request = RunRequest {
            filters: Filters {
                workers: Some("4".to_owned()),
                ..Filters::default()
            },
            ..request()
        };
        let events = finish(&request, Some(LINES), &[]).unwrap();
        assert!(
            matches!(&events[0], TestEvent::Warning { message } if message.contains("-n 4")),
            "{events:?}"
        );
    }
}
