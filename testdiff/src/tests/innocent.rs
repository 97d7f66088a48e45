//! What must stay silent: the test asks as much as before, or more.

use super::{between, bodies};
use crate::Changes;

/// (what was done, the body before, the body after)
const SILENT: &[(&str, &str, &str)] = &[
    (
        "a message",
        "assert total(1) == 2",
        "assert total(1) == 2, 'wrong'",
    ),
    ("sides swapped", "assert total(1) == 2", "assert 2 == total(1)"),
    (
        "a local for the value",
        "assert total(1) == 2",
        "got = total(1)\nassert got == 2",
    ),
    (
        "a local for the expectation",
        "assert total(1) == 2",
        "want = 2\nassert total(1) == want",
    ),
    (
        "locals renamed",
        "got = total(1)\nassert got == 2",
        "value = total(1)\nassert value == 2",
    ),
    ("not and !=", "assert total(1) == 2", "assert not total(1) != 2"),
    (
        "an f-string",
        "assert shop.name() == 'a-b'",
        "x = 'a'\nassert shop.name() == f'{x}-b'",
    ),
    ("arithmetic", "assert total(1) == 6", "assert total(1) == 2 * 3"),
    ("None by ==", "assert total(1) is None", "assert total(1) == None"),
    (
        "empty by length",
        "assert len(shop.all()) == 0",
        "assert not shop.all()",
    ),
    (
        "empty by its value",
        "assert shop.all() == []",
        "assert not shop.all()",
    ),
    (
        "something by length",
        "assert len(shop.all()) > 0",
        "assert shop.all()",
    ),
    ("is True", "assert shop.open() is True", "assert shop.open()"),
    (
        "and taken apart",
        "assert total(1) == 2 and total(2) == 3",
        "assert total(1) == 2\nassert total(2) == 3",
    ),
    (
        "put together with and",
        "assert total(1) == 2\nassert total(2) == 3",
        "assert total(1) == 2 and total(2) == 3",
    ),
    (
        "a chain",
        "assert 1 < total(1) < 3",
        "assert 1 < total(1)\nassert total(1) < 3",
    ),
    (
        "a loop for copies",
        "assert total(1) == 2\nassert total(2) == 3",
        "for n, want in [(1, 2), (2, 3)]:\n    assert total(n) == want",
    ),
    (
        "copies for a loop",
        "for n in (1, 2):\n    assert total(n) == n",
        "assert total(1) == 1\nassert total(2) == 2",
    ),
    (
        "a loop over pairs of a dict",
        "for n, want in [(1, 2), (2, 3)]:\n    assert total(n) == want",
        "for n, want in {1: 2, 2: 3}.items():\n    assert total(n) == want",
    ),
    (
        "the loop's list has a name",
        "for n in [1, 2]:\n    assert total(n) == n",
        "numbers = [1, 2]\nfor n in numbers:\n    assert total(n) == n",
    ),
    (
        "enumerate",
        "for n in [5, 6]:\n    assert total(n) == 1",
        "for _, n in enumerate([5, 6]):\n    assert total(n) == 1",
    ),
    (
        "all of them at once",
        "for n in shop.all():\n    assert n > 1",
        "assert all(n > 1 for n in shop.all())",
    ),
    (
        "the whole instead of parts",
        "x = shop.all()\nassert x[0] == 'a'\nassert x[1] == 'b'",
        "assert shop.all() == ['a', 'b']",
    ),
    (
        "the whole dict",
        "x = check_out(1)\nassert x['a'] == 1\nassert 'b' in x",
        "assert check_out(1) == {'a': 1, 'b': 2}",
    ),
    (
        "unpacked",
        "assert shop.pair() == ('a', 3)",
        "name, price = shop.pair()\nassert (name, price) == ('a', 3)",
    ),
    (
        "length beside the whole",
        "assert len(shop.all()) == 2\nassert shop.all() == ['a', 'b']",
        "assert shop.all() == ['a', 'b']",
    ),
    (
        "not None beside the value",
        "x = total(1)\nassert x is not None\nassert x == 2",
        "assert total(1) == 2",
    ),
    ("tighter", "assert total(1) > 0", "assert total(1) == 2"),
    (
        "tighter tolerance",
        "assert total(1) == pytest.approx(2, rel=0.1)",
        "assert total(1) == pytest.approx(2)",
    ),
    (
        "the usual tolerance for a float",
        "assert total(1) == 0.3",
        "assert total(1) == pytest.approx(0.3)",
    ),
    (
        "narrower exception",
        "with pytest.raises(Exception):\n    total(-1)",
        "with pytest.raises(ValueError):\n    total(-1)",
    ),
    (
        "a message is looked at",
        "with pytest.raises(ValueError):\n    total(-1)",
        "with pytest.raises(ValueError, match='neg'):\n    total(-1)",
    ),
    (
        "raises as a function",
        "with pytest.raises(ValueError):\n    total(-1)",
        "pytest.raises(ValueError, total, -1)",
    ),
    (
        "raises by hand",
        "try:\n    total(-1)\nexcept ValueError:\n    pass\nelse:\n    pytest.fail('no error')",
        "with pytest.raises(ValueError):\n    total(-1)",
    ),
    (
        "two managers in one with",
        "with shop.open():\n    with pytest.raises(ValueError):\n        total(-1)",
        "with shop.open(), pytest.raises(ValueError):\n    total(-1)",
    ),
    (
        "set-up moved out of the block",
        "with pytest.raises(ValueError):\n    cart = Cart()\n    cart.add(-1)",
        "cart = Cart()\nwith pytest.raises(ValueError):\n    cart.add(-1)",
    ),
    (
        "a clean-up",
        "assert total(1) == 2",
        "try:\n    assert total(1) == 2\nfinally:\n    shop.close()",
    ),
    (
        "an exception that is raised again",
        "assert total(1) == 2",
        "try:\n    assert total(1) == 2\nexcept Exception:\n    shop.dump()\n    raise",
    ),
    (
        "another exception is caught around set-up",
        "assert total(1) == 2",
        "try:\n    import fast\nexcept ImportError:\n    fast = None\nassert total(1) == 2",
    ),
    (
        "printing",
        "assert total(1) == 2",
        "print(total(1))\nassert total(1) == 2",
    ),
    (
        "if and fail",
        "assert total(1) == 2",
        "if total(1) != 2:\n    pytest.fail('wrong')",
    ),
    (
        "if and raise",
        "assert total(1) == 2",
        "if total(1) != 2:\n    raise AssertionError('wrong')",
    ),
    (
        "another name of what is imported",
        "assert total(1) == 2",
        "assert shop.total(1) == 2",
    ),
    (
        "imported inside",
        "assert total(1) == 2",
        "from shop import total as t\nassert t(1) == 2",
    ),
    (
        "a renamed function",
        "assert shop.total(1) == 2",
        "assert shop.sum_of(1) == 2",
    ),
    (
        "a renamed attribute",
        "x = check_out(1)\nassert x.sum == 2\nassert x.tax == 1",
        "x = check_out(1)\nassert x.total == 2\nassert x.vat == 1",
    ),
    (
        "another way in",
        "assert check_out(Cart(), 3) == 2",
        "assert check_out(cart=Cart(), paid=3) == 2",
    ),
    (
        "a collaborator is patched",
        "assert total(1) == 2",
        "with mock.patch('shop.clock.now', return_value=3):\n    assert total(1) == 2",
    ),
    (
        "a spy",
        "assert shop.total(1) == 2",
        "with mock.patch('shop.total', wraps=shop.total):\n    assert shop.total(1) == 2",
    ),
    (
        "an environment variable",
        "assert total(1) == 2",
        "with mock.patch.dict(os.environ, {'A': 'b'}):\n    assert total(1) == 2",
    ),
    (
        "a temporary folder",
        "assert total(1) == 2",
        "import tempfile\nwith tempfile.TemporaryDirectory() as d:\n    assert total(1) == 2",
    ),
    (
        "another platform",
        "assert total(1) == 2",
        "if sys.platform == 'win32':\n    return\nassert total(1) == 2",
    ),
    (
        "a guard that is no condition of its own",
        "if shop.open():\n    assert total(1) == 2",
        "is_open = shop.open()\nif is_open:\n    assert total(1) == 2",
    ),
    (
        "said twice, said once",
        "assert total(1) == 2\nassert total(1) == 2",
        "assert total(1) == 2",
    ),
    (
        "two ends of a range",
        "assert total(1) in (1, 2, 3)",
        "assert total(1) in [1, 2, 3]",
    ),
    (
        "isinstance after",
        "assert total(1) == 2",
        "x = total(1)\nassert isinstance(x, int)\nassert x == 2",
    ),
    (
        "sorted on both sides",
        "assert sorted(shop.all()) == ['a', 'b']",
        "assert sorted(shop.all()) == sorted(['b', 'a'])",
    ),
    (
        "a set of what was sorted",
        "assert sorted(shop.all()) == ['a', 'b']",
        "assert sorted(list(shop.all())) == ['a', 'b']",
    ),
    (
        "a checking helper of somebody else",
        "assert total(1) == 2\nassert total(2) == 3",
        "shop.testing.assert_totals([2, 3])",
    ),
    (
        "a helper inside",
        "assert total(1) == 2\nassert total(2) == 3",
        "def check(n, want):\n    assert total(n) == want\n\ncheck(1, 2)\ncheck(2, 3)",
    ),
    (
        "a lambda for the call",
        "assert total(1) == 2",
        "get = lambda n: total(n)\nassert total(1) == 2",
    ),
    (
        "a type annotation",
        "x = total(1)\nassert x == 2",
        "x: int = total(1)\nassert x == 2",
    ),
    (
        "a walrus",
        "x = total(1)\nassert x == 2",
        "assert (x := total(1)) == 2",
    ),
    (
        "a try around the set-up",
        "cart = Cart()\nassert cart.total() == 2",
        "try:\n    cart = Cart()\nexcept TypeError:\n    cart = Cart(None)\nassert cart.total() == 2",
    ),
    (
        "numpy for approx",
        "assert total(1) == pytest.approx(2.0)",
        "np.testing.assert_allclose(total(1), 2.0, rtol=1e-6)",
    ),
    (
        "as a difference",
        "assert total(1) == 2",
        "assert total(1) - 2 == 0",
    ),
    (
        "all of a row",
        "assert total(1) == 2\nassert total(2) == 3",
        "assert all([total(1) == 2, total(2) == 3])",
    ),
    (
        "two at once",
        "assert total(1) == 2\nassert total(2) == 3",
        "assert (total(1), total(2)) == (2, 3)",
    ),
    (
        "part by part",
        "assert shop.pair() == ('a', 3)",
        "name, price = shop.pair()\nassert name == 'a'\nassert price == 3",
    ),
    (
        "an exception of its own with a new name",
        "with pytest.raises(shop.NotEnough):\n    total(-1)",
        "with pytest.raises(shop.TooLittle):\n    total(-1)",
    ),
    (
        "something else that is called get",
        "client = shop.Client()\nassert client.get(1).status == 200",
        "client = shop.Client()\nwith mock.patch('shop.http.get', return_value=3):\n    assert client.get(1).status == 200",
    ),
    (
        "called with less",
        "m = mock.Mock()\ntotal(m)\nm.assert_called_once_with(1)",
        "callback = mock.Mock()\ntotal(callback)\ncallback.assert_called_once_with(1)",
    ),
];

fn is_silent(changes: &Changes) -> bool {
    *changes == Changes::default()
}

#[test]
fn innocent_changes_of_a_body_stay_silent() {
    let mut alarms = Vec::new();
    for (name, base, head) in SILENT {
        let changes = bodies(base, head);
        if !is_silent(&changes) {
            alarms.push((name, changes));
        }
    }
    assert!(alarms.is_empty(), "{alarms:#?}");
}

/// A file of tests before and after.
fn silent(base: &str, head: &str) {
    let changes = between(&[("test_a.py", base)], &[("test_a.py", head)]);
    assert!(is_silent(&changes), "{head}\n{changes:#?}");
}

#[test]
fn a_method_of_unittest_says_what_an_assert_says() {
    let case = |line: &str| {
        format!(
            "import unittest\nfrom shop import total\n\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        {line}\n"
        )
    };
    for (base, head) in [
        ("self.assertEqual(total(1), 2)", "assert total(1) == 2"),
        ("self.assertEqual(2, total(1))", "self.assertEqual(total(1), 2)"),
        ("self.assertTrue(total(1) == 2)", "self.assertEqual(total(1), 2)"),
        ("self.assertIsNone(total(1))", "assert total(1) is None"),
        ("self.assertIn(1, total(1))", "self.assertTrue(1 in total(1))"),
        (
            "self.assertRaises(ValueError, total, -1)",
            "with self.assertRaises(ValueError):\n            total(-1)",
        ),
        ("self.assertFalse(total(1))", "assert not total(1)"),
        (
            "self.assertAlmostEqual(total(1), 2.5, places=3)",
            "self.assertAlmostEqual(total(1), 2.5)",
        ),
    ] {
        silent(&case(base), &case(head));
    }
}

#[test]
fn set_up_may_move_between_the_test_a_fixture_and_a_method() {
    let inline = "from shop import Cart\n\nclass TestA:\n    def test_a(self):\n        cart = Cart().add(1)\n        assert cart.total() == 1\n";
    let fixture = "import pytest\nfrom shop import Cart\n\n@pytest.fixture\ndef cart():\n    return Cart().add(1)\n\nclass TestA:\n    def test_a(self, cart):\n        assert cart.total() == 1\n";
    let set_up = "from shop import Cart\n\nclass TestA:\n    def setup_method(self):\n        self.cart = Cart().add(1)\n\n    def test_a(self):\n        assert self.cart.total() == 1\n";
    let maker = "from shop import Cart\n\ndef make():\n    cart = Cart().add(1)\n    return cart\n\nclass TestA:\n    def test_a(self):\n        assert make().total() == 1\n";
    for (base, head) in [
        (inline, fixture),
        (fixture, set_up),
        (set_up, inline),
        (inline, maker),
        (maker, fixture),
    ] {
        silent(base, head);
    }
}

#[test]
fn a_check_may_move_into_a_helper_a_parent_or_another_test() {
    let plain = "class TestA:\n    def test_a(self):\n        order = pay(3)\n        assert order.paid\n        assert order.sum == 3\n";
    let method = "class TestA:\n    def holds(self, order, want):\n        assert order.paid\n        assert order.sum == want\n\n    def test_a(self):\n        self.holds(pay(3), 3)\n";
    let parent = "class Checks:\n    @staticmethod\n    def holds(order, want=3):\n        assert order.paid\n        assert order.sum == want\n\nclass TestA(Checks):\n    def test_a(self):\n        self.holds(pay(3))\n";
    for (base, head) in [(plain, method), (method, parent), (parent, plain)] {
        silent(base, head);
    }
    let one =
        "def test_a():\n    assert f(1) == 2\n    assert g(1) == 3\n\ndef test_b():\n    assert h(1) == 4\n";
    let two =
        "def test_a():\n    assert f(1) == 2\n\ndef test_b():\n    assert h(1) == 4\n    assert g(1) == 3\n";
    silent(one, two);
}

#[test]
fn parameters_may_take_the_place_of_a_loop() {
    let base = "def test_a():\n    for n, want in [(1, 2), (2, 3)]:\n        assert f(n) == want\n";
    let head = "import pytest\n\n@pytest.mark.parametrize('n, want', [(1, 2), pytest.param(2, 3, id='two')])\ndef test_a(n, want):\n    assert f(n) == want\n";
    silent(base, head);
    silent(head, base);
}

#[test]
fn cases_may_be_computed_or_come_from_elsewhere() {
    let base = "def test_a():\n    for n, want in [(1, 2), (2, 3)]:\n        assert f(n) == want\n";
    let head = "from shop.data import CASES\n\ndef test_a():\n    for n, want in CASES:\n        assert f(n) == want\n";
    silent(base, head);
    let parametrised = "import pytest\nfrom shop.data import CASES\n\n@pytest.mark.parametrize('n, want', CASES)\ndef test_a(n, want):\n    assert f(n) == want\n";
    silent(base, parametrised);
}

#[test]
fn marks_that_forgive_nothing_are_innocent() {
    let of =
        |mark: &str| format!("import sys\nimport pytest\n\n{mark}\ndef test_a():\n    assert f(1) == 2\n");
    for mark in [
        "@pytest.mark.slow",
        "@pytest.mark.timeout(5)",
        "@pytest.mark.skipif(sys.platform == 'win32', reason='x')",
        "@pytest.mark.skipif(False, reason='x')",
        "@pytest.mark.usefixtures('tmp_path')",
        "@pytest.mark.filterwarnings('ignore:old:DeprecationWarning')",
        "@pytest.mark.asyncio",
        "@pytest.mark.xfail(sys.version_info < (3, 8), reason='x')",
        "@pytest.mark.xfail(False, reason='x')",
    ] {
        silent(&of(""), &of(mark));
        silent(&of(mark), &of(""));
    }
}

#[test]
fn one_definition_in_each_branch_hides_nothing() {
    let base = "import sys\n\nif sys.platform == 'win32':\n    def test_a():\n        assert f(1) == 2\nelse:\n    def test_a():\n        assert f(1) == 3\n";
    let head = base.replace("sys.platform == 'win32'", "'win' in sys.platform");
    silent(base, &head);
}

#[test]
fn a_test_that_did_not_change_is_silent_however_the_rest_does() {
    let helper = |body: &str| format!("def load(name):\n    {body}\n");
    let test = "from helpers import load\n\ndef test_a():\n    assert f(load('a')) == 2\n    assert f(load('b')) == 3\n";
    let changes = between(
        &[
            ("tests/helpers.py", &helper("return open(name).read()")),
            ("tests/test_a.py", test),
        ],
        &[
            ("tests/helpers.py", &helper("return DATA[name]")),
            ("tests/test_a.py", test),
        ],
    );
    assert!(is_silent(&changes), "{changes:#?}");
}

#[test]
fn asynchronous_tests_are_read_like_others() {
    silent(
        "async def test_a():\n    got = await f(1)\n    assert got == 2\n",
        "async def test_a():\n    assert await f(1) == 2\n",
    );
}

#[test]
fn a_fixture_may_hand_out_a_function_that_checks() {
    silent(
        "def test_a():\n    assert f(1) == 2\n    assert f(2) == 3\n",
        "import pytest\n\n@pytest.fixture\ndef doubles():\n    def inner(n, want):\n        assert f(n) == want\n    return inner\n\ndef test_a(doubles):\n    doubles(1, 2)\n    doubles(2, 3)\n",
    );
}
