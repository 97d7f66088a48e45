//! A person's terminal, handed to the tests while they talk to it: a debugger, `input()`, prints as they come.
//!
//! The tests are supervised as ever; they open the other side of a pseudo-terminal, and a thread of this module carries what
//! is typed and what is printed across. So nothing of the supervision, of the record, or of the person's own terminal is
//! lost, whatever the tests do to theirs.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;

use process::Cancel;
use runner_core::panic::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize};

/// How often the size of the person's terminal is looked at, and whether the tests have theirs open.
const LOOK: Duration = Duration::from_millis(100);
/// Ctrl-C and Ctrl-\, as a terminal that is not to act on them hands them on.
const INTERRUPT: u8 = 0x03;
const QUIT: u8 = 0x1c;
/// Bytes of what the tests said there that are kept for the record.
const KEPT: usize = 256 * 1024;

/// The terminal of a person, and the one that the tests may open.
pub(crate) struct Terminal {
    master: OwnedFd,
    path: PathBuf,
    cancel: Cancel,
    going: Mutex<Option<Going>>,
    said: std::sync::Arc<Mutex<Vec<u8>>>,
}

/// While the tests have the terminal.
struct Going {
    stop: io::PipeWriter,
    thread: JoinHandle<()>,
}

impl Terminal {
    /// `None` unless a person sits there: standard input and output are terminals.
    pub(crate) fn of_person(cancel: &Cancel) -> Option<Self> {
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            return None;
        }
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).ok()?;
        grantpt(&master).ok()?;
        unlockpt(&master).ok()?;
        let path = ptsname(&master, Vec::new()).ok()?;
        Some(Self {
            path: PathBuf::from(path.into_string().ok()?),
            master,
            cancel: cancel.clone(),
            going: Mutex::default(),
            said: std::sync::Arc::default(),
        })
    }

    /// What the tests open.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The tests have opened it. In a debugger Ctrl-C is the debugger's; else it asks the run to end.
    pub(crate) fn hand_over(&self, debugger: bool) {
        let mut going = lock(&self.going);
        if going.is_some() {
            return;
        }
        let begin = || -> io::Result<Going> {
            let (stopped, stop) = io::pipe()?;
            let carrier = Carrier {
                master: File::from(self.master.try_clone()?),
                stopped,
                raw: Raw::enter()?,
                cancel: self.cancel.clone(),
                debugger,
                said: std::sync::Arc::clone(&self.said),
                size: None,
                typing: true,
            };
            Ok(Going {
                stop,
                thread: std::thread::spawn(move || carrier.carry()),
            })
        };
        // Without it the tests have a terminal at which nobody types.
        *going = begin().ok();
    }

    /// They are done with it: what they still said is shown, and the person's terminal is as it was.
    pub(crate) fn take_back(&self) {
        if let Some(Going { stop, thread }) = lock(&self.going).take() {
            drop(stop);
            let _ = thread.join();
        }
    }

    /// What was said there since the last time, line by line.
    pub(crate) fn said(&self) -> Vec<String> {
        let said = std::mem::take(&mut *lock(&self.said));
        String::from_utf8_lossy(&said)
            .lines()
            .map(|line| line.trim_end_matches('\r').to_owned())
            .collect()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.take_back();
    }
}

/// A terminal that hands every key on as it is. As it was before once this is dropped.
struct Raw(Termios);

impl Raw {
    fn enter() -> io::Result<Self> {
        let before = tcgetattr(rustix::stdio::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, &self.0);
    }
}

/// Carries bytes across until it is stopped.
struct Carrier {
    master: File,
    stopped: io::PipeReader,
    raw: Raw,
    cancel: Cancel,
    debugger: bool,
    said: std::sync::Arc<Mutex<Vec<u8>>>,
    size: Option<(u16, u16)>,
    typing: bool,
}

impl Carrier {
    fn carry(mut self) {
        loop {
            self.resize();
            let (master, typed, stopped) = self.wait();
            if master && !self.printed() {
                // Nobody has it open just now.
                std::thread::sleep(LOOK / 10);
            }
            if typed {
                self.typed();
            }
            if stopped {
                // The last of what was printed is there already: whoever printed it is gone or has given it back.
                while readable(self.master.as_fd()) && self.printed() {}
                break;
            }
        }
        drop(self.raw);
    }

    fn resize(&mut self) {
        let Ok(size) = tcgetwinsize(rustix::stdio::stdout()) else {
            return;
        };
        if self.size.replace((size.ws_row, size.ws_col)) != Some((size.ws_row, size.ws_col)) {
            let _ = tcsetwinsize(&self.master, size);
        }
    }

    /// What there is to do: something printed, something typed, the end.
    fn wait(&self) -> (bool, bool, bool) {
        let mut watched = [
            PollFd::new(&self.master, PollFlags::IN),
            PollFd::new(&self.stopped, PollFlags::IN),
            PollFd::from_borrowed_fd(rustix::stdio::stdin(), PollFlags::IN),
        ];
        let count = if self.typing { 3 } else { 2 };
        let _ = poll(&mut watched[..count], Timespec::try_from(LOOK).ok().as_ref());
        let [master, stopped, typed] = watched.map(|fd| !fd.revents().is_empty());
        (master, typed, stopped)
    }

    fn printed(&mut self) -> bool {
        let mut bytes = [0; 4096];
        let Ok(count @ 1..) = self.master.read(&mut bytes) else {
            return false;
        };
        let mut out = io::stdout().lock();
        let _ = out.write_all(&bytes[..count]).and_then(|()| out.flush());
        let mut said = lock(&self.said);
        if said.len() < KEPT {
            said.extend_from_slice(&bytes[..count]);
        }
        true
    }

    fn typed(&mut self) {
        let mut bytes = [0; 1024];
        let Ok(count @ 1..) = rustix::io::read(rustix::stdio::stdin(), &mut bytes) else {
            self.typing = false;
            return;
        };
        for &byte in &bytes[..count] {
            match byte {
                QUIT => self.cancel.at_once("Ctrl-\\"),
                INTERRUPT if !self.debugger && self.cancel.is_asked() => self.cancel.at_once("SIGINT"),
                INTERRUPT if !self.debugger => self.cancel.ask("SIGINT"),
                _ => {
                    let _ = self.master.write_all(&[byte]);
                }
            }
        }
    }
}

fn readable(fd: BorrowedFd<'_>) -> bool {
    let mut watched = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    matches!(poll(&mut watched, Some(&now)), Ok(1)) && watched[0].revents().contains(PollFlags::IN)
}
