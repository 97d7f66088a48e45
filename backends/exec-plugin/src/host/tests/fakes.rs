//! A good backend in a thread, and a scripted one that says whatever it is told to.

use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use runner_core::backend::{
    BackendError, BackendInfo, Capability, Mode, OutputReader, RunRequest, TestBackend,
};
use runner_core::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use runner_core::facts::Project;
use runner_core::model::{Outcome, TestResult};
use runner_core::plan::{Artifacts, Lines, Plan, Step, StepExit};
use runner_core::wire::Session;

use super::super::{Disconnect, Launch, Received, Shutdown, Transport};

/// Every line is a passed test; a file `report` has one a line, too.
pub(super) struct Words;

pub(super) struct WordsReader;

impl TestBackend for Words {
    fn info(&self) -> BackendInfo {
        BackendInfo {
            name: "its own name".to_owned(),
            framework: "words".to_owned(),
            language: String::new(),
            capabilities: BTreeSet::from([Capability::Run, Capability::Single]),
            needs: Vec::new(),
            options: Vec::new(),
        }
    }

    fn plan(&self, request: &RunRequest, _: &Project) -> Result<Plan, BackendError> {
        if request.mode == Mode::List {
            return Err(BackendError::unsupported("words", Capability::List));
        }
        let step = Step {
            name: request.nonce.clone(),
            ..Step::default()
        };
        Ok(Plan {
            steps: vec![step],
            ..Plan::default()
        })
    }

    fn reader(&self, _: &RunRequest) -> Box<dyn OutputReader> {
        Box::new(WordsReader)
    }
}

pub(super) fn row(name: &str) -> TestEvent {
    TestEvent::Finished(Box::new(TestResult::new(name, Outcome::Passed)))
}

impl OutputReader for WordsReader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        events.extend(lines.lines.iter().map(|line| row(line)));
    }

    fn finish(
        &mut self,
        exits: &[StepExit],
        files: &Artifacts,
        events: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        if let Ok(bytes) = files.bytes("report") {
            events.extend(String::from_utf8_lossy(bytes).lines().map(row));
        }
        let dumps = files.dumps.len();
        let reason = format!("{} exits, {dumps} dumps, {:?}", exits.len(), files.get("old"));
        Ok(Ending::because(EndingKind::Completed, ExitMeaning::Ok, reason))
    }
}

/// A backend in a thread in place of a process.
pub(super) struct Threads {
    pub(super) started: Arc<AtomicUsize>,
}

pub(super) struct Pipes {
    to: Option<PipeWriter>,
    lines: mpsc::Receiver<Vec<u8>>,
}

impl Launch for Threads {
    fn launch(&self) -> Result<Box<dyn Transport>, BackendError> {
        self.started.fetch_add(1, Ordering::Relaxed);
        let (input, to) = std::io::pipe().expect("a pipe");
        let (from, output) = std::io::pipe().expect("a pipe");
        std::thread::spawn(move || {
            let mut session = Session::new(Box::new(|_| Ok(Box::new(Words))));
            crate::serve_on(&mut session, BufReader::new(input), output)
        });
        Ok(Box::new(Pipes {
            to: Some(to),
            lines: lines_of(from),
        }))
    }
}

pub(super) fn lines_of(from: PipeReader) -> mpsc::Receiver<Vec<u8>> {
    let (tell, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    lines
}

impl Transport for Pipes {
    fn send(&mut self, line: &str, _: Duration, _: &mut dyn FnMut(Duration) -> bool) -> bool {
        let to = self.to.as_mut().expect("open");
        to.write_all(format!("{line}\n").as_bytes()).is_ok()
    }

    fn receive(&mut self, within: Duration) -> Received {
        match self.lines.recv_timeout(within) {
            Ok(line) => Received::Line(line),
            Err(mpsc::RecvTimeoutError::Timeout) => Received::Silence,
            Err(mpsc::RecvTimeoutError::Disconnected) => Received::End,
        }
    }

    fn part(mut self: Box<Self>, _: Shutdown) -> Disconnect {
        self.to = None;
        Disconnect::default()
    }
}

/// Answers each question with what the script says, whatever was asked.
pub(super) struct Script(pub(super) Vec<Vec<Received>>);

pub(super) struct Scripted {
    turns: VecDeque<Vec<Received>>,
    now: VecDeque<Received>,
    parting: Disconnect,
}

impl Launch for Script {
    fn launch(&self) -> Result<Box<dyn Transport>, BackendError> {
        Ok(Box::new(Scripted {
            turns: self.0.clone().into(),
            now: VecDeque::new(),
            parting: Disconnect {
                signal: Some(11),
                stderr: (0..30).map(|n| format!("stderr {n}\u{1b}[2J")).collect(),
                ..Disconnect::default()
            },
        }))
    }
}

impl Transport for Scripted {
    fn send(&mut self, _: &str, _: Duration, _: &mut dyn FnMut(Duration) -> bool) -> bool {
        self.now.extend(self.turns.pop_front().unwrap_or_default());
        true
    }

    fn receive(&mut self, within: Duration) -> Received {
        let next = self.now.pop_front();
        next.unwrap_or_else(|| {
            std::thread::sleep(within);
            Received::Silence
        })
    }

    fn part(self: Box<Self>, farewell: Shutdown) -> Disconnect {
        Disconnect {
            forced: farewell == Shutdown::Now,
            ..self.parting
        }
    }
}
