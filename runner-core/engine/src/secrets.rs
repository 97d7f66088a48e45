//! Names that programs give to secrets: what is redacted, never passed on unasked, and part of what has to be agreed to.

use std::sync::LazyLock;

use regex::Regex;

/// Whether a variable of this name holds a secret, by the names that programs give to secrets.
pub fn is_secret_name(name: &str) -> bool {
    static NAMES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?ix) (^|_) (TOKENS? | API_?KEY | KEY | SECRETS? | PASS | PWD | PASSWD | PASSPHRASE | AUTH | PAT
                | CREDENTIALS? | CREDS | COOKIE) $
            | PASSWORD | SECRET | CREDENTIAL | ACCESS_KEY | PRIVATE_KEY | (^|_)TOKEN_(VALUE|STRING)$ ",
        )
        .expect("a constant pattern compiles")
    });
    static PLACES: LazyLock<Regex> = LazyLock::new(|| {
        // These name where a secret is, not the secret. PWD is the shell's working folder.
        Regex::new(r"(?i)(_(FILE|PATH|DIR|URL|URI|NAME|SOCK|HELPER)|^(OLD)?PWD)$")
            .expect("a constant pattern compiles")
    });
    NAMES.is_match(name) && !PLACES.is_match(name)
}

#[cfg(test)]
mod tests {
    use super::is_secret_name;

    #[test]
    fn names_of_secrets_are_known_and_names_of_places_are_not() {
        for name in [
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "ANTHROPIC_API_KEY",
            "DATABASE_PASSWORD",
            "NPM_CONFIG__AUTH",
            "api_key",
            "GOOGLE_CREDENTIALS",
            "PGPASSWORD",
            "MY_SECRET_VALUE",
            "TWINE_PASSWORD",
            "APIKEY",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "GOOGLE_CREDENTIALS_FILE",
            "KEYBOARD",
            "MONKEY",
            "AUTHOR",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
