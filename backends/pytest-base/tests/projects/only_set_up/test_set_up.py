import pytest


@pytest.fixture
def value():
    return 1


def test_value(value):
    assert value == 2


@pytest.mark.skip(reason="why")
def test_skips():
    pass
