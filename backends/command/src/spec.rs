//! What a `[backend.NAME]` table means.

use std::collections::BTreeMap;
use std::path::PathBuf;

use runner_core::backend::{Capability, Need};
use runner_core::event::ExitMeaning;
use runner_core::plan::ScratchFile;
use runner_core::registry::Marker;

use crate::coverage::CoverageFormat;
use crate::formats::Format;
use crate::id::IdTemplate;
use crate::template::{Arg, Placeholder, Template};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spec {
    pub(crate) framework: String,
    pub(crate) language: String,
    pub(crate) run: Vec<Arg>,
    /// For exactly one test, where `run` will not do.
    pub(crate) single: Option<Vec<Arg>>,
    pub(crate) list: Option<Listing>,
    pub(crate) report: ReportPlace,
    pub(crate) id: IdTemplate,
    /// What stands between the parts of a name in the framework's own pattern, for `{regex_of_ids}`.
    pub(crate) separator: String,
    pub(crate) exit: Exits,
    pub(crate) env: BTreeMap<String, Template>,
    /// Relative to the request's working folder.
    pub(crate) cwd: Option<PathBuf>,
    /// Laid into the scratch first.
    pub(crate) files: Vec<ScratchFile>,
    pub(crate) needs: Vec<Need>,
    pub(crate) detect: Vec<Marker>,
    pub(crate) coverage: Option<CoverageSpec>,
    /// Whether files and folders are packages and targets of cargo's.
    pub(crate) cargo_targets: bool,
    /// How the names of files in the scratch begin in which processes leave their stacks at the time limit.
    pub(crate) stacks: Option<String>,
}

/// How the command measures coverage itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CoverageSpec {
    pub(crate) format: CoverageFormat,
    pub(crate) path: Template,
    /// Words that make the command measure.
    pub(crate) args: Vec<Arg>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listing {
    pub(crate) items: Vec<Arg>,
    pub(crate) report: ReportPlace,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ReportPlace {
    pub(crate) format: Format,
    pub(crate) source: Source,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    Stdout,
    /// The private event channel, which is the command's standard input.
    Channel,
    /// A file; relative paths are seen from the step's working folder.
    File(Template),
}

/// What exit codes mean. A code that stands nowhere is the framework's trouble, unless `failed` is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exits {
    pub(crate) ok: Vec<i32>,
    /// `None`: every code that stands nowhere else.
    pub(crate) failed: Option<Vec<i32>>,
    pub(crate) none: Vec<i32>,
    pub(crate) usage: Vec<i32>,
}

impl Default for Exits {
    fn default() -> Self {
        Self {
            ok: vec![0],
            failed: None,
            none: Vec::new(),
            usage: Vec::new(),
        }
    }
}

impl Exits {
    pub(crate) fn meaning(&self, code: i32) -> ExitMeaning {
        if self.ok.contains(&code) {
            ExitMeaning::Ok
        } else if self.none.contains(&code) {
            ExitMeaning::NoTests
        } else if self.usage.contains(&code) {
            ExitMeaning::Other
        } else if self.failed.as_ref().is_none_or(|codes| codes.contains(&code)) {
            ExitMeaning::TestsFailed
        } else {
            ExitMeaning::Other
        }
    }
}

impl Spec {
    pub(crate) fn run_has(&self, placeholder: Placeholder) -> bool {
        has(&self.run, placeholder)
    }

    /// What it can do, told from what the table gives.
    pub(crate) fn capabilities(&self) -> std::collections::BTreeSet<Capability> {
        let streams = self.report.format.streams() && !matches!(self.report.source, Source::File(_));
        let rows = [
            (Capability::Run, true),
            (Capability::List, self.list.is_some()),
            (Capability::Single, self.single.is_some() || narrows(&self.run)),
            (Capability::Keyword, self.run_has(Placeholder::Keyword)),
            (Capability::Stream, streams),
            (Capability::MaxFailures, self.run_has(Placeholder::MaxFailures)),
            (Capability::Coverage, self.coverage.is_some()),
            (Capability::Names, !self.id.begins_with_file()),
        ];
        rows.into_iter()
            .filter(|(_, able)| *able)
            .map(|(capability, _)| capability)
            .collect()
    }
}

pub(crate) fn has(items: &[Arg], wanted: Placeholder) -> bool {
    placeholders(items).any(|placeholder| placeholder == wanted)
}

/// Whether a command has a place for what is selected.
pub(crate) fn narrows(items: &[Arg]) -> bool {
    placeholders(items).any(Placeholder::narrows)
}

fn placeholders(items: &[Arg]) -> impl Iterator<Item = Placeholder> + '_ {
    let words = items.iter().flat_map(Arg::words);
    words.flat_map(Template::placeholders)
}
