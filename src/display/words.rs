//! What answers say to programs, in a person's words.

/// Names of tools and of their arguments, and what a person types instead.
const WORDS: [(&str, &str); 14] = [
    ("`list_tests` (`qaas list`)", "`qaas list`"),
    ("`get_coverage` (`qaas coverage`)", "`qaas coverage`"),
    ("`run_suite`", "`qaas run`"),
    ("`run_single`", "`qaas run`"),
    ("`run_n_times`", "`qaas repeat`"),
    ("`affected_tests`", "`qaas affected`"),
    ("`get_coverage`", "`qaas coverage`"),
    ("`list_tests`", "`qaas list`"),
    ("`get_run`", "`qaas show`"),
    ("`cwd`", "`--cwd`"),
    ("`suite`", "`--suite`"),
    ("`timeout_s`", "`--timeout`"),
    ("`max_failures`", "`--maxfail`"),
    ("`run_id`", "run's id"),
];

/// The same sentence for somebody who types commands.
pub(crate) fn for_people(text: &str) -> String {
    let replaced = |text: String, (tool, typed): &(&str, &str)| text.replace(tool, typed);
    WORDS.iter().fold(text.to_owned(), replaced)
}

#[cfg(test)]
mod tests {
    use super::for_people;

    #[test]
    fn a_person_is_told_commands_and_options_and_not_tools_and_arguments() {
        for (said, told) in [
            (
                "list what exists with `list_tests` (`qaas list`)",
                "list what exists with `qaas list`",
            ),
            ("Give `suite`, one of: a, b.", "Give `--suite`, one of: a, b."),
            ("suite `api` is as it was", "suite `api` is as it was"),
        ] {
            assert_eq!(for_people(said), told);
        }
    }
}
