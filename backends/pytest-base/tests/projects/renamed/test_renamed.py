import pytest


def test_passes():
    pass


def test_fails():
    assert 0


def test_skips():
    pytest.skip("why")
