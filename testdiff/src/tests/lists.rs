//! Added, removed, renamed, muted, rewritten.

use super::{between, bodies};
use crate::Changes;

fn ids(told: &[crate::Told]) -> Vec<&str> {
    told.iter().map(|told| told.id.as_str()).collect()
}

fn of(base: &str, head: &str) -> Changes {
    between(&[("test_a.py", base)], &[("test_a.py", head)])
}

const TWO: &str = "import pytest\nfrom shop import f, g\n\n\ndef test_a():\n    x = f(1)\n    assert x.one == 2\n    assert x.two == 3\n\n\ndef test_b():\n    assert g(1)['b'] == 3\n";

#[test]
fn a_renamed_test_keeps_its_identity() {
    let changes = of(TWO, &TWO.replace("test_a", "test_f_of_one"));
    assert_eq!(
        (&*changes.renamed[0].was, &*changes.renamed[0].id),
        ("test_a.py::test_a", "test_a.py::test_f_of_one")
    );
    assert_eq!(
        Changes {
            renamed: Vec::new(),
            ..changes
        },
        Changes::default()
    );
}

#[test]
fn a_file_or_a_class_with_another_name_renames_its_tests() {
    let changes = between(&[("tests/test_a.py", TWO)], &[("checks/test_z.py", TWO)]);
    assert_eq!(changes.renamed.len(), 2);
    assert!(changes.removed.is_empty() && changes.added.is_empty());
    let class = "class TestA:\n    def test_a(self):\n        assert f(1) == 2\n\n    def test_b(self):\n        assert f(1) == 3\n";
    let changes = of(class, &class.replace("TestA", "TestOther"));
    let pairs: Vec<_> = changes
        .renamed
        .iter()
        .map(|pair| (&*pair.was, &*pair.id))
        .collect();
    assert_eq!(
        pairs,
        [
            ("test_a.py::TestA::test_a", "test_a.py::TestOther::test_a"),
            ("test_a.py::TestA::test_b", "test_a.py::TestOther::test_b")
        ]
    );
}

#[test]
fn another_test_in_the_place_of_one_is_no_rename() {
    let head = "from shop import h\n\n\ndef test_b():\n    assert g(1)['b'] == 3\n\n\ndef test_new():\n    for n in range(4):\n        h(n)\n    assert h.count == 4\n";
    let changes = of(TWO, head);
    assert_eq!(changes.removed, ["test_a.py::test_a"]);
    assert_eq!(changes.added, ["test_a.py::test_new"]);
    assert!(changes.renamed.is_empty());
}

#[test]
fn each_way_to_mute_is_seen() {
    for (way, head) in [
        ("skip", TWO.replace("def test_a", "@pytest.mark.skip\ndef test_a")),
        (
            "skip with a reason",
            TWO.replace("def test_a", "@pytest.mark.skip(reason='x')\ndef test_a"),
        ),
        (
            "skipif",
            TWO.replace(
                "def test_a",
                "@pytest.mark.skipif(1 == 1, reason='x')\ndef test_a",
            ),
        ),
        (
            "xfail",
            TWO.replace("def test_a", "@pytest.mark.xfail\ndef test_a"),
        ),
        (
            "skip inside",
            TWO.replace("x = f(1)", "pytest.skip('x')\n    x = f(1)"),
        ),
        (
            "xfail inside",
            TWO.replace("x = f(1)", "pytest.xfail('x')\n    x = f(1)"),
        ),
        ("another name", TWO.replace("def test_a", "def _test_a")),
        ("no test's name", TWO.replace("def test_a", "def check_a")),
        (
            "under if False",
            TWO.replace("def test_a", "if False:\n  def test_a"),
        ),
    ] {
        let changes = of(TWO, &head);
        assert_eq!(ids(&changes.muted), ["test_a.py::test_a"], "{way}");
        assert!(
            changes.weakened.is_empty() && changes.removed.is_empty() && changes.added.is_empty(),
            "{way}: {changes:?}"
        );
    }
}

#[test]
fn a_whole_module_is_muted_test_by_test() {
    for line in [
        "pytestmark = pytest.mark.skip(reason='x')",
        "pytestmark = [pytest.mark.slow, pytest.mark.skip]",
        "pytest.skip('x', allow_module_level=True)",
        "pytest.importorskip('nothing')",
    ] {
        let changes = of(TWO, &TWO.replace("from shop", &format!("{line}\nfrom shop")));
        assert_eq!(
            ids(&changes.muted),
            ["test_a.py::test_a", "test_a.py::test_b"],
            "{line}"
        );
    }
}

#[test]
fn what_runs_again_or_never_ran_is_not_muted() {
    let muted = TWO.replace("def test_a", "@pytest.mark.skip\ndef test_a");
    assert_eq!(of(&muted, TWO), Changes::default());
    let changes = of(
        "import pytest\n",
        "import pytest\n\n@pytest.mark.skip\ndef test_new():\n    assert f() == 1\n",
    );
    assert_eq!(changes.added, ["test_a.py::test_new"]);
    assert!(changes.muted.is_empty());
}

#[test]
fn another_expectation_is_rewritten_and_not_weaker() {
    for (base, head) in [
        ("assert total(1) == 2", "assert total(1) == 3"),
        ("assert total(1) == 2", "want = 3\nassert want == total(1)"),
        (
            "assert shop.all() == ['a', 'b']",
            "assert shop.all() == ['a', 'c']",
        ),
        ("assert shop.all() == ['a', 'b']", "assert shop.all() == ['a']"),
        (
            "for n, want in [(1, 2), (2, 3)]:\n    assert total(n) == want",
            "for n, want in [(1, 2), (2, 4)]:\n    assert total(n) == want",
        ),
        ("assert shop.open()", "assert not shop.open()"),
        ("assert 'a' in shop.all()", "assert 'a' not in shop.all()"),
        ("assert 'a' in shop.all()", "assert 'b' in shop.all()"),
        (
            "with pytest.raises(ValueError):\n    total(-1)",
            "with pytest.raises(TypeError):\n    total(-1)",
        ),
        (
            "with pytest.raises(ValueError):\n    total(-1)",
            "assert total(-1) == 0",
        ),
        (
            "with pytest.raises(ValueError, match='old'):\n    total(-1)",
            "with pytest.raises(ValueError, match='new'):\n    total(-1)",
        ),
        (
            "assert total(1) == pytest.approx(2.5)",
            "assert total(1) == pytest.approx(3.5)",
        ),
        ("assert total(1) is None", "assert total(1) == 0"),
        (
            "m = mock.Mock()\ntotal(m)\nm.assert_called_once_with(1)",
            "m = mock.Mock()\ntotal(m)\nm.assert_called_once_with(2)",
        ),
    ] {
        let changes = bodies(base, head);
        assert_eq!(
            ids(&changes.rewritten),
            ["tests/test_it.py::test_it"],
            "{base} -> {head}: {changes:?}"
        );
        assert!(changes.weakened.is_empty(), "{changes:?}");
    }
}

#[test]
fn an_expectation_in_a_parameter_a_constant_or_a_fixture_is_seen() {
    for of_value in [
        "import pytest\n\n@pytest.mark.parametrize('n, want', [(1, 2), (2, VALUE)], ids=['a', 'b'])\ndef test_a(n, want):\n    assert f(n) == want\n",
        "import pytest\n\n@pytest.mark.parametrize('n, want', [(1, 2), (2, VALUE)])\ndef test_a(n, want):\n    assert f(n) == want\n",
        "WANT = VALUE\n\ndef test_a():\n    assert f(1) == WANT\n",
        "import pytest\n\n@pytest.fixture\ndef want():\n    return VALUE\n\ndef test_a(want):\n    assert f(1) == want\n",
    ] {
        let changes = of(&of_value.replace("VALUE", "7"), &of_value.replace("VALUE", "8"));
        assert_eq!(
            ids(&changes.rewritten),
            ["test_a.py::test_a"],
            "{of_value}: {changes:?}"
        );
        assert!(changes.weakened.is_empty(), "{changes:?}");
    }
}

#[test]
fn parameters_that_are_gone_are_no_weaker_test() {
    let of_rows = |rows: &str| {
        format!(
            "import pytest\n\n@pytest.mark.parametrize('n', {rows})\ndef test_a(n):\n    assert f(n) == n\n"
        )
    };
    assert_eq!(of(&of_rows("[1, 2, 3]"), &of_rows("[2]")), Changes::default());
}

#[test]
fn inherited_tests_belong_to_each_class_that_has_them() {
    let base = "class Base:\n    def test_a(self):\n        assert f(1) == 2\n\nclass TestOne(Base):\n    pass\n\nclass TestTwo(Base):\n    pass\n";
    let changes = of(base, &base.replace("f(1) == 2", "f(1)"));
    assert_eq!(
        ids(&changes.weakened),
        ["test_a.py::TestOne::test_a", "test_a.py::TestTwo::test_a"]
    );
}

#[test]
fn a_file_that_is_no_python_is_named_and_the_others_are_compared() {
    let mut base = crate::Snapshot::default();
    base.add("test_a.py", "def test_a(:\n");
    assert_eq!(base.unread(), ["test_a.py"]);
}

#[test]
fn a_test_that_lost_half_of_itself_under_a_new_name_is_the_same_and_weaker() {
    let head = TWO
        .replace("test_a", "test_ones")
        .replace("    assert x.two == 3\n", "");
    let changes = of(TWO, &head);
    assert_eq!(changes.renamed.len(), 1, "{changes:?}");
    assert_eq!(ids(&changes.weakened), ["test_a.py::test_ones"]);
    assert!(changes.removed.is_empty() && changes.added.is_empty());
}
