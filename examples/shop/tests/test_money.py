import sys

import pytest

from shop import money


@pytest.mark.parametrize(
    ("text", "cents"),
    [("12.50", 1250), ("3", 300)],
    ids=["two decimals", "whole number"],
)
def test_parse(text, cents):
    assert money.parse(text) == cents


def test_share_adds_up():
    assert sum(money.share(100, 3)) == 100


@pytest.mark.skipif(sys.platform != "win32", reason="checks the Windows till")
def test_windows_till():
    raise AssertionError("not reached elsewhere")
