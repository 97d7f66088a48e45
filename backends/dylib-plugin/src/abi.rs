//! The table that a library gives, version 1. `qaas_backend.h` says the same in C, with the rules of ownership.

use std::ffi::c_void;

/// `qaas`, as its bytes lie in memory on a little-endian machine.
pub const MAGIC: u32 = 0x7361_6171;
/// A new major version has a new entry symbol.
pub const MAJOR: u16 = 1;
/// A new minor version has more functions at the table's end.
pub const MINOR: u16 = 0;

/// The one function that a library exports.
pub const ENTRY: &str = "qaas_backend_entry_v1";
/// What the entries of all versions begin with; their major version follows.
pub const ENTRY_PREFIX: &str = "qaas_backend_entry_v";

/// The longest output that is taken, in bytes.
pub const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// The operation did what it should; the output is its result.
pub const OK: i32 = 0;
/// The output is a [`runner_core::backend::BackendError`].
pub const ERROR: i32 = 1;
/// The backend came to grief and does not trust its own state. Output as for an error.
pub const PANICKED: i32 = 2;
/// There is no such operation.
pub const UNSUPPORTED: i32 = 3;

/// The first 16 bytes of the table, in every version there will ever be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Head {
    pub magic: u32,
    pub major: u16,
    pub minor: u16,
    /// Of the whole table, in bytes.
    pub size: u32,
    /// 0. Bits that a host does not know are ignored.
    pub flags: u32,
}

/// Bytes that the library made. The host sets it to zero before a call, and hands it to [`Table::free`] afterwards if
/// `data` is not null. Null with no length means JSON's `null`.
#[derive(Debug)]
#[repr(C)]
pub struct Buffer {
    pub data: *mut u8,
    pub len: usize,
    pub capacity: usize,
}

impl Buffer {
    pub const EMPTY: Self = Self {
        data: std::ptr::null_mut(),
        len: 0,
        capacity: 0,
    };
}

/// Parameters in, result and an instance out.
pub type Create = unsafe extern "C" fn(*const u8, usize, *mut Buffer, *mut *mut c_void) -> i32;
/// The instance, parameters in, result out.
pub type Operation = unsafe extern "C" fn(*mut c_void, *const u8, usize, *mut Buffer) -> i32;

/// What [`ENTRY`] gives: version 1.0. Functions are optional because nothing keeps a library from leaving one null.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Table {
    pub head: Head,
    /// The message `initialize`.
    pub create: Option<Create>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub free: Option<unsafe extern "C" fn(*mut Buffer)>,
    pub plan: Option<Operation>,
    /// Null for a backend that does not measure coverage.
    pub wrap: Option<Operation>,
    pub open: Option<Operation>,
    pub read: Option<Operation>,
    /// Null for a backend whose plans leave no files.
    pub artifact: Option<Operation>,
    pub finish: Option<Operation>,
    /// Null for a backend whose events go into one answer each.
    pub more: Option<Operation>,
    pub close: Option<Operation>,
}

/// The type of [`ENTRY`].
pub type Entry = unsafe extern "C" fn() -> *const Table;

/// The size of version 1.0's table, in bytes: the least there may be. It stays when the table grows.
pub const LEAST_SIZE: usize = size_of::<Head>() + 11 * size_of::<usize>();

const _: () = assert!(size_of::<Head>() == 16, "the head is 16 bytes for ever");
const _: () = assert!(size_of::<Table>() == LEAST_SIZE, "the table is version 1.0's");
