//! The table and its versions: old and new libraries against this host.

use dylib_plugin::abi;
use runner_core::wire::Method;
use serde_json::json;

use crate::support::{ask, begun, initialize, lines, load, params, refusal};

#[test]
fn a_backend_in_c_answers_every_call() {
    let mut library = load(&lines(&[])).unwrap();
    let begun = initialize(&mut library, &json!({})).unwrap();
    assert_eq!(begun["info"]["capabilities"], json!(["run", "stream"]));
    let plan = ask(&mut library, Method::Plan, &params(Method::Plan)).unwrap();
    assert_eq!(plan["steps"][0]["cwd"], "/w");
    for method in [Method::Open, Method::Artifact, Method::Close] {
        let answer = ask(&mut library, method, &params(method)).unwrap();
        assert!(answer.is_null(), "{method:?}: {answer}");
    }
    let rows = ask(&mut library, Method::Read, &params(Method::Read)).unwrap();
    assert_eq!(rows["events"][0]["nodeid"], "one");
    assert_eq!(rows["events"][1]["outcome"], "failed");
    let end = ask(&mut library, Method::Finish, &params(Method::Finish)).unwrap();
    assert_eq!(
        end["ending"],
        json!({"kind": "completed", "exit": "tests_failed"})
    );
    let error = ask(&mut library, Method::Wrap, &params(Method::Wrap)).unwrap_err();
    assert_eq!(error.message, "backend `it` cannot do `wrap`");
    assert_eq!(error.data.unwrap().code.unwrap(), "unsupported");
}

#[test]
fn a_table_that_is_none_is_refused() {
    let cases: [(&[&str], &str, &str); 8] = [
        (&["-DNO_TABLE"], "library_null_table", "gives no table"),
        (&["-DMAGIC=0x71616173"], "library_wrong_magic", "0x71616173"),
        (&["-DMAJOR=2", "-DMINOR=4"], "library_table_major", "version 2.4"),
        (&["-DMAJOR=0"], "library_table_major", "version 0.0"),
        (&["-DSIZE=16"], "library_short_table", "16 bytes"),
        (
            &["-DSIZE=sizeof(struct qaas_backend)-1"],
            "library_short_table",
            "where version 1.0 has",
        ),
        (&["-DSIZE=0"], "library_short_table", "0 bytes"),
        (&["-DNO_READ"], "library_missing_function", "no function `read`"),
    ];
    for (args, code, words) in cases {
        let error = refusal(&lines(args));
        assert_eq!(error.fault.code(), code, "{error}");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn a_newer_minor_version_with_a_longer_table_is_taken() {
    let cases: [&[&str]; 3] = [
        &["-DLONGER", "-DMINOR=3"],
        &["-DSIZE=4000000000", "-DMINOR=65535"],
        &["-DFLAGS=0xffffffff"],
    ];
    for args in cases {
        let mut library = begun(&lines(args), &json!({}));
        ask(&mut library, Method::Plan, &params(Method::Plan)).unwrap();
    }
}

#[test]
fn a_library_that_lacks_something_says_what_with_the_loaders_reason() {
    let error = refusal(&lines(&["-DLACKING"]));
    assert_eq!(error.fault.code(), "library_load");
    // The reason is not in libloading's own words but in its source's.
    assert!(error.to_string().contains("nowhere_to_be_found"), "{error}");
}

#[test]
fn the_header_file_and_the_rust_table_are_one() {
    let header = include_str!("../../qaas_backend.h");
    for text in [
        format!("QAAS_BACKEND_MAGIC {:#x}u", abi::MAGIC),
        format!("QAAS_BACKEND_MAJOR {}", abi::MAJOR),
        format!("QAAS_BACKEND_MINOR {}", abi::MINOR),
        format!("QAAS_OK = {}", abi::OK),
        format!("QAAS_ERROR = {}", abi::ERROR),
        format!("QAAS_PANICKED = {}", abi::PANICKED),
        format!("QAAS_UNSUPPORTED = {}", abi::UNSUPPORTED),
        format!("*{}(void);", abi::ENTRY),
        format!("at most {} MiB", abi::MAX_OUTPUT >> 20),
    ] {
        assert!(header.contains(&text), "the header does not say `{text}`");
    }
    // The functions, in order.
    let table = header.split("struct qaas_backend {").nth(1).unwrap();
    let names = [
        "head", "create", "destroy", "free", "plan", "wrap", "open", "read", "artifact", "finish", "more",
        "close",
    ];
    let mut from = 0;
    for name in names {
        let declared = [
            format!("(*{name})"),
            format!("qaas_operation {name};"),
            format!("qaas_head {name};"),
        ];
        let places = declared.iter().filter_map(|text| table.find(text.as_str()));
        let place = places.min().unwrap_or_else(|| panic!("no `{name}`"));
        assert!(place > from || from == 0, "`{name}` is not in its place");
        from = place;
    }
}
