//! A loaded library that answers the protocol's calls.

use std::ffi::c_void;
use std::path::Path;

use runner_core::backend::{BackendError, UNSUPPORTED};
use runner_core::wire::{Answer, CallError, ErrorData, Method, codes, excerpt};
use serde::Deserialize;

use super::error::LibraryError;
use super::{load, reply};
use crate::abi::{self, Buffer, Operation, Table};

/// A library whose code runs in this process. Whatever it does to the process, it does: see the crate's documentation.
pub struct Library {
    name: String,
    table: Table,
    instance: Option<Instance>,
    /// What the instance was made with, for making another one.
    initialize: String,
}

/// What `create` made.
struct Instance {
    pointer: *mut c_void,
    /// It said that it does not trust its own state.
    panicked: bool,
}

#[expect(unsafe_code, reason = "a pointer of the library's")]
// SAFETY: a library must cope with calls from different threads, one at a time (`qaas_backend.h`); `&mut` sees to that.
unsafe impl Send for Instance {}

impl Library {
    /// Loads a copy, if its content is still `sha256`. Its constructors run now. `name` is for messages.
    pub fn load(name: &str, copy: &Path, sha256: &str) -> Result<Self, LibraryError> {
        Ok(Self {
            name: name.to_owned(),
            table: load::load(copy, sha256)?,
            instance: None,
            initialize: String::new(),
        })
    }

    /// A function that the table leaves null.
    fn without(&self, method: Method) -> Result<String, CallError> {
        if method == Method::Artifact {
            // Its plans leave no files, so there is nothing to tell it.
            return Ok("null".to_owned());
        }
        let message = format!("backend `{}` cannot do `{}`", self.name, method.as_str());
        Err(BackendError::new(UNSUPPORTED, message).into())
    }

    fn create(&mut self, params: &str) -> Result<String, CallError> {
        let create = self.table.create.expect("a table without it is refused");
        let mut pointer = std::ptr::null_mut();
        let mut output = Buffer::EMPTY;
        #[expect(unsafe_code, reason = "calls the library")]
        // SAFETY: the input is valid during the call; output and instance point to values of this function.
        let status = unsafe { create(params.as_ptr(), params.len(), &raw mut output, &raw mut pointer) };
        let reply = reply::take(&self.table, output);
        let result = self.judge(Method::Initialize, status, reply)?;
        params.clone_into(&mut self.initialize);
        self.instance = Some(Instance {
            pointer,
            panicked: false,
        });
        Ok(result)
    }

    fn call(&self, operation: Operation, instance: *mut c_void, params: &str) -> (i32, reply::Taken) {
        let mut output = Buffer::EMPTY;
        #[expect(unsafe_code, reason = "calls the library")]
        // SAFETY: the instance is what `create` gave and was not destroyed; the input is valid during the call; the output
        // points to a value of this function.
        let status = unsafe { operation(instance, params.as_ptr(), params.len(), &raw mut output) };
        (status, reply::take(&self.table, output))
    }

    /// Makes a result of what came back.
    fn judge(&self, method: Method, status: i32, reply: reply::Taken) -> Result<String, CallError> {
        let method = method.as_str();
        let about = |what: String| format!("backend `{}` answered `{method}` with {what}", self.name);
        let bytes = reply.map_err(|fault| bad_reply(about(fault.to_string())))?;
        match status {
            abi::OK => reply::json(bytes).map_err(|fault| bad_reply(about(fault.to_string()))),
            abi::ERROR | abi::PANICKED => Err(self.refusal(method, status, &bytes)),
            abi::UNSUPPORTED => {
                let message = format!("backend `{}` cannot do `{method}`", self.name);
                Err(BackendError::new(UNSUPPORTED, message).into())
            }
            other => {
                let what = format!("the status {other}, which there is not (`{}`)", excerpt(&bytes));
                Err(bad_reply(about(what)))
            }
        }
    }

    /// An error that the library wrote.
    fn refusal(&self, method: &str, status: i32, bytes: &[u8]) -> CallError {
        let panicked = status == abi::PANICKED;
        let word = if panicked { "panicked" } else { "backend" };
        let error = serde_json::from_slice(bytes).unwrap_or_else(|_| Refusal {
            message: format!(
                "backend `{}` failed at `{method}` with `{}`",
                self.name,
                excerpt(bytes)
            ),
            code: None,
            hint: None,
        });
        CallError {
            code: if panicked { codes::PANICKED } else { codes::BACKEND },
            message: error.message,
            data: Some(ErrorData {
                code: Some(error.code.unwrap_or_else(|| word.to_owned())),
                hint: error.hint,
            }),
        }
    }
}

impl Answer for Library {
    fn answer(&mut self, method: Method, params: &str) -> Result<String, CallError> {
        let table = self.table;
        let operation = match method {
            Method::Initialize => return self.create(params),
            Method::Plan => table.plan,
            Method::Wrap => table.wrap,
            Method::Open => table.open,
            Method::Read => table.read,
            Method::Artifact => table.artifact,
            Method::Finish => table.finish,
            Method::Close => table.close,
            Method::More => table.more,
            Method::Shutdown => return Ok("null".to_owned()),
        };
        let Some(operation) = operation else {
            return self.without(method);
        };
        let new_work = matches!(method, Method::Plan | Method::Wrap | Method::Open);
        if new_work && self.instance.as_ref().is_some_and(|instance| instance.panicked) {
            // It is not destroyed: its own code does not trust it any more. Readers of it are lost.
            self.create(&self.initialize.clone())?;
        }
        let Some(instance) = &self.instance else {
            let message = format!("`{}` was called before `initialize`", method.as_str());
            return Err(BackendError::new("bad_call", message).into());
        };
        let (status, reply) = self.call(operation, instance.pointer, params);
        let result = self.judge(method, status, reply);
        if let (true, Err(error), Some(instance)) = (new_work, &result, &mut self.instance) {
            instance.panicked |= error.code == codes::PANICKED;
        }
        result
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if let (Some(instance), Some(destroy)) = (&self.instance, self.table.destroy)
            && !instance.panicked
        {
            #[expect(unsafe_code, reason = "calls the library")]
            // SAFETY: made by `create`, and nobody has it any more.
            unsafe {
                destroy(instance.pointer);
            }
        }
    }
}

fn bad_reply(message: String) -> CallError {
    let hint = "the backend's authors have to mend this; `qaas backend check` shows what it answers";
    BackendError::new("bad_reply", message).with_hint(hint).into()
}

/// A [`BackendError`] as a library of any version writes it.
#[derive(Deserialize)]
struct Refusal {
    message: String,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    hint: Option<String>,
}
