//! A small sound framework (`sheet.sh`) with its backend, which can be given one fault at a time; and its sample project.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use conformance::{Case, Finding, Harness, Sample};
use engine::environment::Environment;
use engine::project::Overrides;
use process::Supervisor;
use runner_core::backend::{
    BackendError, BackendInfo, Capability, Mode, OutputReader, RunRequest, TestBackend,
};
use runner_core::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use runner_core::facts::Project;
use runner_core::model::{CollectionError, Outcome, TestResult};
use runner_core::plan::{Artifact, Artifacts, Lines, Plan, ScratchFile, Step, StepExit, Stream};
use runner_core::selector::Selector;

/// What may be wrong with a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// An exit code of 0 without a word is a test that passed.
    SilencePasses,
    /// All readers count into one place.
    SharedState,
    PanicsOnNul,
    /// Ids are put into the text of a shell.
    ShellText,
    /// Ids are joined into one word.
    OneWord,
    /// Rows count without the framework's own end and report.
    NoEnd,
    /// Any exit is a good one.
    AnyExit,
    /// Rows are told at the end only, and not after a time limit.
    LateRows,
    /// Nothing is read if a line of standard error is the first.
    DeafAtStderr,
    /// A test that runs alone gets another name.
    RenamesAlone,
    ListsTooLittle,
    /// Each plan is another one.
    Impure,
    OutsideCwd,
    OutsideReport,
    /// Plans a keyword run that it does not offer, by running everything.
    PlansAnything,
    /// Offers keyword runs and refuses them.
    Boasts,
    /// A row of what tests print.
    BelievesPrints,
    /// Takes a number of workers and uses one.
    PassesOver,
    /// A bad name.
    Nameless,
}

#[derive(Debug)]
pub(crate) struct Sheet {
    fault: Fault,
    plans: AtomicU32,
    shared: Arc<Mutex<u64>>,
}

impl Sheet {
    pub(crate) fn with(fault: Fault) -> Self {
        Self {
            fault,
            plans: AtomicU32::new(0),
            shared: Arc::default(),
        }
    }

    fn step(&self, request: &RunRequest) -> Step {
        let script = request.scratch.join("sheet.sh").display().to_string();
        let mode = if request.mode == Mode::List { "list" } else { "run" };
        let report = request.scratch.join("report").display().to_string();
        let mut args = vec![
            script,
            mode.to_owned(),
            report,
            request.filters.max_failures.unwrap_or(0).to_string(),
        ];
        let words = request.selection.words();
        let words = if words.is_empty() {
            request.paths.clone()
        } else {
            words
        };
        match self.fault {
            Fault::ShellText => {
                let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
                let text = format!("exec sh {} {}", args.join(" "), quoted.join(" "));
                args = vec!["-c".to_owned(), text];
            }
            Fault::OneWord if words.len() > 1 => args.push(words.join(" ")),
            _ => args.extend(words),
        }
        Step {
            name: "sheet".to_owned(),
            program: "/bin/sh".into(),
            args,
            cwd: request.cwd.clone(),
            channel: true,
            ..Step::default()
        }
    }
}

impl TestBackend for Sheet {
    fn info(&self) -> BackendInfo {
        let name = if self.fault == Fault::Nameless {
            "a sheet"
        } else {
            "sheet"
        };
        let mut capabilities = BTreeSet::from([
            Capability::Run,
            Capability::List,
            Capability::Single,
            Capability::Stream,
            Capability::MaxFailures,
        ]);
        if self.fault == Fault::Boasts {
            capabilities.insert(Capability::Keyword);
        }
        BackendInfo {
            name: name.to_owned(),
            framework: "sheet".to_owned(),
            language: String::new(),
            capabilities,
            needs: Vec::new(),
            options: Vec::new(),
        }
    }

    fn plan(&self, request: &RunRequest, _project: &Project) -> Result<Plan, BackendError> {
        let selected = request.selection.selectors.iter();
        let keyword = selected.clone().any(|s| matches!(s, Selector::Keyword { .. }))
            || request.filters.keyword.is_some();
        if keyword && self.fault != Fault::PlansAnything {
            return Err(BackendError::unsupported("sheet", Capability::Keyword));
        }
        if (request.filters.workers.is_some() || request.filters.markers.is_some())
            && self.fault != Fault::PassesOver
        {
            return Err(BackendError::new(
                "unsupported",
                "a sheet has neither workers nor markers",
            ));
        }
        if selected
            .map(Selector::as_word)
            .any(|word| word.contains(['\n', '\r']))
        {
            return Err(BackendError::new("bad_selector", "a sheet's names are lines"));
        }
        let mut step = self.step(request);
        step.args.extend(request.filters.extra_args.iter().cloned());
        let report = match self.fault {
            Fault::OutsideReport => "/var/tmp/report".into(),
            _ => request.scratch.join("report"),
        };
        match self.fault {
            Fault::OutsideCwd => step.cwd = "/".into(),
            Fault::Impure if request.selection.is_everything() && request.mode == Mode::Run => step
                .args
                .push(self.plans.fetch_add(1, Ordering::Relaxed).to_string()),
            _ => {}
        }
        Ok(Plan {
            files: vec![ScratchFile {
                path: "sheet.sh".into(),
                contents: include_str!("sheet.sh").to_owned(),
            }],
            steps: vec![step],
            artifacts: vec![Artifact {
                name: "report".to_owned(),
                path: report,
            }],
        })
    }

    fn reader(&self, request: &RunRequest) -> Box<dyn OutputReader> {
        *self.shared.lock().unwrap() = 0;
        Box::new(Reader {
            fault: self.fault,
            alone: matches!(request.selection.selectors.as_slice(), [Selector::Node { .. }]),
            listing: request.mode == Mode::List,
            max_failures: request.filters.max_failures,
            shared: Arc::clone(&self.shared),
            count: 0,
            bad: 0,
            end: None,
            deaf: false,
            heard: false,
            late: Vec::new(),
        })
    }
}

struct Reader {
    fault: Fault,
    alone: bool,
    listing: bool,
    max_failures: Option<u32>,
    shared: Arc<Mutex<u64>>,
    count: u64,
    bad: u64,
    end: Option<u64>,
    deaf: bool,
    heard: bool,
    late: Vec<TestEvent>,
}

impl Reader {
    fn line(&mut self, line: &str, events: &mut Vec<TestEvent>) {
        assert!(self.fault != Fault::PanicsOnNul || !line.contains('\0'), "a NUL");
        let Some((word, rest)) = line.split_once(' ') else {
            return;
        };
        let mut nodeid = rest.to_owned();
        if self.fault == Fault::RenamesAlone && self.alone {
            nodeid = nodeid.to_uppercase();
        }
        match word {
            "start" => events.push(TestEvent::Started { nodeid, worker: None }),
            "found" => {
                self.tally();
                if self.fault != Fault::ListsTooLittle || self.count > 1 {
                    events.push(TestEvent::Found {
                        nodeid,
                        location: None,
                    });
                }
            }
            "broken" => events.push(TestEvent::CollectFailed(CollectionError {
                nodeid,
                message: "cannot be read".to_owned(),
                summary: None,
                location: None,
            })),
            "end" => self.end = rest.parse().ok(),
            _ => self.row(word, nodeid, events),
        }
    }

    fn tally(&mut self) {
        self.count += 1;
        *self.shared.lock().unwrap() += 1;
    }

    fn row(&mut self, word: &str, nodeid: String, events: &mut Vec<TestEvent>) {
        let Some(outcome) = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == word) else {
            return;
        };
        self.tally();
        self.bad += u64::from(outcome.is_bad());
        let mut row = TestResult::new(nodeid, outcome);
        row.message = outcome.is_bad().then(|| "the sheet says so".to_owned());
        events.push(TestEvent::Finished(Box::new(row)));
    }

    /// Whether the framework's own end, the report and what was read agree.
    fn whole(&self, files: &Artifacts) -> bool {
        let count = match self.fault {
            Fault::SharedState => *self.shared.lock().unwrap(),
            _ => self.count,
        };
        let report = files
            .bytes("report")
            .map(|bytes| bytes == format!("{count} tests\n").as_bytes());
        self.end == Some(count) && report == Ok(true)
    }
}

impl OutputReader for Reader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        let deafens = self.fault == Fault::DeafAtStderr && lines.stream == Stream::Stderr;
        self.deaf |= deafens && !self.heard;
        self.heard |= lines.stream == Stream::Channel;
        let prints = self.fault == Fault::BelievesPrints && lines.stream == Stream::Stdout;
        if self.deaf || (lines.stream != Stream::Channel && !prints) {
            return;
        }
        let mut told = Vec::new();
        for line in &lines.lines {
            self.line(line, &mut told);
        }
        if self.fault == Fault::LateRows {
            self.late.append(&mut told);
        }
        events.append(&mut told);
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        if !exits.iter().any(|exit| exit.timed_out || exit.cancelled) {
            events.append(&mut self.late);
        }
        let code = exits.first().and_then(|exit| exit.code);
        let meaning = match code {
            _ if self.fault == Fault::AnyExit => ExitMeaning::Ok,
            Some(0) => ExitMeaning::Ok,
            Some(1) => ExitMeaning::TestsFailed,
            Some(5) => ExitMeaning::NoTests,
            _ => ExitMeaning::Other,
        };
        if self.fault == Fault::SilencePasses && self.count == 0 && code == Some(0) && !self.listing {
            self.row("passed", "everything".to_owned(), events);
            return Ok(Ending::completed(meaning));
        }
        if self.fault != Fault::NoEnd && !self.whole(files) {
            return Ok(Ending::because(
                EndingKind::Cut,
                meaning,
                "the sheet was not read to its end",
            ));
        }
        if meaning == ExitMeaning::NoTests {
            return Ok(Ending::because(
                EndingKind::NoTests,
                meaning,
                "the sheets are empty",
            ));
        }
        if self.max_failures.is_some_and(|most| self.bad >= u64::from(most)) {
            return Ok(Ending::because(EndingKind::Stopped, meaning, "enough failures"));
        }
        Ok(Ending::completed(meaning))
    }
}

const TRUTH: &str = r#"paths = ["tests"]

[outcomes]
"tests/a.sheet::adds" = "passed"
"tests/a.sheet::two words" = "passed"
"tests/a.sheet::$(touch owned) [a::b] é" = "passed"
"tests/a.sheet::fails" = "failed"
"tests/b.sheet::adds" = "passed"
"tests/b.sheet::no set-up" = "error"
"tests/b.sheet::later" = "skipped"
"tests/b.sheet::known" = "xfailed"
"tests/b.sheet::mended" = "xpassed"

[broken]
select = ["traps/broken.sheet"]
[hang]
select = ["traps/hang.sheet"]
finished = ["traps/hang.sheet::before"]
timeout = "2s"
[crash]
select = ["traps/crash.sheet"]
finished = ["traps/crash.sheet::before"]
[empty]
select = ["traps/empty.sheet"]
"#;

const SHEETS: [(&str, &str); 6] = [
    (
        "tests/a.sheet",
        "passed adds\npassed two words\npassed $(touch owned) [a::b] é\nfailed fails\n",
    ),
    (
        "tests/b.sheet",
        "passed adds\nerror no set-up\nskipped later\nxfailed known\nxpassed mended\n",
    ),
    ("traps/broken.sheet", "broken\n"),
    ("traps/hang.sheet", "passed before\nhang hangs\n"),
    ("traps/crash.sheet", "passed before\ncrash crashes\n"),
    ("traps/empty.sheet", ""),
];

fn sample(folder: &Path) -> Sample {
    for (path, text) in SHEETS.iter().chain(&[(conformance::FILE, TRUTH)]) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    Sample::read(folder).unwrap()
}

/// All cases, with the sample project or without.
pub(crate) async fn cases(backend: Sheet, live: bool) -> Vec<Case> {
    let folder = tempfile::tempdir().unwrap();
    let backend: Arc<dyn TestBackend> = Arc::new(backend);
    let supervisor = Supervisor {
        program: env!("CARGO_BIN_EXE_qaas-kit-supervisor").into(),
        args: vec!["__supervise".into()],
    };
    let mut environment = Environment::default();
    environment
        .vars
        .insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    let harness = if live {
        let sample = sample(folder.path());
        let harness = Harness::new(&backend, sample, supervisor, &Overrides::default(), &environment).await;
        Some(harness.unwrap())
    } else {
        None
    };
    let mut told = 0;
    let cases = conformance::check(backend, harness.as_ref(), &mut |_| told += 1).await;
    assert_eq!(told, cases.len(), "each case is told once");
    assert!(!folder.path().join("owned").exists(), "an id was run by a shell");
    cases
}

/// `group/name` of those with this finding.
pub(crate) fn names(cases: &[Case], of: fn(&Finding) -> bool) -> Vec<String> {
    let of = cases.iter().filter(|case| of(&case.finding));
    of.map(|case| format!("{}/{}", case.group.as_str(), case.name))
        .collect()
}
