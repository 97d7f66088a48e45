//! The spares of a server: at most one for each kind of order, for as long as it is likely to be wanted.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::spare::Spare;
use super::{Engine, RunSpec};
use runner_core::backend::Mode;

/// More kinds of orders than these are not taken turns with.
const MOST: usize = 2;
/// One that nobody wanted for so long is ended.
const IDLE: Duration = Duration::from_secs(10 * 60);
/// How often it is looked whether the machine has better use for a spare's memory.
const LOOK: Duration = Duration::from_secs(10);
/// A process that refused to wait is not tried again for so long.
const REFUSED: Duration = Duration::from_secs(5 * 60);

/// Whether and for whom processes are started ahead of time.
#[derive(Clone, Debug, Default)]
pub(super) enum Ahead {
    /// For nobody.
    #[default]
    Never,
    /// For the later iterations of the same run.
    SameRun,
    /// For later runs too: this process serves many.
    Kept(Spares),
}

impl Ahead {
    pub(super) fn within_runs(&self) -> bool {
        !matches!(self, Self::Never)
    }
}

/// Clones share.
#[derive(Clone, Debug, Default)]
pub(super) struct Spares(Arc<Mutex<Stock>>);

#[derive(Debug, Default)]
struct Stock {
    /// Oldest first.
    spares: Vec<Kept>,
    /// Why there is none for a kind of order, where it is worth saying.
    notes: Vec<Note>,
    /// Somebody looks after them.
    watched: bool,
}

#[derive(Debug)]
struct Kept {
    kind: Kind,
    spare: Spare,
    since: Instant,
}

#[derive(Debug)]
struct Note {
    kind: Kind,
    why: String,
    since: Instant,
    refused: bool,
}

/// Orders that may be served by the same process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kind {
    root: PathBuf,
    suite: String,
    cwd: PathBuf,
    /// A backend may start its framework in another way for the whole texts of failures.
    full_texts: bool,
}

impl Kind {
    fn of(spec: &RunSpec) -> Self {
        Self {
            root: spec.project.root.clone(),
            suite: spec.suite.name.clone(),
            cwd: spec.cwd.clone(),
            full_texts: spec.filters.full_texts,
        }
    }
}

impl Spares {
    /// The spare for such orders, or why there is none.
    pub(super) async fn take(&self, spec: &RunSpec) -> Result<Spare, String> {
        let kind = Kind::of(spec);
        let taken = {
            let mut stock = self.lock();
            let place = stock.spares.iter().position(|kept| kept.kind == kind);
            place.map(|place| stock.spares.remove(place).spare)
        };
        let Some(mut spare) = taken else {
            let stock = self.lock();
            let note = stock.notes.iter().find(|note| note.kind == kind);
            let first = "no process was waiting: none is started before the first run of its kind";
            return Err(note.map_or_else(|| first.to_owned(), |note| note.why.clone()));
        };
        match spare.refusal().await {
            Some(refusal) => {
                let why = format!("no process waits for this suite: {}", refusal.why);
                self.lock().note(kind, &why, refusal.lasting);
                Err(why)
            }
            None => Ok(spare),
        }
    }

    /// Starts the next one for orders like this.
    pub(super) fn refill(&self, engine: &Engine, spec: &RunSpec) {
        let kind = Kind::of(spec);
        if spec.mode != Mode::Run || self.lock().holds(&kind) || memory_is_short() {
            return;
        }
        let Ok(seat) = engine.new_seat(spec) else {
            return;
        };
        let started = engine.spare_for(spec, seat);
        let mut stock = self.lock();
        match started {
            Ok((_, spare)) => {
                stock.notes.retain(|note| note.kind != kind);
                stock.spares.push(Kept {
                    kind,
                    spare,
                    since: Instant::now(),
                });
                while stock.spares.len() > MOST {
                    let oldest = stock.spares.remove(0);
                    stock.note(
                        oldest.kind,
                        "the waiting process was ended for one of another suite",
                        false,
                    );
                }
            }
            Err(why) => stock.note(kind, &why, false),
        }
        if !std::mem::replace(&mut stock.watched, true) {
            self.watch();
        }
    }

    /// Looks after what is kept until nothing is.
    fn watch(&self) {
        let stock: Weak<Mutex<Stock>> = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(stock) = stock.upgrade().map(Self) else {
                    return;
                };
                let mut stock = stock.lock();
                let now = Instant::now();
                if memory_is_short() {
                    stock.end("the waiting process was ended: memory was short", |_| true);
                }
                stock.end(
                    "the waiting process was ended: nobody wanted it for ten minutes",
                    |kept| now - kept.since >= IDLE,
                );
                if stock.spares.is_empty() {
                    stock.watched = false;
                    return;
                }
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, Stock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stock {
    /// Whether there is one for this kind, or there is no use in trying.
    fn holds(&mut self, kind: &Kind) -> bool {
        let now = Instant::now();
        let fresh = |note: &&Note| note.refused && now - note.since < REFUSED;
        self.spares.iter().any(|kept| kept.kind == *kind)
            || self.notes.iter().filter(fresh).any(|note| note.kind == *kind)
    }

    fn note(&mut self, kind: Kind, why: &str, refused: bool) {
        self.notes.retain(|note| note.kind != kind);
        self.notes.push(Note {
            kind,
            why: why.to_owned(),
            since: Instant::now(),
            refused,
        });
    }

    /// Ends those spares, and keeps why.
    fn end(&mut self, why: &str, which: impl Fn(&Kept) -> bool) {
        let ended: Vec<Kept> = self.spares.extract_if(.., |kept| which(kept)).collect();
        for kept in ended {
            self.note(kept.kind, why, false);
        }
    }
}

/// Whether less than a twentieth of the machine's memory, or less than 256 MiB, is to be had.
fn memory_is_short() -> bool {
    let Ok(text) = std::fs::read_to_string("/proc/meminfo") else {
        return false;
    };
    let kib = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    match (kib("MemAvailable:"), kib("MemTotal:")) {
        (Some(available), Some(total)) => available < (256 << 10).max(total / 20),
        _ => false,
    }
}
