//! The commands: thin. Flags become arguments of `ops`, answers go to [`crate::display`].

mod affected;
mod backend;
mod call;
mod check;
mod compare;
mod conformance;
mod coverage;
mod doctor;
mod init;
mod list;
mod mcp;
mod output;
mod repeat;
mod run;
mod runs;
mod schema;
mod show;
mod signals;
mod trust;
mod workspace;

use std::future::Future;

use engine::environment::Environment;

use crate::cli::{Cli, Command, Global};
use crate::{external, world};
use ops::ExitCode;

/// What every command is given.
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) environment: Environment,
}

/// Carries out one command line.
pub(crate) fn dispatch(cli: Cli) -> ExitCode {
    let context = Context {
        global: cli.global,
        environment: world::environment(),
    };
    match cli.command {
        Command::Run(command) => block_on(run::run(&context, command)),
        Command::Repeat(command) => block_on(repeat::run(&context, command)),
        Command::Affected(command) => block_on(affected::run(&context, command)),
        Command::Compare(command) => block_on(compare::run(&context, command)),
        Command::Coverage(command) => block_on(coverage::run(&context, command)),
        Command::List(command) => block_on(list::run(&context, command)),
        Command::Show(command) => block_on(show::run(&context, command)),
        Command::Runs(command) => runs::run(&context, &command),
        Command::Check => check::run(&context),
        Command::Doctor(command) => block_on(doctor::run(&context, &command)),
        Command::Init(command) => init::run(&context, &command),
        Command::Backend(command) => block_on(backend::run(&context, &command)),
        Command::Mcp(command) => mcp::run(&context, command),
        Command::Call(command) => block_on(call::run(&context, command)),
        Command::Trust(command) => trust::run(&context, &command),
        Command::Schema => schema::run(),
        Command::Version => {
            output::print(concat!("qaas ", env!("CARGO_PKG_VERSION")));
            ExitCode::Passed
        }
        Command::External(words) => external_command(&context, &words),
    }
}

/// Runs one command's future. Two threads: one waits for the run, the other keeps light work going.
fn block_on(command: impl Future<Output = ExitCode>) -> ExitCode {
    match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime.block_on(command),
        Err(error) => {
            output::print_stderr(&format!("qaas: this system gives no threads: {error}"));
            ExitCode::NotJudged
        }
    }
}

/// Says that there is no such command, as whoever typed it would be told.
pub(crate) fn no_such_command(name: &str) {
    let environment = world::environment();
    let path = environment.get("PATH").map(std::ffi::OsStr::new);
    output::print_stderr(&external::unknown(name, path, None));
}

fn external_command(context: &Context, words: &[std::ffi::OsString]) -> ExitCode {
    let root = engine::project::find_root(context.global.root.as_deref(), &context.environment).ok();
    let path = context.environment.get("PATH").map(std::ffi::OsStr::new);
    output::print_stderr(&external::run(words, path, root.as_deref(), &world::own_path()));
    ExitCode::Usage
}
