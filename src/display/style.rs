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

    /// A text of the framework or of a test, set in; the lines that say what went wrong stand out.
    pub(crate) fn indented(self, text: &str) -> String {
        let lines = text.lines().map(|line| format!("   {}\n", self.line(line)));
        lines.collect()
    }

    /// pytest marks what went wrong with `E`, and the line where with `>`; others name an error at the beginning.
    fn line(self, line: &str) -> String {
        let error = |text: &str| {
            let name = text.split(':').next().unwrap_or_default();
            let named = name.ends_with("Error") || name.ends_with("Exception");
            named && text.len() > name.len() && !name.contains(' ')
        };
        if line.starts_with("E ") || error(line) || line.starts_with("thread '") {
            self.with(AnsiColor::Red.on_default(), line)
        } else if line.starts_with('>') {
            self.bold(line)
        } else {
            line.to_owned()
        }
    }

    /// What is well and yet to be looked at.
    pub(crate) fn warning(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default().bold(), text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_wrong_stands_out_in_a_text_and_only_with_colours() {
        let text = ">       assert 1 == 2\nE       assert 1 == 2\nplain";
        let painted = Paint { colors: true }.indented(text);
        assert!(painted.contains("\u{1b}[31mE       assert"), "{painted:?}");
        assert!(painted.ends_with("   plain\n"), "{painted:?}");
        let bare = Paint { colors: false }.indented(text);
        assert_eq!(
            bare,
            "   >       assert 1 == 2\n   E       assert 1 == 2\n   plain\n"
        );
    }
}
