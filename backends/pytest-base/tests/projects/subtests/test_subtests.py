import pytest


def test_some(subtests):
    for number in range(3):
        with subtests.test("step", number=number):
            assert number != 1


def test_skips_one(subtests):
    with subtests.test("skipped"):
        pytest.skip("not this")
    with subtests.test("fine"):
        pass
