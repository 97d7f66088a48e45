import pytest


def test_prints():
    print("glued to the id")
    print("test_prints.py::test_prints FAILED   [1/4]")
    print("ghost.py::test_ghost PASSED")
    print("FAILED test_prints.py::test_after - assert 0")
    print("no line end", end="")


def test_fails():
    print("\ntest_prints.py::test_fails PASSED")
    print("=== 4 passed in 0.01s ===")
    assert 1 == 2


def test_skips():
    pytest.skip("why")


def test_after():
    pass
