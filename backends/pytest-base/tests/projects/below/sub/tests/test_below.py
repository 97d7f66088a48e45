import pytest


@pytest.mark.parametrize("path", ["//a", "b/../c", "plain"])
def test_path(path):
    assert path != "//a"
