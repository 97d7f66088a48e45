use super::*;
use runner_core::backend::{BackendInfo, Capability, Need, OptionKind, OptionSpec};

fn info(name: &str, language: &str, capability: Capability, options: &[(&str, OptionKind)]) -> BackendInfo {
    let spec = |(name, kind): &(&str, OptionKind)| OptionSpec {
        name: (*name).to_owned(),
        kind: *kind,
        about: "what it does".to_owned(),
    };
    BackendInfo {
        name: name.to_owned(),
        framework: name.to_owned(),
        language: language.to_owned(),
        capabilities: [capability].into(),
        needs: if language == "python" {
            vec![Need::Python]
        } else {
            Vec::new()
        },
        options: options.iter().map(spec).collect(),
    }
}

fn infos() -> Vec<BackendInfo> {
    let options = [
        ("args", OptionKind::Strings),
        ("strict", OptionKind::Bool),
        ("level", OptionKind::Integer),
    ];
    vec![
        info("alpha", "python", Capability::Run, &options),
        info("beta", "ruby", Capability::Run, &[("gem", OptionKind::String)]),
        info(
            "measure",
            "python",
            Capability::Coverage,
            &[("data", OptionKind::String)],
        ),
    ]
}

#[test]
fn names_that_are_there_pass() {
    let settings = good(
        "[suite.a]\nbackend = [\"alpha\", \"own\"]\ncoverage = \"measure\"\n[suite.b]\n[backend.own]\nkind = \"command\"",
    );
    settings.check_backends(&infos(), &[]).unwrap();
}

#[test]
fn an_installed_backend_may_have_been_meant() {
    let settings = good("[suite.a]\nbackend = \"doctst\"");
    let error = settings
        .check_backends(&infos(), &["doctest".to_owned()])
        .unwrap_err();
    assert_eq!(error.hint.as_deref(), Some("did you mean `doctest`?"));
    let settings = good("[suite.a]\nbackend = \"zzz\"");
    let error = settings
        .check_backends(&infos(), &["doctest".to_owned()])
        .unwrap_err();
    assert!(error.hint.unwrap().contains("doctest"));
}

#[test]
fn a_backend_that_is_not_there_is_named_with_the_nearest() {
    let error = good("[suite.a]\nbackend = [\"beta\", \"alpah\"]")
        .check_backends(&infos(), &[])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "qaas.toml:2:20: suite.a.backend[1]: there is no backend `alpah`"
    );
    assert!(error.hint.unwrap().contains("`alpha`"));
    let error = good("[suite.a]\nbackend = \"zzzzzz\"")
        .check_backends(&infos(), &[])
        .unwrap_err();
    assert_eq!(
        (error.line, error.column, error.key.as_deref()),
        (Some(2), Some(11), Some("suite.a.backend"))
    );
    assert!(error.hint.unwrap().contains("alpha, beta"));
}

#[test]
fn a_backend_is_refused_for_what_it_cannot_do() {
    let error = good("[suite.a]\nbackend = \"measure\"")
        .check_backends(&infos(), &[])
        .unwrap_err();
    assert!(error.message.contains("does not run tests"), "{error}");
    let error = good("[suite.a]\ncoverage = \"alpha\"")
        .check_backends(&infos(), &[])
        .unwrap_err();
    assert!(error.message.contains("does not measure coverage"), "{error}");
    assert!(error.hint.unwrap().contains("measure"));
}

#[test]
fn options_are_those_of_the_suites_backends() {
    let check = |text: &str| good(text).check_options(&infos(), &[]);
    check("[suite.a]\nbackend = \"alpha\"\noptions = { args = [\"-x\"], strict = true, level = 3, python = \"p\", data = \"d\" }").unwrap();
    check("[suite.a]\nbackend = [\"beta\", \"alpha\"]\noptions = { args = [], gem = \"g\" }").unwrap();
    check("[suite.a]\noptions = { args = [], gem = \"g\" }").unwrap();
    let error = check("[suite.a]\nbackend = \"beta\"\noptions = { gme = \"g\" }").unwrap_err();
    assert_eq!(
        error.to_string(),
        "qaas.toml:3:19: suite.a.options.gme: the backends of this suite have no option `gme`"
    );
    assert!(error.hint.unwrap().contains("`gem`"));
    check("[suite.a]\nbackend = \"beta\"\noptions = { python = \"p\" }").unwrap_err();
    check("[suite.a]\nbackend = \"alpha\"\ncoverage = false\noptions = { data = \"d\" }").unwrap_err();
}

#[test]
fn an_option_of_the_wrong_kind_is_named() {
    let cases = [
        ("args = \"-x\"", "a list of strings, not a string"),
        (
            "args = [1]",
            "a list of strings, not a list that holds other things",
        ),
        ("strict = \"yes\"", "true or false, not a string"),
        ("level = 1.5", "a whole number, not a number with a fraction"),
        ("level = true", "a whole number, not true or false"),
        ("python = [\"p\"]", "a string, not a list"),
        ("python = {}", "a string, not a table"),
    ];
    for (option, message) in cases {
        let text = format!("[suite.a]\nbackend = \"alpha\"\noptions = {{ {option} }}");
        let error = good(&text).check_options(&infos(), &[]).unwrap_err();
        assert!(error.message.contains(message), "{option}: {error}");
        assert_eq!(error.line, Some(3));
    }
}

#[test]
fn tools_must_be_tools() {
    let settings = good("[mcp]\ntools = [\"run_suite\", \"run_singel\"]");
    settings.check_tools(&["run_suite", "run_singel"]).unwrap();
    let error = settings.check_tools(&["run_suite", "run_single"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "qaas.toml:2:23: mcp.tools[1]: there is no tool `run_singel`"
    );
    assert!(error.hint.unwrap().contains("`run_single`"));
}
