//! What the tests start: the supervising process (under `cargo test` the running program is the test harness), and
//! `serve ARGV…`, a small server with one run, for what must not happen to the test harness itself, and `protocol`, a
//! server that keeps its standard streams to itself. `cost ROUNDS` is a benchmark: what supervision adds to a program.
#![expect(clippy::print_stdout, reason = "how it answers the test that started it")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

use process::{Cancel, Job, Limits, Supervisor, guard_memory, private_stdio, supervise_main};

fn main() -> std::process::ExitCode {
    let args: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    if args.first().is_some_and(|arg| arg == "serve") {
        serve(&args[1..]);
        return std::process::ExitCode::SUCCESS;
    }
    if args.first().is_some_and(|arg| arg == "protocol") {
        protocol().expect("the standard streams are open");
        return std::process::ExitCode::SUCCESS;
    }
    if args.first().is_some_and(|arg| arg == "cost") {
        let rounds = args.get(1).and_then(|arg| arg.to_str()?.parse().ok());
        cost(rounds.unwrap_or(200));
        return std::process::ExitCode::SUCCESS;
    }
    std::process::ExitCode::from(u8::try_from(supervise_main()).unwrap_or(1))
}

/// The supervising process is this program again.
fn supervisor() -> Supervisor {
    Supervisor {
        program: "/proc/self/exe".into(),
        args: vec!["__supervise".into()],
    }
}

fn job(argv: &[std::ffi::OsString]) -> Job {
    Job {
        name: "served".to_owned(),
        argv: argv.to_vec(),
        #[expect(
            clippy::disallowed_methods,
            reason = "a program of its own, which hands its environment on"
        )]
        env: std::env::vars_os().collect::<BTreeMap<_, _>>(),
        cwd: "/".into(),
        channel: false,
        stdout_file: None,
        deadline: None,
        grace: Duration::from_millis(300),
        interrupt: false,
        cancel_grace: Duration::from_millis(300),
        on_deadline: None,
        limits: Limits::default(),
        view: None,
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Starts a program that does nothing, with supervision and without, in turns; prints the medians.
#[expect(clippy::disallowed_methods, reason = "what supervision is compared with")]
fn cost(rounds: usize) {
    const PROGRAM: &str = "/bin/true";
    let runtime = runtime();
    let (mut supervised, mut alone, mut extra) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let began = Instant::now();
        let exited =
            runtime.block_on(supervisor().run(job(&[PROGRAM.into()]), &Cancel::new(), &mut |_, _| {}));
        let with = began.elapsed();
        assert_eq!(exited.expect("the program starts").exit.code, Some(0));
        let began = Instant::now();
        let ended = std::process::Command::new(PROGRAM).status();
        let without = began.elapsed();
        assert!(ended.is_ok_and(|status| status.success()));
        supervised.push(with);
        alone.push(without);
        extra.push(with.saturating_sub(without));
    }
    let tier = &supervisor().confinement(&Limits::default())["tier"];
    let ms = |mut all: Vec<Duration>| {
        all.sort_unstable();
        all[all.len() / 2].as_secs_f64() * 1000.0
    };
    println!(
        "{{\"rounds\": {rounds}, \"tier\": \"{tier}\", \"supervised_ms\": {:.2}, \"alone_ms\": {:.2}, \"extra_ms\": {:.2}}}",
        ms(supervised),
        ms(alone),
        ms(extra)
    );
}

/// Runs one job, and prints how it ended and by how many kilobytes this process grew meanwhile.
fn serve(argv: &[std::ffi::OsString]) {
    guard_memory();
    let runtime = runtime();
    let before = peak_kb();
    let mut bytes = 0;
    let mut sink = |_, lines: Vec<String>| bytes += lines.iter().map(String::len).sum::<usize>() as u64;
    let exited = runtime
        .block_on(supervisor().run(job(argv), &Cancel::new(), &mut sink))
        .expect("the program starts");
    println!("code {:?}", exited.exit.code);
    println!("bytes {}", bytes + exited.dropped_bytes);
    println!("grown_kb {}", peak_kb() - before);
}

/// Answers its input, while it and a child of it print what is none of the protocol.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of its own, which starts a noisy child"
)]
fn protocol() -> std::io::Result<()> {
    let (input, output) = private_stdio()?;
    for private in [&input, &output] {
        assert!(rustix::io::fcntl_getfd(private)?.contains(rustix::io::FdFlags::CLOEXEC));
    }
    println!("noise of the server");
    let script = "echo noise of a child; cat";
    let child = std::process::Command::new("/bin/sh")
        .args(["-c", script])
        .status()?;
    assert!(child.success());
    let mut question = String::new();
    File::from(input).read_to_string(&mut question)?;
    File::from(output).write_all(format!("answer to {question}").as_bytes())
}

/// The most memory that this process ever held.
fn peak_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok())
        .unwrap_or(0)
}
