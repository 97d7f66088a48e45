//! The bearer token: made here, kept in a file that only its owner can read, compared in constant time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use subtle::ConstantTimeEq;

use super::HttpError;

/// No token is longer; a larger file is not a token.
const MAX_TOKEN_BYTES: u64 = 4096;

/// The secret that a client must show.
#[derive(Clone)]
pub(super) struct Token(String);

impl Token {
    /// A new one: 256 random bits.
    fn random() -> io::Result<Self> {
        let mut bytes = [0u8; 32];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        Ok(Self(
            digits
                .filter_map(|digit| char::from_digit(digit.into(), 16))
                .collect(),
        ))
    }

    /// Makes a new token and puts it into `path`, in place of what an earlier server left there.
    pub(super) fn renew(path: &Path) -> Result<Self, HttpError> {
        let make = || {
            if let Some(folder) = path.parent() {
                make_private_folder(folder)?;
            }
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let token = Self::random()?;
            token.write_new(path)?;
            Ok(token)
        };
        make().map_err(|source| HttpError::token(path, source))
    }

    /// The token that a person keeps in `path`; made there if the file does not exist.
    pub(super) fn from_file(path: &Path) -> Result<Self, HttpError> {
        let read = || match File::open(path) {
            Ok(file) => Self::parse(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let token = Self::random()?;
                token.write_new(path)?;
                Ok(token)
            }
            Err(error) => Err(error),
        };
        read().map_err(|source| HttpError::token(path, source))
    }

    fn parse(file: File) -> io::Result<Self> {
        let mut text = String::new();
        file.take(MAX_TOKEN_BYTES + 1).read_to_string(&mut text)?;
        let word = text.trim();
        let plain = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain || text.len() as u64 > MAX_TOKEN_BYTES {
            let why = "it must hold one word of printable ASCII characters";
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(Self(word.to_owned()))
    }

    /// Never follows a link and never takes over a file that is there.
    fn write_new(&self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        writeln!(options.open(path)?, "{}", self.0)
    }

    /// Whether an `Authorization` header shows this token. Takes as long for a wrong one as for the right one.
    pub(super) fn is_shown_by(&self, header: Option<&[u8]>) -> bool {
        let Some((scheme, shown)) = header.and_then(|header| header.split_at_checked(7)) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"bearer ") && bool::from(shown.trim_ascii().ct_eq(self.0.as_bytes()))
    }
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A token file that goes with its server.
#[derive(Debug)]
pub(super) struct TokenFile(pub(super) PathBuf);

impl Drop for TokenFile {
    fn drop(&mut self) {
        // A file that is gone already, or that cannot be removed, holds a token that nobody accepts any more.
        let _ = fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shows(token: &Token, header: &str) -> bool {
        token.is_shown_by(Some(header.as_bytes()))
    }

    #[test]
    fn only_the_exact_token_is_accepted() {
        let token = Token("abc123".to_owned());
        assert!(shows(&token, "Bearer abc123"));
        assert!(shows(&token, "bearer abc123"));
        for wrong in [
            "Bearer abc12",
            "Bearer abc1234",
            "Bearer ",
            "abc123",
            "Basic abc123",
            "",
        ] {
            assert!(!shows(&token, wrong), "{wrong:?}");
        }
        assert!(!token.is_shown_by(None));
    }

    #[test]
    fn a_new_token_takes_the_place_of_the_old_one_and_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/http.token");
        let first = Token::renew(&path).unwrap();
        let second = Token::renew(&path).unwrap();
        assert_ne!(first.0, second.0);
        assert_eq!(second.0.len(), 64);
        assert_eq!(fs::read_to_string(&path).unwrap().trim(), second.0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_named_file_is_read_if_it_is_there_and_made_if_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let made = Token::from_file(&path).unwrap();
        assert_eq!(Token::from_file(&path).unwrap().0, made.0);
        fs::write(&path, " my-token\n").unwrap();
        assert_eq!(Token::from_file(&path).unwrap().0, "my-token");
    }

    #[test]
    fn a_file_without_one_plain_word_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        for bad in ["", "\n", "two words", "é", &"x".repeat(5000)] {
            fs::write(&path, bad).unwrap();
            assert!(Token::from_file(&path).is_err(), "{bad:?}");
        }
    }
}
