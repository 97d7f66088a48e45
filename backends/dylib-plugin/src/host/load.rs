//! From a copy to a table of functions that can be called.

use std::path::Path;

use crate::abi::{self, Entry, Head, Table};

use super::error::{Fault, LibraryError};
use super::file::{read, sha256};

/// Loads a file that is still what was looked at. From here on the library's code runs, in this process.
pub(super) fn load(path: &Path, wanted: &str) -> Result<Table, LibraryError> {
    let bytes = read(path).map_err(|fault| fault.at(path))?;
    let found = sha256(&bytes);
    if found != wanted {
        let wanted = wanted.to_owned();
        return Err(Fault::Changed { found, wanted }.at(path));
    }
    drop(bytes);
    let entry = entry(path).map_err(|error| Fault::Load(chain(&error)).at(path))?;
    table(entry).map_err(|fault| fault.at(path))
}

#[expect(unsafe_code, reason = "loading a library")]
fn entry(path: &Path) -> Result<Entry, libloading::Error> {
    // SAFETY: what the library's constructors do cannot be known. A person agreed to its content, and the process was
    // made for it.
    let library = unsafe { open(path)? };
    let mut name = abi::ENTRY.as_bytes().to_vec();
    name.push(0);
    // SAFETY: a library that exports this name says that it is such a function (`qaas_backend.h`).
    let entry = unsafe { *library.get::<Entry>(&name[..])? };
    // Never unloaded: thread-locals, exit handlers and the table itself would be gone while something may use them.
    std::mem::forget(library);
    Ok(entry)
}

/// All that it needs is looked up now: a missing name is an error here, not a crash in the middle of a run.
#[cfg(unix)]
#[expect(unsafe_code, reason = "loading a library")]
unsafe fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
    // SAFETY: the caller's.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL)? };
    Ok(library.into())
}

#[cfg(not(unix))]
#[expect(unsafe_code, reason = "loading a library")]
unsafe fn open(path: &Path) -> Result<libloading::Library, libloading::Error> {
    // SAFETY: the caller's.
    unsafe { libloading::Library::new(path) }
}

/// An error with all its sources: libloading itself says only "dlopen failed".
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// Asks for the table. Nothing beyond its head is read until the head is right.
#[expect(unsafe_code, reason = "calls the entry and reads what it points to")]
fn table(entry: Entry) -> Result<Table, Fault> {
    // SAFETY: the function's type is a promise of its name.
    let start = unsafe { entry() };
    if start.is_null() {
        return Err(Fault::NullTable);
    }
    // SAFETY: an entry that gives a pointer gives one to a head (16 bytes) at least. Its alignment is not trusted.
    let head = unsafe { start.cast::<Head>().read_unaligned() };
    check(&head)?;
    // SAFETY: the head says that the table has at least version 1.0's size.
    let table = unsafe { start.read_unaligned() };
    complete(&table)?;
    Ok(table)
}

fn check(head: &Head) -> Result<(), Fault> {
    if head.magic != abi::MAGIC {
        return Err(Fault::WrongMagic { found: head.magic });
    }
    if head.major != abi::MAJOR {
        let Head { major, minor, .. } = *head;
        return Err(Fault::TableMajor { major, minor });
    }
    if (head.size as usize) < abi::LEAST_SIZE {
        return Err(Fault::ShortTable { size: head.size });
    }
    Ok(())
}

/// Whether what cannot be missing is there.
fn complete(table: &Table) -> Result<(), Fault> {
    let needed = [
        ("create", table.create.is_some()),
        ("destroy", table.destroy.is_some()),
        ("free", table.free.is_some()),
        ("plan", table.plan.is_some()),
        ("open", table.open.is_some()),
        ("read", table.read.is_some()),
        ("finish", table.finish.is_some()),
        ("close", table.close.is_some()),
    ];
    match needed.iter().find(|(_, there)| !there) {
        Some((name, _)) => Err(Fault::MissingFunction(name)),
        None => Ok(()),
    }
}
