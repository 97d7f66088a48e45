//! The supervising process of the tests: under `cargo test` the running program is the test harness.

fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(u8::try_from(process::supervise_main()).unwrap_or(1))
}
