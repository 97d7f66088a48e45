//! What a library hands out: looked at, copied, given back.

use runner_core::wire::excerpt;
use serde_json::value::RawValue;

use crate::abi::{Buffer, MAX_OUTPUT, Table};

/// An output that cannot be what it says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Bad {
    #[error("no bytes, but a length of {0}")]
    Null(usize),
    #[error("{len} bytes in a buffer of {capacity}")]
    Overfull { len: usize, capacity: usize },
    #[error("{0} bytes; the most is {MAX_OUTPUT}")]
    TooLong(usize),
    #[error("bytes that are not UTF-8, from byte {at} on: `{start}`")]
    NotUtf8 { at: usize, start: String },
    #[error("something that is not JSON ({why}): `{start}`")]
    NotJson { why: String, start: String },
}

pub(super) type Taken = Result<Vec<u8>, Bad>;

/// Copies an output, and gives it back exactly once, whatever it is.
#[expect(unsafe_code, reason = "reads what the library points to")]
pub(super) fn take(table: &Table, mut output: Buffer) -> Taken {
    let Buffer { data, len, capacity } = output;
    if data.is_null() {
        // There is nothing to give back.
        return if len == 0 {
            Ok(Vec::new())
        } else {
            Err(Bad::Null(len))
        };
    }
    let taken = if len > capacity {
        Err(Bad::Overfull { len, capacity })
    } else if len > MAX_OUTPUT {
        Err(Bad::TooLong(len))
    } else {
        // SAFETY: the library says that so many bytes are there, and it did not get them back yet.
        Ok(unsafe { std::slice::from_raw_parts(data, len) }.to_vec())
    };
    let free = table.free.expect("a table without it is refused");
    // SAFETY: the buffer is the library's own, untouched, and this is the only place that gives it back.
    unsafe { free(&raw mut output) };
    taken
}

/// The output as one JSON text without line breaks. No output is `null`.
pub(super) fn json(bytes: Vec<u8>) -> Result<String, Bad> {
    if bytes.is_empty() {
        return Ok("null".to_owned());
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let start = excerpt(error.as_bytes());
        Bad::NotUtf8 { at, start }
    })?;
    if let Err(error) = serde_json::from_str::<&RawValue>(&text) {
        let (why, start) = (error.to_string(), excerpt(text.as_bytes()));
        return Err(Bad::NotJson { why, start });
    }
    // In JSON a line break is white space: inside of strings there is none.
    Ok(if text.contains(['\n', '\r']) {
        text.replace(['\n', '\r'], " ")
    } else {
        text
    })
}
