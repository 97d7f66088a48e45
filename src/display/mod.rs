//! Events and reports for people: a progress line, failures as they happen, a summary to read at a glance.

mod progress;
mod run;
mod style;
mod words;

pub(crate) use progress::Progress;
pub(crate) use run::{Detail, Screen};
pub(crate) use style::{Paint, stdout_colors};
pub(crate) use words::for_people;

/// Seconds as people read them.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 10.0 => format!("{s:.2} s"),
        s if s < 60.0 => format!("{s:.1} s"),
        s => format!("{:.0} min {:02.0} s", (s / 60.0).floor(), s % 60.0),
    }
}
