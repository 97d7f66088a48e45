use super::{Constant, Expr, Operator, Stmt, parse};

fn same(left: &str, right: &str) -> bool {
    parse(left).unwrap() == parse(right).unwrap()
}

#[test]
fn layout_quotes_comments_and_docstrings_make_no_difference() {
    assert!(same(
        "def f():\n    '''Says what.'''\n    # why\n    assert (\n        a\n        == [\n 'x',\n ]\n    )\n",
        "def f():\n    assert a == [\"x\"]\n"
    ));
}

#[test]
fn equal_numbers_are_equal_however_they_are_written() {
    assert!(same("x = 70.0", "x = 70"));
    assert!(same("x = 0x10", "x = 1_6"));
    assert!(same("x = 1e-3", "x = 0.001"));
    assert!(!same("x = 0.1", "x = 0.10000001"));
}

#[test]
fn names_that_an_expression_binds_for_itself_do_not_count() {
    assert!(same("x = [a.b for a in c if a]", "x = [z.b for z in c if z]"));
    assert!(same("x = lambda a, b: a + b", "x = lambda c, d: c + d"));
    assert!(!same("x = lambda a, b: a + b", "x = lambda a, b: b + a"));
}

#[test]
fn the_order_of_keywords_and_keys_does_not_count() {
    assert!(same("f(a=1, b=2)", "f(b=2, a=1)"));
    assert!(same("x = {'a': 1, 'b': 2}", "x = {'b': 2, 'a': 1}"));
    assert!(!same("x = {**y, 'a': 1}", "x = {'a': 1, **y}"));
}

#[test]
fn a_chain_of_comparisons_is_each_of_them() {
    let chain = parse("assert 0 < x < 3").unwrap();
    let Stmt::Assert(Expr::And(links)) = &chain[0] else {
        panic!("{chain:?}")
    };
    assert_eq!(links.len(), 2);
    assert!(matches!(&links[1], Expr::Compare(_, Operator::Less, right) if **right == Expr::number("3")));
}

#[test]
fn a_byte_order_mark_and_line_ends_of_windows_are_read() {
    assert!(same("\u{feff}x = 1\r\ny = -2\r\n", "x = 1\ny = -2\n"));
    let negative = parse("y = -2").unwrap();
    let Stmt::Assign { value, .. } = &negative[0] else {
        panic!("{negative:?}")
    };
    assert_eq!(*value, Expr::Constant(Constant::Number("-2".into())));
}

#[test]
fn what_is_no_python_is_an_error_with_a_place() {
    let error = parse("def f(:\n").unwrap_err();
    assert!(error.contains("byte"), "{error}");
}

#[test]
fn a_function_knows_its_line_parameters_and_decorators() {
    let module = parse("import pytest\n\n@pytest.mark.skip\ndef test_a(x, *, y=2):\n    pass\n").unwrap();
    let Stmt::Function(function) = &module[1] else {
        panic!("{module:?}")
    };
    assert_eq!((function.name.as_str(), function.line), ("test_a", 4));
    assert_eq!(
        function.decorators[0].dotted().as_deref(),
        Some("pytest.mark.skip")
    );
    assert_eq!(
        function
            .parameters
            .iter()
            .map(|p| p.name.as_str())
            .collect::<Vec<_>>(),
        ["x", "y"]
    );
    assert!(function.body.is_empty());
}

#[test]
fn a_sum_of_ten_thousand_terms_does_not_run_out_of_stack() {
    let sum = format!("x = 1{}", " + 1".repeat(10_000));
    let [Stmt::Assign { value, .. }] = &parse(&sum).unwrap()[..] else {
        panic!("not one assignment")
    };
    assert!(value.size() < 1_000, "{}", value.size());
}
