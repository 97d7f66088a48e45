import warnings

import pytest


@pytest.fixture
def no_database():
    raise RuntimeError("no database")


@pytest.fixture
def sticky():
    yield
    raise RuntimeError("closing failed")


def test_ok():
    print("printed and not shown")


@pytest.mark.parametrize("text", ["two words", "left - right", "tail ", "a::b", "x[1][2]", "//a/../b", "PASSED", "żółć"])
def test_text(text):
    assert " - " not in text, "no dashes - please"


def test_set_up(no_database):
    pass


def test_tear_down(sticky):
    pass


def test_both(sticky):
    print("printed before\n=== 7 passed in 0.01s ===\nit failed")
    assert [1, 2] == [1, 3]


def test_skips():
    pytest.skip("a reason that is much too long for what is left of its progress line")


@pytest.mark.skip(reason="marked")
def test_marked():
    pass


@pytest.mark.xfail(reason="known - since long")
def test_known():
    assert 0


@pytest.mark.xfail(reason="mended")
def test_mended():
    pass


@pytest.mark.xfail(strict=True, reason="strict")
def test_strict():
    pass


class TestClass:
    def test_warns(self):
        warnings.warn("old")
