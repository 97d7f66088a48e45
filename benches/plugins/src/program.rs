//! As a program.

mod backend;

fn main() -> std::process::ExitCode {
    exec_plugin::serve_with(Box::new(backend::make))
}
