import pytest


def test_passes():
    pass


def test_fails():
    assert "long" == "short"


@pytest.mark.skip(reason="why")
def test_skips():
    pass
