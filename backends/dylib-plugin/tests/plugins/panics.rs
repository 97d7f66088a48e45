//! A backend in Rust that panics where its `config` says, and counts what it has allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicIsize, Ordering};

use dylib_plugin::runner_core::backend::{
    BackendError, BackendInfo, Capability, OutputReader, RunRequest, TestBackend,
};
use dylib_plugin::runner_core::event::{Ending, ExitMeaning, TestEvent};
use dylib_plugin::runner_core::facts::Project;
use dylib_plugin::runner_core::model::{Outcome, TestResult};
use dylib_plugin::runner_core::plan::{Artifacts, Lines, Plan, Step, StepExit};

struct Counting;

static LIVE: AtomicIsize = AtomicIsize::new(0);

#[expect(unsafe_code, reason = "counts for a test")]
// SAFETY: hands everything on.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size().cast_signed(), Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size().cast_signed(), Ordering::Relaxed);
        // SAFETY: the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Panics {
    at: String,
}

struct Reader {
    at: String,
}

fn may_panic(at: &str, here: &str) {
    assert!(at != here, "told to panic in {here}");
    if at == format!("{here}, and when dropped") {
        std::panic::panic_any(Bomb);
    }
}

/// A payload that panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("the payload panicked, too");
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        may_panic(&self.at, "destroy");
    }
}

impl TestBackend for Panics {
    fn info(&self) -> BackendInfo {
        may_panic(&self.at, "info");
        BackendInfo {
            name: "panics".to_owned(),
            framework: "none".to_owned(),
            language: String::new(),
            capabilities: BTreeSet::from([Capability::Run]),
            needs: Vec::new(),
            options: Vec::new(),
        }
    }

    fn plan(&self, request: &RunRequest, _: &Project) -> Result<Plan, BackendError> {
        may_panic(&self.at, "plan");
        if self.at == "error" {
            return Err(BackendError::new("refused", "told to refuse").with_hint("tell it something else"));
        }
        let step = Step {
            name: LIVE.load(Ordering::Relaxed).to_string(),
            program: "/bin/echo".into(),
            args: vec!["one".to_owned()],
            cwd: request.cwd.clone(),
            ..Step::default()
        };
        Ok(Plan {
            steps: vec![step],
            ..Plan::default()
        })
    }

    fn reader(&self, _: &RunRequest) -> Box<dyn OutputReader> {
        may_panic(&self.at, "open");
        Box::new(Reader { at: self.at.clone() })
    }
}

impl OutputReader for Reader {
    fn read(&mut self, lines: &Lines, events: &mut Vec<TestEvent>) {
        may_panic(&self.at, "read");
        for line in &lines.lines {
            assert_ne!(line, "panic", "told to panic");
            events.push(TestEvent::Finished(Box::new(TestResult::new(
                line.clone(),
                Outcome::Passed,
            ))));
        }
    }

    fn finish(
        &mut self,
        _: &[StepExit],
        files: &Artifacts,
        _: &mut Vec<TestEvent>,
    ) -> Result<Ending, BackendError> {
        may_panic(&self.at, "finish");
        let mut ending = Ending::completed(ExitMeaning::Ok);
        ending.reason = files
            .bytes("report")
            .ok()
            .map(|bytes| format!("{} bytes", bytes.len()));
        Ok(ending)
    }
}

dylib_plugin::export_with!(|params| {
    let at = params
        .config
        .get("at")
        .and_then(|at| at.as_str())
        .unwrap_or_default();
    may_panic(at, "create");
    if at == "refuse" {
        return Err(BackendError::new("bad_config", "`at` may not be `refuse`"));
    }
    Ok(Box::new(Panics { at: at.to_owned() }))
});
