//! The command line as it is typed. Parsing only; what the words mean is in [`crate::commands`].

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use ops::Scope;

/// A test runner for people and for AI agents: facts, and a status that cannot lie.
#[derive(Debug, Parser)]
#[command(
    name = "qaas",
    version,
    max_term_width = 110,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The repository. Default: the nearest folder upward with qaas.toml, else the git top, else this folder
    #[arg(long, global = true, value_name = "DIR", hide = true)]
    pub(crate) root: Option<PathBuf>,
    /// Use this file instead of the root's qaas.toml
    #[arg(long, global = true, value_name = "FILE", hide = true)]
    pub(crate) config: Option<PathBuf>,
    /// How to print: for people, one JSON value, or one JSON line per event
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "FORMAT",
        hide = true
    )]
    pub(crate) format: Format,
    /// The Python that runs the tests, instead of the suite's
    #[arg(long, global = true, value_name = "PATH", hide = true)]
    pub(crate) python: Option<PathBuf>,
    /// The backend, instead of the suite's
    #[arg(long, global = true, value_name = "NAME", hide = true)]
    pub(crate) backend: Option<String>,
    /// When to use colours (`NO_COLOR` is respected)
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t,
        value_name = "WHEN",
        hide = true
    )]
    pub(crate) color: Color,
    /// Use what this qaas.toml wants to run, without `qaas trust` (for continuous integration)
    #[arg(long, global = true, hide = true)]
    pub(crate) trust: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Human,
    Json,
    Jsonl,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run tests: everything, or what the selectors name
    Run(Run),
    /// Run one test many times and say how flaky it is
    Repeat(Repeat),
    /// Which tests does a change reach? Runs nothing
    Affected(Affected),
    /// Is it mine? What the change broke against the base, and what it did to the tests
    Compare(Compare),
    /// Run tests and measure what they cover
    Coverage(Coverage),
    /// List tests without running them
    List(List),
    /// Show a stored run
    Show(Show),
    /// List the stored runs of this repository, newest first
    Runs(Runs),
    /// Check qaas.toml and plan every suite without running anything
    Check,
    /// Write a first qaas.toml, and tell clients about qaas. Overwrites nothing
    Init(Init),
    /// Look at everything a run needs, and say what to mend. Executes nothing of the repository
    Doctor(Doctor),
    /// The backends there are
    #[command(subcommand)]
    Backend(Backend),
    /// Serve the tools to agents (Model Context Protocol, on standard input and output)
    Mcp(Mcp),
    /// Call a tool exactly as an agent would; prints one JSON value
    Call(Call),
    /// Agree to what this repository's qaas.toml wants to run beyond its tests
    Trust(Trust),
    /// Print the JSON schema of qaas.toml
    Schema,
    /// Print the version
    Version,
    #[command(external_subcommand)]
    External(Vec<OsString>),
}

/// Where a run is done, and for how long.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Which suite of qaas.toml
    #[arg(long, value_name = "NAME", help_heading = "Where, and for how long")]
    suite: Option<String>,
    /// Run in this folder of the repository
    #[arg(long, value_name = "DIR", help_heading = "Where, and for how long")]
    cwd: Option<String>,
    /// Time limit of each run (`90s`, `5m`)
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Where, and for how long")]
    timeout: Option<Duration>,
}

impl Place {
    pub(crate) fn scope(self) -> Scope {
        let Self { suite, cwd, timeout } = self;
        Scope { suite, cwd, timeout }
    }
}

/// What narrows a run.
#[derive(Debug, Args)]
pub(crate) struct Narrow {
    /// Files, folders, node ids, or a keyword expression
    #[arg(value_name = "SELECTOR")]
    pub(crate) selectors: Vec<String>,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) narrow: Narrow,
    /// Only what failed and has not been green since; or, with `--failed=RUN`, what failed in that run
    #[arg(long, aliases = ["lf", "last-failed"], value_name = "RUN", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "last")]
    pub(crate) failed: Option<String>,
    /// Only tests that match this keyword expression
    #[arg(short = 'k', value_name = "EXPRESSION")]
    pub(crate) keyword: Option<String>,
    /// Only tests that match this marker expression
    #[arg(short = 'm', value_name = "EXPRESSION")]
    pub(crate) markers: Option<String>,
    /// Stop at the first failure
    #[arg(short = 'x', conflicts_with = "maxfail")]
    pub(crate) exit_first: bool,
    /// Stop after this many failures
    #[arg(long, value_name = "N")]
    pub(crate) maxfail: Option<u32>,
    /// Parallel workers (pytest-xdist: a number or `auto`)
    #[arg(short = 'n', value_name = "WORKERS")]
    pub(crate) workers: Option<String>,
    /// Show every test, not only those that fail; twice: with the framework's longest failure texts
    #[arg(short = 'v', long, action = ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,
    /// Show no failure texts, only the list of failures and the summary
    #[arg(short = 'q', long)]
    pub(crate) quiet: bool,
    /// Show what tests print as they print it, and let them talk to the terminal
    #[arg(short = 's', help_heading = "Of pytest")]
    pub(crate) no_capture: bool,
    /// Enter the debugger where a test fails
    #[arg(long, help_heading = "Of pytest")]
    pub(crate) pdb: bool,
    /// Name the slowest phases of tests
    #[arg(long, value_name = "N", help_heading = "Of pytest")]
    pub(crate) durations: Option<u32>,
    /// Begin with the test that failed last, and stop at the next failure
    #[arg(long, alias = "sw", help_heading = "Of pytest")]
    pub(crate) stepwise: bool,
    /// Write a JUnit XML report
    #[arg(long, value_name = "PATH")]
    pub(crate) junit: Option<PathBuf>,
    /// Words for the framework itself
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Repeat {
    /// The test's node id
    #[arg(value_name = "NODEID")]
    pub(crate) test_id: String,
    /// How many times
    #[arg(short = 'n', value_name = "N", default_value_t = 10)]
    pub(crate) n: u32,
    /// Start each run's process only when it is its turn
    #[arg(long)]
    pub(crate) no_warm: bool,
    #[command(flatten)]
    pub(crate) place: Place,
}

#[derive(Debug, Args)]
pub(crate) struct Affected {
    /// Changed files, from where you stand, each with its changed lines or not (`a.py:3-9`). Default: what git says has
    /// changed: staged, unstaged and untracked
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<String>,
    /// What has changed since HEAD left this commit, branch or tag
    #[arg(long, value_name = "REF")]
    pub(crate) base: Option<String>,
    /// The folder that the paths begin in, instead of where you stand; only tests below it are named
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<String>,
    /// Say how sure it is and why, where the output is no terminal too
    #[arg(long)]
    pub(crate) why: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// The commit, branch or tag to compare with (default: where the work left the default branch)
    #[arg(long, value_name = "REF")]
    pub(crate) base: Option<String>,
    #[command(flatten)]
    pub(crate) narrow: Narrow,
}

#[derive(Debug, Args)]
pub(crate) struct Coverage {
    #[command(flatten)]
    pub(crate) narrow: Narrow,
    /// Measure only these source paths (may be given more than once)
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) paths: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) narrow: Narrow,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The run's id, or `last`
    #[arg(value_name = "RUN", default_value = "last")]
    pub(crate) run: String,
    /// Only this test, with its output
    #[arg(long, value_name = "NODEID")]
    pub(crate) test: Option<String>,
    /// Only rows with this outcome
    #[arg(long, value_name = "OUTCOME")]
    pub(crate) outcome: Option<String>,
    /// What the run printed
    #[arg(long, conflicts_with_all = ["test", "outcome"])]
    pub(crate) output: bool,
    /// Of what the run printed: only lines with this in them
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["test", "outcome"])]
    pub(crate) search: Option<String>,
    /// Of what the run printed: only so many last lines
    #[arg(long, value_name = "N", conflicts_with_all = ["test", "outcome"])]
    pub(crate) tail: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// So many at the most
    #[arg(short = 'n', value_name = "N", default_value_t = 20)]
    pub(crate) most: usize,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Tell this client about qaas: add an entry to its file in the repository, or print it (may be given more than once)
    #[arg(long = "client", value_enum, value_name = "NAME")]
    pub(crate) clients: Vec<Client>,
    /// Write nothing; print what would be written
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The programs that agents live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    #[value(alias = "claude")]
    ClaudeCode,
    #[value(aliases = ["vs-code", "copilot"])]
    Vscode,
    Cursor,
    Codex,
    #[value(alias = "gemini-cli")]
    Gemini,
    Zed,
    Windsurf,
    #[value(alias = "claude-agent-sdk")]
    AgentSdk,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// The same as `--format json`
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Backend {
    /// List the backends: what each can do, where it comes from, why one cannot be used. Starts nothing
    List,
    /// Install a backend's program or library: start it once, show what it is, and keep a copy
    Add(BackendAdd),
    /// Forget an installed backend
    Remove {
        /// Its name
        name: String,
    },
    /// Drive a backend through the conformance kit, and say what it does not hold
    Check(BackendCheck),
}

#[derive(Debug, Args)]
pub(crate) struct BackendCheck {
    /// A backend's name; or the path of a program, a library, or a folder whose qaas.toml describes one
    #[arg(value_name = "NAME|PATH")]
    pub(crate) backend: String,
    /// A sample project (a folder with qaas-conformance.toml) whose tests are really run. Default: PATH itself, if it is one
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
    /// Also name each case that is skipped, with its reason
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BackendAdd {
    /// The program or shared library. Typing its path is consent to start it
    pub(crate) path: PathBuf,
    /// The name for `backend = "NAME"`. Default: the file's, without `qaas-backend-` and extension
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Serve Streamable HTTP on this loopback address instead of standard input and output
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<std::net::SocketAddr>,
    /// The bearer token's file: read if it exists, else made. Default: a new token at each start, in the state folder
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) http_token_file: Option<PathBuf>,
    /// Serve on an address that is not loopback
    #[arg(long, requires = "http")]
    pub(crate) http_any_address: bool,
    /// Keep no process waiting for the next run
    #[arg(long)]
    pub(crate) no_warm: bool,
    /// Start no plug-in, whatever is asked (`qaas doctor`)
    #[arg(long, hide = true)]
    pub(crate) no_exec: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The tool's name
    pub(crate) tool: String,
    /// Its arguments, one JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) args: String,
}

#[derive(Debug, Args)]
pub(crate) struct Trust {
    /// Agree without being asked (the answer is yes to exactly what is shown)
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Only show what would run
    #[arg(long, conflicts_with_all = ["revoke", "list", "yes"])]
    pub(crate) show: bool,
    /// Take the agreement back
    #[arg(long, conflicts_with_all = ["list", "yes"])]
    pub(crate) revoke: bool,
    /// List the repositories that were agreed to
    #[arg(long, conflicts_with = "yes")]
    pub(crate) list: bool,
}

/// Reads a duration as people write it: `90` and `90s` are seconds, `5m`, `1h30m`, `500ms`.
fn duration(text: &str) -> Result<Duration, String> {
    use engine::config::{duration, duration_meant};
    let seconds = || text.parse().ok().map(Duration::from_secs);
    let limit = duration(text).or_else(seconds).filter(|limit| !limit.is_zero());
    let nothing = text
        .trim()
        .trim_end_matches(char::is_alphabetic)
        .trim_matches(['0', '.'])
        .is_empty();
    limit.ok_or_else(|| match duration_meant(text) {
        _ if nothing => {
            "a limit of nothing would end every run at once; leave it out for no limit".to_owned()
        }
        Some(meant) => format!("not a time limit; did you mean `{meant}`?"),
        None => "not a time limit; write `90s`, `5m` or `1h30m`".to_owned(),
    })
}
