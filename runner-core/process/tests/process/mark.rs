//! Finding what a nasty program left behind.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use process::Job;

use crate::common::python;

/// A word in the environment (and mostly the command line) of everything that one program starts.
#[derive(Clone)]
pub(crate) struct Mark(String);

static NEXT: AtomicU32 = AtomicU32::new(0);

/// In front of every nasty program: each of its processes ends itself after a minute.
const PRELUDE: &str = "
import os, signal, sys, time
os.register_at_fork(after_in_child=lambda: signal.alarm(60))
signal.alarm(60)

def hang():
    while True:
        time.sleep(1)

def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

def child(body):
    pid = os.fork()
    if pid == 0:
        try:
            body()
        finally:
            os._exit(0)
    return pid

def daemon(body):
    def first():
        os.setsid()
        child(body)
    os.waitpid(child(first), 0)
";

/// A nasty Python program and its mark.
pub(crate) fn nasty(script: &str) -> (Job, Mark) {
    let mark = Mark(format!(
        "qaas-nasty-{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    ));
    let mut job = python(&format!("{PRELUDE}\n{script}\n# {}.", mark.0));
    job.env.insert("QAAS_NASTY".into(), format!("{}.", mark.0).into());
    (job, mark)
}

impl Mark {
    /// What is alive now. Zombies have neither command line nor environment.
    pub(crate) fn alive(&self) -> Vec<String> {
        let mark = format!("{}.", self.0).into_bytes();
        let has = |path: String| std::fs::read(path).is_ok_and(|bytes| holds(&bytes, &mark));
        let numbers = std::fs::read_dir("/proc")
            .expect("/proc")
            .flatten()
            .filter_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                name.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
            });
        numbers
            .filter(|pid| *pid != std::process::id().to_string())
            .filter(|pid| has(format!("/proc/{pid}/environ")) || has(format!("/proc/{pid}/cmdline")))
            .collect()
    }

    pub(crate) fn assert_nothing_left(&self) {
        assert_eq!(self.alive(), Vec::<String>::new(), "left alive");
    }

    /// Waits until something is alive.
    pub(crate) fn wait_for(&self, count: usize) {
        self.wait("nothing began", |alive| alive >= count);
    }

    pub(crate) fn wait_until_gone(&self) {
        self.wait("something is left", |alive| alive == 0);
    }

    fn wait(&self, what: &str, enough: impl Fn(usize) -> bool) {
        let until = Instant::now() + Duration::from_secs(15);
        while !enough(self.alive().len()) {
            assert!(Instant::now() < until, "{what}: {:?}", self.alive());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|part| part == word)
}
