//! The backend's side: answers a host's calls from a [`TestBackend`].

mod reader;
mod session;
mod stdio;

#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Read, Write};
use std::process::ExitCode;

use runner_core::backend::{BackendError, TestBackend};
use runner_core::wire::{self, CallError, InitializeParams, codes};

use self::session::Session;

/// Makes the backend once the host has said who it is and what stands in the table's `config`.
pub type Maker = Box<dyn FnOnce(&InitializeParams) -> Result<Box<dyn TestBackend>, BackendError>>;

/// The whole of a backend program: answers on standard input and output until the host is gone.
///
/// What the backend prints goes to standard error, so it cannot come between the answers. Started by a person and not
/// by a host, it says what it is and ends with 2.
pub fn serve(backend: impl TestBackend + 'static) -> ExitCode {
    serve_with(Box::new(|_| Ok(Box::new(backend))))
}

/// As [`serve`], for a backend that needs to know its `config` or the root before it is made.
pub fn serve_with(make: Maker) -> ExitCode {
    if !stdio::has_cookie() {
        stdio::say_what_this_is();
        return ExitCode::from(2);
    }
    let served = stdio::private()
        .and_then(|(input, output)| serve_on(make, io::BufReader::with_capacity(64 << 10, input), output));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        // The host is gone, or sent what no host sends. Nobody is left to tell but standard error's reader.
        Err(error) => {
            let _ = writeln!(io::stderr(), "the host's messages could not be read: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The loop itself, over any two streams. Ends well when the input ends.
pub fn serve_on(make: Maker, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut session = Session::new(make);
    let mut line = Vec::new();
    while next_line(&mut input, &mut line)? {
        if let Some(answer) = answer(&mut session, &line) {
            output.write_all(answer.as_bytes())?;
            output.write_all(b"\n")?;
            output.flush()?;
        }
    }
    Ok(())
}

/// Reads a line without its line feed. `false` at the end of input; a last line without its feed was cut and is nothing.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let most = wire::MAX_LINE as u64 + 1;
    input.by_ref().take(most).read_until(b'\n', line)?;
    if line.pop() == Some(b'\n') {
        return Ok(true);
    }
    if line.len() < wire::MAX_LINE {
        return Ok(false);
    }
    let error = format!("a line of more than {} bytes", wire::MAX_LINE);
    Err(io::Error::new(io::ErrorKind::InvalidData, error))
}

/// `None` for a notification.
fn answer(session: &mut Session, line: &[u8]) -> Option<String> {
    let unreadable = |message: String| {
        let error = CallError {
            code: codes::PARSE,
            message,
            data: None,
        };
        Some(write(None, Err::<&(), _>(&error)))
    };
    let Ok(line) = std::str::from_utf8(line) else {
        return unreadable(format!("not UTF-8: {}", wire::excerpt(line)));
    };
    let call = match wire::parse_call(line) {
        Ok(call) => call,
        Err(error) => return unreadable(error.to_string()),
    };
    let id = call.id?;
    Some(session.answer(id, &call.method, call.params))
}

/// An answer that is known to fit, or at least the news that it did not.
fn write(id: Option<u64>, result: Result<&impl serde::Serialize, &CallError>) -> String {
    wire::reply(id, result).unwrap_or_else(|error| {
        let error = BackendError::new("bad_answer", error.to_string());
        wire::reply(id, Err::<&(), _>(&error.into())).expect("a short error fits into a line")
    })
}
