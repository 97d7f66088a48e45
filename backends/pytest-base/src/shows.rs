//! Which of pytest's own words ask for what it prints itself.

use runner_core::backend::Shows;

/// Words after which pytest prints something while its tests run: prints of the tests, logs, its own list of tests.
const ITSELF: [&str; 11] = [
    "-s",
    "--capture",
    "--setup-show",
    "--log-cli-level",
    "--verbose",
    "--pdb",
    "--pdbcls",
    "--trace",
    "--trace-config",
    "--debug",
    "--full-trace",
];

/// Words after which it runs no tests.
const INSTEAD: [&str; 14] = [
    "-h",
    "--help",
    "-V",
    "--version",
    "--fixtures",
    "--funcargs",
    "--fixtures-per-test",
    "--markers",
    "--collect-only",
    "--collectonly",
    "--co",
    "--cache-show",
    "--setup-plan",
    "--setup-only",
];

/// What the words want to see.
pub fn shows(words: &[String]) -> Shows {
    let known = |list: &[&str], word: &str| list.contains(&word.split('=').next().unwrap_or(word));
    let live_log = |pair: &[String]| {
        pair.first().is_some_and(|word| word == "-o")
            && pair.get(1).is_some_and(|key| key.starts_with("log_cli"))
    };
    let letters = |word: &String| {
        let counted = word
            .strip_prefix('-')
            .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c == 'v'));
        counted || word.starts_with("-olog_cli")
    };
    if words.iter().any(|word| known(&INSTEAD, word)) {
        Shows::Instead
    } else if words.iter().any(|word| known(&ITSELF, word) || letters(word)) || words.windows(2).any(live_log)
    {
        Shows::Itself
    } else {
        Shows::Results
    }
}

/// Whether they want to talk to whoever sits at the terminal.
pub fn wants_terminal(words: &[String]) -> bool {
    let talks = |word: &String| {
        ["-s", "--pdb", "--trace", "--capture=no"].contains(&&**word) || word.starts_with("--pdbcls")
    };
    words.iter().any(talks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_print_are_told_from_those_that_only_choose() {
        let shown = |words: &str| shows(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        for words in [
            "-s",
            "--setup-show",
            "-o log_cli=true",
            "-vv",
            "-x --capture=no",
            "--log-cli-level=INFO",
            "--pdb",
        ] {
            assert_eq!(shown(words), Shows::Itself, "{words}");
        }
        for words in [
            "--fixtures",
            "--markers -v",
            "--help",
            "--co -q",
            "--cache-show=*",
        ] {
            assert_eq!(shown(words), Shows::Instead, "{words}");
        }
        for words in [
            "",
            "-x",
            "--durations=3",
            "-rA",
            "-o cache_dir=x",
            "-p no:randomly",
            "--cov=shop",
        ] {
            assert_eq!(shown(words), Shows::Results, "{words}");
        }
    }
}
