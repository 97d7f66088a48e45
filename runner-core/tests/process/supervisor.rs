//! What the tests start as the supervising process: under `cargo test` the running program is the test harness.

fn main() {
    std::process::exit(runner_core::process::supervise_main());
}
