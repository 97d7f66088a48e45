//! A look at a library's headers before it is loaded. Loading runs the library's code, and the loader trusts the
//! headers: one that speaks of more than the file has ends the process (SIGBUS). Nothing here executes anything.

use object::elf;
use object::read::NameOrOrdinal;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};
use object::{Endianness, FileKind, Object, ObjectKind, ObjectSegment};

use super::error::Fault;
use crate::abi;

/// How much of a text is shown, in bytes.
const SHOWN: usize = 32;
/// How much is looked at to tell a text from anything else, in bytes.
const LOOKED_AT: usize = 4096;

/// Machines by ELF's number, as Rust's targets call them.
const MACHINES: [(elf::Machine, &str); 8] = [
    (elf::EM_X86_64, "x86_64"),
    (elf::EM_AARCH64, "aarch64"),
    (elf::EM_386, "x86"),
    (elf::EM_ARM, "arm"),
    (elf::EM_RISCV, "riscv64"),
    (elf::EM_PPC64, "powerpc64"),
    (elf::EM_S390, "s390x"),
    (elf::EM_LOONGARCH, "loongarch64"),
];

/// Whether this system's libraries are Mach-O files; else they are ELF.
const MACH_O: bool = cfg!(target_vendor = "apple");

/// Whether these bytes are a library of this machine that exports a backend.
pub(super) fn check(bytes: &[u8]) -> Result<(), Fault> {
    match recognise(bytes)? {
        FileKind::Elf64 if !MACH_O && usize::BITS == 64 => elf::<elf::FileHeader64<Endianness>>(bytes)?,
        FileKind::Elf32 if !MACH_O && usize::BITS == 32 => elf::<elf::FileHeader32<Endianness>>(bytes)?,
        FileKind::MachO64 if MACH_O => mach_o(bytes)?,
        other => return Err(foreign(other)),
    }
    exports_entry(&parsed(bytes)?)
}

/// The format, told by the first bytes.
fn recognise(bytes: &[u8]) -> Result<FileKind, Fault> {
    if bytes.is_empty() {
        return Err(Fault::Empty);
    }
    if bytes.starts_with(b"!<arch>\n") || bytes.starts_with(b"!<thin>\n") {
        return Err(Fault::WrongKind("a static library"));
    }
    if let Ok(kind) = FileKind::parse(bytes) {
        return Ok(kind);
    }
    if bytes.starts_with(&elf::ELFMAG) {
        // Too short even for telling one kind from another, or of none that there is.
        let needs = size_of::<elf::FileHeader64<Endianness>>() as u64;
        let has = bytes.len() as u64;
        return Err(if has < needs {
            Fault::Truncated { has, needs }
        } else {
            Fault::Damaged("its first bytes contradict each other".to_owned())
        });
    }
    let head = &bytes[..bytes.len().min(SHOWN)];
    Err(if is_text(&bytes[..bytes.len().min(LOOKED_AT)]) {
        Fault::Text(head.escape_ascii().to_string())
    } else {
        Fault::UnknownFormat(hex(&head[..head.len().min(8)]))
    })
}

fn is_text(bytes: &[u8]) -> bool {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // A character may be cut at the end of what is looked at.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    let strange = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}');
    !text.is_empty() && !text.contains(strange)
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.join(" ")
}

/// Why a file of this format cannot be one of this system's libraries.
fn foreign(kind: FileKind) -> Fault {
    let (found, wanted) = match kind {
        FileKind::Elf32 if !MACH_O => {
            return Fault::OtherWidth {
                found: 32,
                wanted: usize::BITS,
            };
        }
        FileKind::Elf64 if !MACH_O => {
            return Fault::OtherWidth {
                found: 64,
                wanted: usize::BITS,
            };
        }
        FileKind::MachOFat32 | FileKind::MachOFat64 if MACH_O => {
            return Fault::WrongKind("a universal file of several libraries");
        }
        FileKind::Elf32 | FileKind::Elf64 => ("Linux or another ELF system", "macOS"),
        FileKind::MachO32 | FileKind::MachO64 | FileKind::MachOFat32 | FileKind::MachOFat64 if !MACH_O => {
            ("macOS", "an ELF system such as Linux")
        }
        FileKind::Pe32 | FileKind::Pe64 | FileKind::Coff | FileKind::CoffBig | FileKind::CoffImport => (
            "Windows",
            if MACH_O {
                "macOS"
            } else {
                "an ELF system such as Linux"
            },
        ),
        _ => return Fault::WrongKind("a file of another kind"),
    };
    Fault::OtherSystem { found, wanted }
}

fn damaged(error: object::read::Error) -> Fault {
    Fault::Damaged(error.to_string())
}

fn parsed(bytes: &[u8]) -> Result<object::File<'_>, Fault> {
    object::File::parse(bytes).map_err(damaged)
}

/// The machine, the extent and the kind of an ELF file.
fn elf<Header: FileHeader<Endian = Endianness>>(bytes: &[u8]) -> Result<(), Fault> {
    let has = bytes.len() as u64;
    if bytes.len() < size_of::<Header>() {
        let needs = size_of::<Header>() as u64;
        return Err(Fault::Truncated { has, needs });
    }
    let header = Header::parse(bytes).map_err(damaged)?;
    let endian = header.endian().map_err(damaged)?;
    // The machine first: cut or not, a library of another one is of no use.
    machine(header.e_machine(endian), header.is_little_endian())?;
    let needs = extent(header, endian, bytes)?;
    if needs > has {
        return Err(Fault::Truncated { has, needs });
    }
    match header.e_type(endian) {
        elf::ET_DYN if is_program(header, endian, bytes)? => Err(Fault::WrongKind("a program")),
        elf::ET_DYN => Ok(()),
        elf::ET_EXEC => Err(Fault::WrongKind("a program")),
        elf::ET_REL => Err(Fault::WrongKind("an object file")),
        elf::ET_CORE => Err(Fault::WrongKind("a core dump")),
        _ => Err(Fault::WrongKind("a file of another kind")),
    }
}

/// How many bytes the file must have for what its headers speak of.
fn extent<Header>(header: &Header, endian: Endianness, bytes: &[u8]) -> Result<u64, Fault>
where
    Header: FileHeader<Endian = Endianness>,
{
    let table = |offset: Header::Word, entries: u16, size: u16| {
        let offset: u64 = offset.into();
        offset.saturating_add(u64::from(entries) * u64::from(size))
    };
    let (count, size) = (header.e_phnum(endian), header.e_phentsize(endian));
    let segments_end = table(header.e_phoff(endian), count, size);
    let (count, size) = (header.e_shnum(endian), header.e_shentsize(endian));
    let mut needs = segments_end.max(table(header.e_shoff(endian), count, size));
    if segments_end > bytes.len() as u64 {
        return Ok(needs);
    }
    for segment in header.program_headers(endian, bytes).map_err(damaged)? {
        let (offset, size): (u64, u64) = (segment.p_offset(endian).into(), segment.p_filesz(endian).into());
        needs = needs.max(offset.saturating_add(size));
    }
    Ok(needs)
}

/// Position-independent programs have the same type as libraries, but for a flag.
fn is_program<Header>(header: &Header, endian: Endianness, bytes: &[u8]) -> Result<bool, Fault>
where
    Header: FileHeader<Endian = Endianness>,
{
    for segment in header.program_headers(endian, bytes).map_err(damaged)? {
        for entry in segment
            .dynamic(endian, bytes)
            .map_err(damaged)?
            .unwrap_or_default()
        {
            if entry.tag(endian) == elf::DT_FLAGS_1 {
                return Ok(entry.val(endian) & elf::DF_1_PIE.0 != 0);
            }
        }
    }
    Ok(false)
}

fn machine(found: elf::Machine, little: bool) -> Result<(), Fault> {
    let wanted = std::env::consts::ARCH;
    let known = MACHINES.iter().find(|(machine, _)| *machine == found);
    let name = known.map_or_else(
        || format!("ELF machine {}", found.0),
        |(_, name)| (*name).to_owned(),
    );
    // On a machine that is not in the list the loader has to tell.
    if !MACHINES.iter().any(|(_, name)| *name == wanted) {
        return Ok(());
    }
    if name != wanted {
        return Err(Fault::OtherCpu { found: name, wanted });
    }
    if little != cfg!(target_endian = "little") {
        let order = if little { "little" } else { "big" };
        let found = format!("{name} ({order}-endian)");
        return Err(Fault::OtherCpu { found, wanted });
    }
    Ok(())
}

/// The machine, the kind and the extent of a Mach-O file.
fn mach_o(bytes: &[u8]) -> Result<(), Fault> {
    let file = parsed(bytes)?;
    let found = format!("{:?}", file.architecture()).to_lowercase();
    let wanted = std::env::consts::ARCH;
    if found != wanted {
        return Err(Fault::OtherCpu { found, wanted });
    }
    let ends = file.segments().map(|segment| {
        let (offset, size) = segment.file_range();
        offset.saturating_add(size)
    });
    let (has, needs) = (bytes.len() as u64, ends.max().unwrap_or_default());
    if needs > has {
        return Err(Fault::Truncated { has, needs });
    }
    match file.kind() {
        ObjectKind::Executable => Err(Fault::WrongKind("a program")),
        ObjectKind::Relocatable => Err(Fault::WrongKind("an object file")),
        ObjectKind::Core => Err(Fault::WrongKind("a core dump")),
        _ => Ok(()),
    }
}

/// Whether the entry of our major version is among the exported names.
fn exports_entry(file: &object::File<'_>) -> Result<(), Fault> {
    let mut other = None;
    for export in file.exports().map_err(damaged)? {
        let export = export.map_err(damaged)?;
        let NameOrOrdinal::Name(name) = export.name() else {
            continue;
        };
        // Mach-O puts an underscore before C's names.
        let name = if MACH_O {
            name.strip_prefix(b"_").unwrap_or(name)
        } else {
            name
        };
        if name == abi::ENTRY.as_bytes() {
            return Ok(());
        }
        if let Some(major) = name.strip_prefix(abi::ENTRY_PREFIX.as_bytes()) {
            other = Some(String::from_utf8_lossy(major).into_owned());
        }
    }
    Err(match other {
        Some(found) => Fault::OtherMajor {
            found: found.chars().take(20).collect(),
        },
        None => Fault::NoEntry,
    })
}
