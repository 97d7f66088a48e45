//! What a tool is, said once: its schema, the reader of its arguments, the offer, the list of `qaas call` and the
//! tables of the documents are made from it.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::answer::ToolAnswer;
use super::{Answer, OpError, Tool, Workspace};
use engine::policy::{LEAST_ANSWER_BYTES, MOST_ANSWER_BYTES};
use engine::run::{EventSink, RunSpec};
use process::Cancel;
use runner_core::backend::Capability;
use runner_core::report::Report;

/// The definition of a tool. Each tool's file has its own.
#[derive(Debug)]
pub struct Definition {
    pub tool: Tool,
    pub title: &'static str,
    /// For an agent that chooses between the tools. All definitions together stay near 1 kB each.
    pub description: &'static str,
    pub hints: Hints,
    pub needs: Needs,
    /// Those of this tool alone. See [`Definition::arguments`].
    pub(crate) own: &'static [Argument],
    pub(crate) action: Action,
}

/// What a client may assume about a tool's effects, in the words of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hints {
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub open_world: bool,
}

impl Hints {
    /// Executes the repository's code, be it only to list or to measure tests, and that may write files: so not read-only.
    pub(crate) const RUNS: Self = Self {
        read_only: false,
        destructive: false,
        idempotent: true,
        open_world: false,
    };
    pub(crate) const READS: Self = Self {
        read_only: true,
        ..Self::RUNS
    };
}

/// What must be there for a tool to be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    Nothing,
    /// A backend of the suites with this capability.
    Backend(Capability),
    /// A suite whose coverage can be measured.
    Coverage,
}

/// What calling a tool does.
pub(crate) enum Action {
    /// Runs tests. May go on in the background.
    Run {
        /// One for each suite that the call is about.
        specs: SpecsFn,
        call: CallFn,
        answer: AnswerFn,
    },
    /// Starts something of the repository, and is waited for: it is more, or less, than one run that could go on alone.
    Foreground { call: CallFn, answer: AnswerFn },
    /// Starts nothing of the repository.
    Read { call: CallFn },
}

/// From arguments to what the engine is to do.
pub(crate) type SpecsFn =
    for<'a> fn(&'a Workspace, &'a Map<String, Value>) -> Pending<'a, Result<Vec<RunSpec>, OpError>>;
/// Does what the tool does, and answers.
pub(crate) type CallFn = for<'a> fn(Call<'a>) -> Pending<'a, Result<Called, OpError>>;
/// The answer that the whole record of a run of this tool comes to.
pub(crate) type AnswerFn = fn(&Workspace, &Report) -> Result<Answer, OpError>;
/// A future on the heap: an engine's is large, and every tool's contains one.
pub(crate) type Pending<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One call of a tool.
pub(crate) struct Call<'a> {
    pub(crate) workspace: &'a Workspace,
    /// As the client sent them.
    pub(crate) arguments: &'a Map<String, Value>,
    pub(crate) cancel: Cancel,
    pub(crate) sink: EventSink<'a>,
}

/// What a call came to.
#[derive(Debug)]
pub(crate) enum Called {
    Answer(Answer),
    /// A whole run, to be answered as the tool that ran it answers.
    WholeRun(Arc<Report>),
}

impl Called {
    pub(crate) fn answer(answer: impl ToolAnswer) -> Self {
        Self::Answer(Box::new(answer))
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Run { .. } => "Run",
            Self::Foreground { .. } => "Foreground",
            Self::Read { .. } => "Read",
        })
    }
}

impl Definition {
    /// All that a call may have, in the order in which it is shown: the tool's own arguments, `background` where it
    /// runs tests, and the size of the answer, which the faces read.
    pub fn arguments(&self) -> impl Iterator<Item = &'static Argument> + Clone + use<> {
        let background = matches!(self.action, Action::Run { .. }).then_some(&BACKGROUND);
        self.own.iter().chain(background).chain([&MAX_BYTES])
    }

    /// The argument of that name.
    pub fn argument(&self, name: &str) -> Option<&'static Argument> {
        self.arguments().find(|argument| argument.name == name)
    }

    /// Whether a call may start something of the repository: its tests, their framework, a plug-in.
    pub fn starts_something(&self) -> bool {
        !matches!(self.action, Action::Read { .. })
    }
}

/// One argument of a tool.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub name: &'static str,
    pub kind: Kind,
    pub required: bool,
    /// What holds where it is not given.
    pub default: Option<DefaultValue>,
    /// A few words: every client is sent them at every start.
    pub doc: &'static str,
}

/// What an argument is. A number may come as a string; clients differ.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    String,
    Strings,
    Flag,
    /// A whole number, bounds included.
    Count {
        least: u32,
        most: u32,
    },
    /// A number of seconds, bounds included. The cap of a time limit depends on the suite.
    Seconds {
        least: f64,
        most: f64,
    },
    /// The size of an answer in bytes.
    Bytes,
    /// One of these words.
    Choice(fn() -> Vec<&'static str>),
    /// The name of a suite. Shown only where there is a choice.
    Suite,
}

/// The default of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultValue {
    Word(&'static str),
    Number(u64),
}

impl fmt::Display for DefaultValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => formatter.write_str(word),
            Self::Number(number) => write!(formatter, "{number}"),
        }
    }
}

impl Kind {
    /// The least and the greatest number. `None` for what is no number, and on a side without a bound.
    pub fn bounds(self) -> (Option<f64>, Option<f64>) {
        let finite = |bound: f64| Some(bound).filter(|bound| bound.is_finite());
        match self {
            Self::Count { least, most } => (
                Some(least.into()),
                Some(most).filter(|most| *most < u32::MAX).map(f64::from),
            ),
            Self::Seconds { least, most } => (finite(least), finite(most)),
            Self::Bytes => (Some(LEAST_ANSWER_BYTES as f64), Some(MOST_ANSWER_BYTES as f64)),
            _ => (None, None),
        }
    }
}

impl Argument {
    pub(crate) const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self {
            name,
            kind,
            required: false,
            default: None,
            doc,
        }
    }

    pub(crate) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(crate) const fn default(mut self, default: DefaultValue) -> Self {
        self.default = Some(default);
        self
    }
}

/// Understood by the dispatch of every tool that runs tests.
pub(crate) const BACKGROUND: Argument = Argument::new("background", Kind::Flag, "Answer at once");
/// Understood by the faces; its default is theirs.
const MAX_BYTES: Argument = Argument::new("max_bytes", Kind::Bytes, "Bytes");

/// What several tools take.
pub(crate) mod shared {
    use super::{Argument, DefaultValue, Kind};
    use engine::policy::AGENT_TIMEOUT;

    pub(crate) const SELECTOR: Argument = Argument::new("selector", Kind::String, "Path, nodeid or keywords");
    pub(crate) const SELECTORS: Argument =
        Argument::new("selectors", Kind::Strings, "Any of; keywords narrow paths");
    pub(crate) const TEST_ID: Argument =
        Argument::new("test_id", Kind::String, "Like tests/test_a.py::test_x").required();
    pub(crate) const RUN_ID: Argument =
        Argument::new("run_id", Kind::String, "From an earlier answer").required();
    pub(crate) const CWD: Argument = Argument::new("cwd", Kind::String, "Folder to work in");
    pub(crate) const SUITE: Argument = Argument::new("suite", Kind::Suite, "Default: all");
    pub(crate) const TIMEOUT: Argument = Argument::new(
        "timeout_s",
        Kind::Seconds {
            least: 1.0,
            most: f64::INFINITY,
        },
        "Seconds",
    )
    .default(DefaultValue::Number(AGENT_TIMEOUT.as_secs()));
}
