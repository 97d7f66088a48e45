//! The backend's side: answers a host's calls from a [`TestBackend`].

mod stdio;

#[cfg(test)]
mod tests;

use std::io::{self, BufRead, Read, Write};
use std::process::ExitCode;

use runner_core::backend::{BackendError, TestBackend};
use runner_core::wire::{self, Answer, CallError, Maker, Method, Session, codes};

/// The whole of a backend program: answers on standard input and output until the host is gone.
///
/// What the backend prints goes to standard error, so it cannot come between the answers. Started by a person and not
/// by a host, it says what it is and ends with 2.
pub fn serve(backend: impl TestBackend + 'static) -> ExitCode {
    serve_with(Box::new(|_| Ok(Box::new(backend))))
}

/// As [`serve`], for a backend that needs to know its `config` or the root before it is made.
pub fn serve_with(make: Maker) -> ExitCode {
    serve_answers(&mut Session::new(make))
}

/// As [`serve`], for whatever else answers calls.
pub fn serve_answers(answers: &mut dyn Answer) -> ExitCode {
    if !stdio::has_cookie() {
        stdio::say_what_this_is();
        return ExitCode::from(2);
    }
    let served = stdio::private()
        .and_then(|(input, output)| serve_on(answers, io::BufReader::with_capacity(64 << 10, input), output));
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
pub fn serve_on(answers: &mut dyn Answer, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    while next_line(&mut input, &mut line)? {
        if let Some(answer) = answer(answers, &line) {
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
fn answer(answers: &mut dyn Answer, line: &[u8]) -> Option<String> {
    let Ok(line) = std::str::from_utf8(line) else {
        let message = format!("not UTF-8: {}", wire::excerpt(line));
        return Some(refuse(None, &failed(codes::PARSE, message)));
    };
    let call = match wire::parse_call(line) {
        Ok(call) => call,
        Err(error) => return Some(refuse(None, &failed(codes::PARSE, error.to_string()))),
    };
    let id = call.id?;
    let Some(method) = Method::parse(&call.method) else {
        let message = format!("there is no method `{}`", call.method);
        return Some(refuse(Some(id), &failed(codes::NO_SUCH_METHOD, message)));
    };
    Some(match answers.answer(method, call.params) {
        Ok(result) if result.len() <= wire::MAX_RESULT => wire::reply_text(id, &result),
        Ok(result) => {
            let what = format!("the answer to `{}`", call.method);
            let bytes = result.len();
            let error = wire::WireError::TooLong { what, bytes };
            refuse(
                Some(id),
                &BackendError::new("bad_answer", error.to_string()).into(),
            )
        }
        Err(error) => refuse(Some(id), &error),
    })
}

fn failed(code: i64, message: String) -> CallError {
    let data = None;
    CallError { code, message, data }
}

/// An error as an answer. One that is itself too long becomes the news of that.
fn refuse(id: Option<u64>, error: &CallError) -> String {
    wire::reply(id, Err::<&(), _>(error)).unwrap_or_else(|error| {
        let error = BackendError::new("bad_answer", error.to_string());
        wire::reply(id, Err::<&(), _>(&error.into())).expect("a short error fits into a line")
    })
}
