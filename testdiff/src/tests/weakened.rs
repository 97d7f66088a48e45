//! What must be told: a test can fail in fewer ways than before.

use super::{between, bodies};

/// (what was done, the body before, the body after)
const WEAKER: &[(&str, &str, &str)] = &[
    (
        "assertion removed",
        "assert total(1) == 2\nassert total(2) == 3",
        "assert total(2) == 3",
    ),
    ("body emptied", "assert total(1) == 2", "pass"),
    ("only the call is left", "assert total(1) == 2", "total(1)"),
    ("the call is gone", "total(1)", "pass"),
    ("assert True", "assert total(1) == 2", "assert True"),
    (
        "a constant that is true",
        "assert total(1) == 2",
        "assert 'total is right'",
    ),
    (
        "a tuple is always true",
        "assert total(1) == 2",
        "assert (total(1) == 2, 'wrong')",
    ),
    (
        "compared with itself",
        "assert total(1) == 2",
        "assert total(1) == total(1)",
    ),
    ("or True", "assert total(1) == 2", "assert total(1) == 2 or True"),
    (
        "another alternative",
        "assert total(1) == 2",
        "assert total(1) == 2 or total(1) is None",
    ),
    (
        "no length is negative",
        "assert len(shop.all()) == 2",
        "assert len(shop.all()) >= 0",
    ),
    (
        "two sizes are accepted",
        "assert total(1) == 2",
        "assert total(1) in (2, 3)",
    ),
    (
        "more values are accepted",
        "assert total(1) in (2, 3)",
        "assert total(1) in (2, 3, 4)",
    ),
    (
        "swallowed by its own kind",
        "assert total(1) == 2",
        "try:\n    assert total(1) == 2\nexcept AssertionError:\n    pass",
    ),
    (
        "swallowed by all",
        "assert total(1) == 2",
        "try:\n    assert total(1) == 2\nexcept Exception as e:\n    print(e)",
    ),
    (
        "swallowed by a bare except",
        "assert total(1) == 2",
        "try:\n    assert total(1) == 2\nexcept:\n    pass",
    ),
    (
        "suppressed",
        "assert total(1) == 2",
        "with suppress(AssertionError):\n    assert total(1) == 2",
    ),
    (
        "a failure skips",
        "assert total(1) == 2",
        "try:\n    assert total(1) == 2\nexcept AssertionError:\n    pytest.skip('flaky')",
    ),
    (
        "returns first",
        "x = total(1)\nassert x == 2",
        "x = total(1)\nreturn\nassert x == 2",
    ),
    (
        "returns on a condition",
        "assert total(1) == 2",
        "if os.environ.get('CI'):\n    return\nassert total(1) == 2",
    ),
    (
        "only under a condition",
        "assert total(1) == 2",
        "x = total(1)\nif x:\n    assert x == 2",
    ),
    (
        "under a condition that never holds",
        "assert total(1) == 2",
        "if False:\n    assert total(1) == 2",
    ),
    (
        "the loop is empty",
        "for n in [1, 2]:\n    assert total(n) == n",
        "for n in []:\n    assert total(n) == n",
    ),
    (
        "the loop goes over an empty part",
        "for n in [1, 2]:\n    assert total(n) == n",
        "for n in [1, 2][:0]:\n    assert total(n) == n",
    ),
    (
        "range of nothing",
        "for n in range(3):\n    assert total(n) == n",
        "for n in range(0):\n    assert total(n) == n",
    ),
    (
        "fewer rounds",
        "for n in [1, 2, 3]:\n    assert total(n) == n",
        "for n in [1]:\n    assert total(n) == n",
    ),
    (
        "a loop that is never entered",
        "while shop.more():\n    assert total(1) == 2",
        "while False:\n    assert total(1) == 2",
    ),
    (
        "any exception",
        "with pytest.raises(ValueError):\n    total(-1)",
        "with pytest.raises(Exception):\n    total(-1)",
    ),
    (
        "a parent of the exception",
        "with pytest.raises(KeyError):\n    total(-1)",
        "with pytest.raises(LookupError):\n    total(-1)",
    ),
    (
        "one exception more",
        "with pytest.raises(ValueError):\n    total(-1)",
        "with pytest.raises((ValueError, TypeError)):\n    total(-1)",
    ),
    (
        "the message is not looked at",
        "with pytest.raises(ValueError, match='neg'):\n    total(-1)",
        "with pytest.raises(ValueError):\n    total(-1)",
    ),
    (
        "any message",
        "with pytest.raises(ValueError, match='neg'):\n    total(-1)",
        "with pytest.raises(ValueError, match='.*'):\n    total(-1)",
    ),
    (
        "the exception is not expected",
        "with pytest.raises(ValueError):\n    total(-1)",
        "try:\n    total(-1)\nexcept ValueError:\n    pass",
    ),
    (
        "the message of a caught one",
        "with pytest.raises(ValueError) as e:\n    total(-1)\nassert 'neg' in str(e.value)",
        "with pytest.raises(ValueError):\n    total(-1)",
    ),
    (
        "a warning is not expected",
        "with pytest.warns(UserWarning):\n    total(1)",
        "total(1)",
    ),
    (
        "relative tolerance",
        "assert total(1) == pytest.approx(2.0)",
        "assert total(1) == pytest.approx(2.0, rel=0.1)",
    ),
    (
        "absolute tolerance",
        "assert total(1) == pytest.approx(2.0, abs=1e-6)",
        "assert total(1) == pytest.approx(2.0, abs=1)",
    ),
    (
        "a tolerance where there was none",
        "assert total(1) == 2",
        "assert total(1) == pytest.approx(2, abs=1)",
    ),
    (
        "isclose",
        "assert math.isclose(total(1), 2.0, rel_tol=1e-9)",
        "assert math.isclose(total(1), 2.0, rel_tol=0.5)",
    ),
    (
        "allclose",
        "np.testing.assert_allclose(total(1), 2.0, rtol=1e-7)",
        "np.testing.assert_allclose(total(1), 2.0, rtol=0.1)",
    ),
    (
        "a difference",
        "assert abs(total(1) - 2) < 0.001",
        "assert abs(total(1) - 2) < 1",
    ),
    (
        "rounded",
        "assert total(1) == 2.25",
        "assert round(total(1)) == 2",
    ),
    (
        "rounded to less",
        "assert round(total(1), 4) == 2.25",
        "assert round(total(1), 1) == 2.2",
    ),
    ("a bound", "assert total(1) < 10", "assert total(1) < 100"),
    (
        "a lower bound",
        "assert len(shop.all()) >= 5",
        "assert len(shop.all()) >= 1",
    ),
    ("not None", "assert total(1) == 2", "assert total(1) is not None"),
    ("truth", "assert total(1) == 2", "assert total(1)"),
    ("kind", "assert total(1) == 2", "assert isinstance(total(1), int)"),
    ("at least", "assert total(1) == 2", "assert total(1) >= 2"),
    ("not equal", "assert total(1) == 2", "assert total(1) != 3"),
    (
        "contains",
        "assert shop.all() == ['a', 'b']",
        "assert 'a' in shop.all()",
    ),
    (
        "begins with",
        "assert shop.name() == 'pears'",
        "assert shop.name().startswith('p')",
    ),
    (
        "length",
        "assert shop.all() == ['a', 'b']",
        "assert len(shop.all()) == 2",
    ),
    (
        "as a set",
        "assert shop.all() == ['a', 'b']",
        "assert set(shop.all()) == {'a', 'b'}",
    ),
    (
        "sorted",
        "assert shop.all() == ['b', 'a']",
        "assert sorted(shop.all()) == ['a', 'b']",
    ),
    (
        "one part",
        "assert shop.all() == ['a', 'b']",
        "assert shop.all()[0] == 'a'",
    ),
    (
        "one key",
        "assert check_out(1) == {'a': 1, 'b': 2}",
        "assert check_out(1)['a'] == 1",
    ),
    (
        "case",
        "assert shop.name() == 'Pears'",
        "assert shop.name().lower() == 'pears'",
    ),
    (
        "all became any",
        "assert all(x > 1 for x in shop.all())",
        "assert any(x > 1 for x in shop.all())",
    ),
    (
        "only the thing itself",
        "cart = Cart()\nassert cart.total() == 2",
        "cart = Cart()\nassert cart",
    ),
    (
        "patched in a block",
        "assert total(1) == 2",
        "with mock.patch('shop.total', return_value=2):\n    assert shop.total(1) == 2",
    ),
    (
        "patched as an object",
        "assert shop.total(1) == 2",
        "with mock.patch.object(shop, 'total', return_value=2):\n    assert shop.total(1) == 2",
    ),
    (
        "replaced by assignment",
        "assert shop.total(1) == 2",
        "shop.total = lambda n: 2\nassert shop.total(1) == 2",
    ),
    (
        "a method is patched",
        "assert Cart().total() == 2",
        "with mock.patch.object(Cart, 'total', return_value=2):\n    assert Cart().total() == 2",
    ),
    (
        "tried again",
        "assert total(1) == 2",
        "for attempt in range(3):\n    try:\n        assert total(1) == 2\n        break\n    except AssertionError:\n        if attempt == 2:\n            raise",
    ),
    (
        "a mock was called somehow",
        "m = mock.Mock()\ntotal(m)\nm.assert_called_once_with(3)",
        "m = mock.Mock()\ntotal(m)\nm.assert_called()",
    ),
    (
        "warnings are ignored",
        "with warnings.catch_warnings():\n    warnings.simplefilter('error')\n    assert total(1) == 2",
        "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    assert total(1) == 2",
    ),
    (
        "a part of the list",
        "for n in [1, 2, 3]:\n    assert total(n) == n",
        "for n in [1, 2, 3][:1]:\n    assert total(n) == n",
    ),
    (
        "a mock in the place of the thing",
        "cart = Cart().add(1)\nassert cart.total() == 1",
        "cart = mock.Mock()\ncart.total.return_value = 1\nassert cart.total() == 1",
    ),
    (
        "the method instead of its value",
        "cart = Cart()\nassert cart.total() == 1",
        "cart = Cart()\nassert cart.total",
    ),
    (
        "compares with what it returned",
        "assert total(1) == 2",
        "want = total(1)\nassert total(1) == want",
    ),
];

#[test]
fn what_checks_less_is_told() {
    let mut missed = Vec::new();
    for (name, base, head) in WEAKER {
        let changes = bodies(base, head);
        if changes.weakened.len() != 1 || !changes.muted.is_empty() || !changes.removed.is_empty() {
            missed.push((name, changes));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// A file of tests before and after.
fn told(base: &str, head: &str) -> Vec<String> {
    let changes = between(&[("test_a.py", base)], &[("test_a.py", head)]);
    assert!(
        changes.removed.is_empty() && changes.muted.is_empty(),
        "{changes:?}"
    );
    changes.weakened.into_iter().map(|told| told.id).collect()
}

#[test]
fn unittests_assertions_are_known() {
    let case = |line: &str| {
        format!(
            "import unittest\nfrom shop import total\n\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        {line}\n"
        )
    };
    for (base, head) in [
        ("self.assertEqual(total(1), 2)", "self.assertTrue(total(1), 2)"),
        ("self.assertEqual(total(1), 2)", "self.assertIsNotNone(total(1))"),
        (
            "self.assertAlmostEqual(total(1), 2.5)",
            "self.assertAlmostEqual(total(1), 2.5, places=1)",
        ),
        (
            "self.assertAlmostEqual(total(1), 2.5)",
            "self.assertAlmostEqual(total(1), 2.5, delta=2)",
        ),
        (
            "self.assertEqual(total(1), 2)",
            "self.assertIn(total(1), (1, 2, 3))",
        ),
        (
            "self.assertRaises(ValueError, total, -1)",
            "self.assertRaises(Exception, total, -1)",
        ),
        ("self.assertEqual(total(1), 2)", "pass"),
    ] {
        assert_eq!(
            told(&case(base), &case(head)),
            ["test_a.py::TestA::test_a"],
            "{base} became {head}"
        );
    }
}

#[test]
fn marks_that_forgive_are_told() {
    let of = |mark: &str| {
        format!("import pytest\nfrom shop import total\n\n{mark}\ndef test_a():\n    assert total(1) == 2\n")
    };
    let plain = of("");
    for mark in [
        "@pytest.mark.flaky(reruns=3)",
        "@flaky",
        "@retry(3)",
        "@pytest.mark.flaky(retries=2, delay=1)",
    ] {
        assert_eq!(told(&plain, &of(mark)), ["test_a.py::test_a"], "{mark}");
    }
    let strict = of("@pytest.mark.filterwarnings('error')");
    assert_eq!(told(&strict, &plain), ["test_a.py::test_a"]);
}

#[test]
fn a_mark_on_the_module_holds_for_each_test() {
    let of = |line: &str| {
        format!(
            "import pytest\n{line}\n\ndef test_a():\n    assert f() == 2\n\ndef test_b():\n    assert f() == 3\n"
        )
    };
    assert_eq!(
        told(&of(""), &of("pytestmark = [pytest.mark.flaky(reruns=2)]")),
        ["test_a.py::test_a", "test_a.py::test_b"]
    );
}

#[test]
fn a_helper_or_a_fixture_that_checks_less_weakens_who_uses_it() {
    let tests =
        "from helpers import check\n\ndef test_a():\n    check(total(1), 2)\n\ndef test_b(paid):\n    pass\n";
    let helpers = |line: &str| {
        format!("import pytest\n\ndef check(got, want):\n    assert got is not None\n    {line}\n")
    };
    let conftest =
        |line: &str| format!("import pytest\n\n@pytest.fixture\ndef paid():\n    yield 1\n    {line}\n");
    let state = |helper: &str, fixture: &str| [helpers(helper), conftest(fixture), tests.to_owned()];
    let files = |state: &[String; 3]| {
        super::snapshot(&[
            ("tests/helpers.py", &state[0]),
            ("tests/conftest.py", &state[1]),
            ("tests/test_a.py", &state[2]),
        ])
    };
    let base = files(&state("assert got == want", "assert shop.left() == 0"));
    let head = files(&state("pass", "pass"));
    let weakened: Vec<String> = crate::compare(&base, &head)
        .weakened
        .into_iter()
        .map(|told| told.id)
        .collect();
    assert_eq!(weakened, ["tests/test_a.py::test_a", "tests/test_a.py::test_b"]);
}

#[test]
fn a_method_that_checks_less_weakens_the_class() {
    let of = |line: &str| {
        format!(
            "class TestA:\n    def check(self, n):\n        {line}\n\n    def test_a(self):\n        self.check(1)\n"
        )
    };
    assert_eq!(
        told(&of("assert total(n) == 2"), &of("assert total(n)")),
        ["test_a.py::TestA::test_a"]
    );
}

#[test]
fn a_later_definition_of_the_name_hides_the_test() {
    let base = "def test_a():\n    assert total(1) == 2\n";
    let head = format!("{base}\n\ndef test_a():\n    assert shop.open()\n");
    assert_eq!(told(base, &head), ["test_a.py::test_a"]);
}

#[test]
fn the_function_under_test_is_replaced_in_the_file_of_tests() {
    let base = "from shop import total\n\ndef test_a():\n    assert total(1) == 2\n";
    let head = "def total(n):\n    return 2\n\ndef test_a():\n    assert total(1) == 2\n";
    assert_eq!(told(base, head), ["test_a.py::test_a"]);
}

#[test]
fn a_patch_by_decorator_fixture_or_monkeypatch_is_seen() {
    let base = "import shop\n\ndef test_a():\n    assert shop.total(1) == 2\n";
    for head in [
        "import shop\nfrom unittest.mock import patch\n\n@patch('shop.total', return_value=2)\ndef test_a(total):\n    assert shop.total(1) == 2\n",
        "import shop\n\ndef test_a(monkeypatch):\n    monkeypatch.setattr(shop, 'total', lambda n: 2)\n    assert shop.total(1) == 2\n",
        "import shop\n\ndef test_a(mocker):\n    mocker.patch('shop.total', return_value=2)\n    assert shop.total(1) == 2\n",
        "import pytest\nimport shop\n\n@pytest.fixture(autouse=True)\ndef easy(monkeypatch):\n    monkeypatch.setattr('shop.total', lambda n: 2)\n\ndef test_a():\n    assert shop.total(1) == 2\n",
    ] {
        assert_eq!(told(base, head), ["test_a.py::test_a"], "{head}");
    }
}

#[test]
fn tolerance_in_a_constant_is_seen() {
    let of = |value: &str| {
        format!(
            "import pytest\n\nTOLERANCE = {value}\n\ndef test_a():\n    assert total(1) == pytest.approx(2.5, abs=TOLERANCE)\n"
        )
    };
    assert_eq!(told(&of("1e-9"), &of("0.5")), ["test_a.py::test_a"]);
}
