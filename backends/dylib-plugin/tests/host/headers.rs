//! What is refused by looking at the file, before anything of it runs.

use std::path::{Path, PathBuf};

use dylib_plugin::{check, look};

use crate::support::{Kind, compiled, lines, refusal};

/// A file of these bytes.
fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The code, and whether the message names the file and has these words; there is always a hint.
fn assert_refused(path: &Path, code: &str, words: &[&str]) {
    let error = refusal(path);
    let text = error.to_string();
    assert_eq!(error.fault.code(), code, "{text}");
    assert!(text.starts_with(&*path.to_string_lossy()), "{text}");
    for word in words {
        assert!(text.contains(word), "`{word}` is missing: {text}");
    }
    assert!(!error.fault.hint().is_empty());
}

#[test]
fn what_is_not_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    assert_refused(
        &folder.path().join("none.so"),
        "library_missing",
        &["no such file"],
    );
    assert_refused(folder.path(), "library_not_a_file", &["a folder"]);
    let fifo = folder.path().join("fifo");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    assert_refused(&fifo, "library_not_a_file", &["a pipe"]);
}

#[test]
fn what_is_not_a_library_is_told_from_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, bytes: &[u8]| file(folder.path(), name, bytes);
    assert_refused(&at("empty", b""), "library_empty", &[]);
    let script = at("script", "#!/bin/sh\necho \u{e4}\n".as_bytes());
    assert_refused(&script, "library_text", &[r"#!/bin/sh\necho"]);
    // A character is cut where the look at it ends.
    let long = at("long", "\u{20ac}".repeat(3000).as_bytes());
    assert_refused(&long, "library_text", &[]);
    let random: Vec<u8> = (0..4000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    assert_refused(&at("random", &random), "library_unknown_format", &["00 "]);
    assert_refused(
        &at("archive.a", b"!<arch>\nlibrary.o/"),
        "library_wrong_kind",
        &["a static library"],
    );
}

#[test]
fn a_library_that_is_cut_anywhere_is_refused() {
    let bytes = std::fs::read(lines(&[])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Cut in the first word, the header, the segments' table, the segments, the sections' table.
    let lengths = [
        4,
        17,
        40,
        63,
        64,
        100,
        400,
        1000,
        bytes.len() / 2,
        bytes.len() - 1000,
        bytes.len() - 1,
    ];
    for length in lengths {
        let path = file(folder.path(), &format!("cut-{length}"), &bytes[..length]);
        let has = format!("it has {length} bytes");
        assert_refused(&path, "library_truncated", &[&has]);
    }
}

#[test]
fn damaged_headers_are_refused_and_never_end_the_host() {
    let bytes = std::fs::read(lines(&[])).unwrap();
    for at in (0..64).chain((64..bytes.len()).step_by(11)) {
        for value in [0, 0x7f, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            // Refused or not, it comes back. (What passes is loaded in a process of its own.)
            let _ = check(Path::new("damaged"), &damaged);
        }
    }
}

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn another_machine_width_or_system_is_named_with_what_is_wanted() {
    let bytes = std::fs::read(lines(&[])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let own = std::env::consts::ARCH;
    let (number, name) = if own == "aarch64" {
        (62_u16, "x86_64")
    } else {
        (183, "aarch64")
    };

    let mut other = bytes.clone();
    other[18..20].copy_from_slice(&number.to_ne_bytes());
    let path = file(folder.path(), "other-cpu", &other);
    assert_refused(
        &path,
        "library_other_cpu",
        &[&format!("built for {name}; this qaas is {own}")],
    );

    let mut unknown = bytes.clone();
    unknown[18..20].copy_from_slice(&999_u16.to_ne_bytes());
    let path = file(folder.path(), "unknown-cpu", &unknown);
    assert_refused(&path, "library_other_cpu", &["machine 999"]);

    let mut small = bytes;
    small[4] = 1;
    let path = file(folder.path(), "narrow", &small);
    assert_refused(&path, "library_other_width", &["32 bits", "64"]);

    // The first bytes of a macOS library for x86_64, and of a Windows program.
    let mach = [
        0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1, 3, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];
    let path = file(folder.path(), "it.dylib", &mach);
    assert_refused(&path, "library_other_system", &["macOS"]);
    let mut windows = vec![0; 512];
    windows[..2].copy_from_slice(b"MZ");
    windows[0x3c] = 0x80;
    windows[0x80..0x84].copy_from_slice(b"PE\0\0");
    windows[0x84..0x86].copy_from_slice(&0x8664_u16.to_le_bytes());
    windows[0x98..0x9a].copy_from_slice(&0x20b_u16.to_le_bytes());
    let path = file(folder.path(), "it.dll", &windows);
    assert_refused(&path, "library_other_system", &["Windows"]);
}

#[test]
fn a_program_and_an_object_file_are_no_libraries() {
    let program = compiled("program", Kind::Program, &[]);
    assert_refused(&program, "library_wrong_kind", &["a program"]);
    // With everything exported, a program looks even more like a library.
    let exporting = compiled("program", Kind::Program, &["-rdynamic"]);
    assert_refused(&exporting, "library_wrong_kind", &["a program"]);
    let object = compiled("lines", Kind::Object, &[]);
    assert_refused(&object, "library_wrong_kind", &["an object file"]);
}

#[test]
fn a_library_that_is_no_backend_or_one_of_another_version_is_told_apart() {
    let none = lines(&["-DENTRY=something_else"]);
    assert_refused(&none, "library_no_entry", &["qaas_backend_entry_v1"]);
    // There, but for the library itself only.
    let map = concat!(
        "-Wl,--version-script=",
        env!("CARGO_MANIFEST_DIR"),
        "/tests/plugins/nothing_exported.map"
    );
    let hidden = lines(&[map]);
    assert_refused(&hidden, "library_no_entry", &[]);
    let newer = lines(&["-DENTRY=qaas_backend_entry_v2"]);
    assert_refused(&newer, "library_other_major", &["version 2", "knows version 1"]);
}

#[test]
fn looking_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let define = format!("-DCONSTRUCTOR=\"{}\"", mark.display());
    let library = compiled_here(folder.path(), &define);
    look(&library).unwrap();
    assert!(!mark.exists(), "the constructor ran");
    crate::support::load(&library).unwrap();
    assert!(mark.exists(), "the constructor was there to run");
}

/// Its path is in it, so it is not kept for the next time.
fn compiled_here(folder: &Path, define: &str) -> PathBuf {
    let built = lines(&[define]);
    let path = folder.join("constructor.so");
    std::fs::rename(built, &path).unwrap();
    path
}
