import pytest


def test_passes():
    pass


def test_fails():
    assert 0


@pytest.mark.skip(reason="not now")
def test_skips():
    pass


@pytest.fixture
def late():
    yield
    assert 0


def test_torn(late):
    pass
