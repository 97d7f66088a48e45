import pytest


@pytest.fixture
def broken():
    raise RuntimeError("no\nset-up")


@pytest.fixture
def late():
    yield
    assert 0


def test_bell():
    pass


def test_return():
    assert 0


def test_passes():
    pass


def test_fails():
    assert 0, "with\nlines"


def test_in_set_up(broken):
    pass


def test_in_teardown(late):
    pass


@pytest.mark.xfail(reason="one\nday")
def test_unexpected(late):
    pass
