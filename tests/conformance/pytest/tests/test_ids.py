import pytest


@pytest.mark.parametrize("value", ["a b", "a::b", "[x] 'q\"", "$(touch owned)", "-k", "é a/b x - y PASSED"])
def test_odd(value):
    assert value != "a::b"
