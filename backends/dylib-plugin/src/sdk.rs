//! What [`export!`](crate::export) and [`export_with!`](crate::export_with) make a library of: the table's functions
//! around a [`TestBackend`]. No panic leaves them.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use runner_core::backend::{BackendError, TestBackend};
use runner_core::wire::{Answer, CallError, InitializeParams, Method, Session, codes};

use crate::abi::{self, Buffer, Head, Table};

/// A backend, or why there is none.
pub type Made = Result<Box<dyn TestBackend>, BackendError>;

/// How a library makes its backend. Implemented by the macros.
pub trait Make: 'static {
    fn make(params: &InitializeParams) -> Made;
}

/// What the host holds as an instance.
struct Instance {
    session: Session,
    /// The backend itself panicked, not only a reader: nothing new is begun with it.
    panicked: bool,
}

/// The table of a library whose backend `M` makes.
pub const fn table<M: Make>() -> Table {
    Table {
        head: Head {
            magic: abi::MAGIC,
            major: abi::MAJOR,
            minor: abi::MINOR,
            size: size_of::<Table>() as u32,
            flags: 0,
        },
        create: Some(create::<M>),
        destroy: Some(destroy),
        free: Some(free),
        plan: Some(plan),
        wrap: Some(wrap),
        open: Some(open),
        read: Some(read),
        artifact: Some(artifact),
        finish: Some(finish),
        more: Some(more),
        close: Some(close),
    }
}

#[expect(unsafe_code, reason = "called by the host, by the rules of qaas_backend.h")]
unsafe extern "C" fn create<M: Make>(
    input: *const u8,
    len: usize,
    output: *mut Buffer,
    instance: *mut *mut c_void,
) -> i32 {
    let session = Session::new(Box::new(M::make));
    let mut made = Instance {
        session,
        panicked: false,
    };
    // SAFETY: the host's input is valid during the call.
    let params = unsafe { text(input, len) };
    let status = reply(made.answer(Method::Initialize, params), output);
    if status == abi::OK {
        // SAFETY: the host gives a place for it.
        unsafe { instance.write(Box::into_raw(Box::new(made)).cast()) };
    }
    status
}

#[expect(unsafe_code, reason = "called by the host, by the rules of qaas_backend.h")]
unsafe extern "C" fn destroy(instance: *mut c_void) {
    // SAFETY: made by `create`, and the host does not use it any more.
    let made = unsafe { Box::from_raw(instance.cast::<Instance>()) };
    // There is nobody to tell.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(made)));
}

#[expect(unsafe_code, reason = "called by the host, by the rules of qaas_backend.h")]
unsafe extern "C" fn free(buffer: *mut Buffer) {
    // SAFETY: the host hands back what `reply` wrote, once.
    let Buffer { data, len, capacity } = unsafe { buffer.replace(Buffer::EMPTY) };
    if !data.is_null() {
        // SAFETY: as above.
        drop(unsafe { Vec::from_raw_parts(data, len, capacity) });
    }
}

macro_rules! operations {
    ($($name:ident: $method:ident),*) => {$(
        #[expect(unsafe_code, reason = "called by the host, by the rules of qaas_backend.h")]
        unsafe extern "C" fn $name(instance: *mut c_void, input: *const u8, len: usize, output: *mut Buffer) -> i32 {
            // SAFETY: made by `create`; one call at a time; the input is valid during the call.
            let (instance, params) = unsafe { (&mut *instance.cast::<Instance>(), text(input, len)) };
            reply(instance.answer(Method::$method, params), output)
        }
    )*};
}

operations!(plan: Plan, wrap: Wrap, open: Open, read: Read, artifact: Artifact, finish: Finish, more: More, close: Close);

impl Instance {
    fn answer(&mut self, method: Method, params: Result<&str, BackendError>) -> Result<String, CallError> {
        let new_work = matches!(method, Method::Plan | Method::Wrap | Method::Open);
        if self.panicked && new_work {
            let error = BackendError::new("panicked", "the backend panicked earlier");
            return Err(CallError {
                code: codes::PANICKED,
                ..error.into()
            });
        }
        let result = self.session.answer(method, params?);
        self.panicked |= new_work && matches!(&result, Err(error) if error.code == codes::PANICKED);
        result
    }
}

/// The host's input, which it promises to be UTF-8.
#[expect(unsafe_code, reason = "reads what the host points to")]
unsafe fn text<'a>(input: *const u8, len: usize) -> Result<&'a str, BackendError> {
    if input.is_null() {
        return Ok("");
    }
    // SAFETY: the caller's.
    let bytes = unsafe { std::slice::from_raw_parts(input, len) };
    std::str::from_utf8(bytes).map_err(|error| BackendError::new("bad_call", error.to_string()))
}

/// Hands out an answer, and says what it is.
#[expect(unsafe_code, reason = "writes where the host points to")]
fn reply(answer: Result<String, CallError>, output: *mut Buffer) -> i32 {
    let (status, text) = match answer {
        Ok(text) => (abi::OK, text),
        Err(error) => {
            let panicked = error.code == codes::PANICKED;
            let error = BackendError::from(error);
            let text = serde_json::to_string(&error).expect("three texts are JSON");
            (if panicked { abi::PANICKED } else { abi::ERROR }, text)
        }
    };
    let mut bytes = ManuallyDrop::new(text.into_bytes());
    let (data, len, capacity) = (bytes.as_mut_ptr(), bytes.len(), bytes.capacity());
    // SAFETY: the host gives a place for it, which holds nothing yet.
    unsafe { output.write(Buffer { data, len, capacity }) };
    status
}

/// Makes the library a backend: exports the entry that qaas looks for.
///
/// ```
/// # use dylib_plugin::runner_core::backend::*;
/// # use dylib_plugin::runner_core::{facts::Project, plan::Plan};
/// # struct MyBackend;
/// # impl TestBackend for MyBackend {
/// #     fn info(&self) -> BackendInfo { unreachable!("only shown") }
/// #     fn plan(&self, _: &RunRequest, _: &Project) -> Result<Plan, BackendError> { unreachable!("only shown") }
/// #     fn reader(&self, _: &RunRequest) -> Box<dyn OutputReader> { unreachable!("only shown") }
/// # }
/// dylib_plugin::export!(MyBackend);
/// # fn main() {}
/// ```
///
/// Written once, at the top of a crate of `crate-type = ["cdylib"]`. A panic of the backend becomes an error of the call in
/// which it happened; for that the library has to be built with `panic = "unwind"`, which is Cargo's default.
#[macro_export]
macro_rules! export {
    ($backend:expr) => {
        $crate::export_with!(|_| Ok(Box::new($backend)));
    };
}

/// As [`export!`], for a backend that needs to know its `config` or the root before it is made: takes a function from
/// [`InitializeParams`](runner_core::wire::InitializeParams) to a boxed backend or an error.
#[macro_export]
macro_rules! export_with {
    ($make:expr) => {
        const _: () = {
            struct Library;

            impl $crate::sdk::Make for Library {
                fn make(params: &$crate::runner_core::wire::InitializeParams) -> $crate::sdk::Made {
                    let make: fn(&$crate::runner_core::wire::InitializeParams) -> $crate::sdk::Made = $make;
                    make(params)
                }
            }

            #[unsafe(no_mangle)]
            pub extern "C" fn qaas_backend_entry_v1() -> *const $crate::abi::Table {
                static TABLE: $crate::abi::Table = $crate::sdk::table::<Library>();
                &raw const TABLE
            }
        };
    };
}
