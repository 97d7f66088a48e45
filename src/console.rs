//! What a person sees of a framework beside its results, and the terminal that its tests may have.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;

use engine::run::Onlooker;
use process::Cancel;
use runner_core::backend::Shows;
use runner_core::panic::lock;

#[cfg(unix)]
use crate::terminal::Terminal;

/// Looks on for a person.
pub(crate) struct Console {
    shows: Mutex<Shows>,
    #[cfg(unix)]
    terminal: Option<Terminal>,
}

impl Console {
    /// With the terminal at which the person sits, if they do.
    pub(crate) fn new(cancel: &Cancel) -> Self {
        #[cfg(not(unix))]
        let _ = cancel;
        Self {
            shows: Mutex::default(),
            #[cfg(unix)]
            terminal: Terminal::of_person(cancel),
        }
    }

    /// What of the present run's framework is to be seen.
    pub(crate) fn shows(&self) -> Shows {
        *lock(&self.shows)
    }

    /// The tests have the terminal, or not any more.
    pub(crate) fn terminal_is(&self, taken: bool, debugger: bool) {
        #[cfg(unix)]
        if let Some(terminal) = &self.terminal {
            if taken {
                terminal.hand_over(debugger);
            } else {
                terminal.take_back();
            }
        }
        #[cfg(not(unix))]
        let _ = (taken, debugger);
    }
}

impl Onlooker for Console {
    fn begins(&self, shows: Shows) {
        *lock(&self.shows) = shows;
    }

    fn lines(&self, lines: &[String]) {
        let mut out = std::io::stdout().lock();
        for line in lines {
            let _ = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n"));
        }
        let _ = out.flush();
    }

    fn terminal(&self) -> Option<PathBuf> {
        #[cfg(unix)]
        return self.terminal.as_ref().map(|terminal| terminal.path().to_owned());
        #[cfg(not(unix))]
        None
    }

    fn said(&self) -> Vec<String> {
        #[cfg(unix)]
        if let Some(terminal) = &self.terminal {
            terminal.take_back();
            return terminal.said();
        }
        Vec::new()
    }
}
