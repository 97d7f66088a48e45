//! Colours, only where they belong.

use std::io::IsTerminal;

use anstyle::{AnsiColor, Style};
use engine::environment::Environment;
use runner_core::model::{Outcome, Status};

use crate::cli::Color;

/// Whether standard output gets colours: as asked, else on a terminal unless `NO_COLOR` or a dumb terminal says no.
pub(crate) fn stdout_colors(asked: Color, environment: &Environment) -> bool {
    match asked {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            std::io::stdout().is_terminal()
                && environment.get("NO_COLOR").is_none()
                && environment.get("TERM") != Some("dumb")
        }
    }
}

/// Paints words, or leaves them alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paint {
    pub(crate) colors: bool,
}

impl Paint {
    pub(crate) fn outcome(self, outcome: Outcome, text: &str) -> String {
        let color = match outcome {
            Outcome::Passed => AnsiColor::Green,
            Outcome::Failed | Outcome::Error => AnsiColor::Red,
            Outcome::Skipped | Outcome::Xfailed | Outcome::Xpassed => AnsiColor::Yellow,
        };
        self.with(color.on_default(), text)
    }

    pub(crate) fn status(self, status: Status, text: &str) -> String {
        let color = match status {
            Status::Passed => AnsiColor::Green,
            Status::AllSkipped | Status::NoTests | Status::Queued | Status::Running => AnsiColor::Yellow,
            _ => AnsiColor::Red,
        };
        self.with(color.on_default().bold(), text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        if self.colors {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}
