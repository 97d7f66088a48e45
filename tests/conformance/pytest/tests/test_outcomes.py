import warnings

import pytest


@pytest.fixture
def broken_set_up():
    raise RuntimeError("no set-up")


@pytest.fixture
def broken_tear_down():
    yield
    raise RuntimeError("no tear-down")


def test_passes():
    print("PASSED tests/test_outcomes.py::test_forged")
    warnings.warn("of no weight")


def test_fails():
    assert 1 + 1 == 3, "not a sum"


def test_error(broken_set_up):
    pass


def test_passes_and_tears_down_badly(broken_tear_down):
    pass


@pytest.mark.skip(reason="not here")
def test_skipped():
    pass


@pytest.mark.xfail(reason="known")
def test_xfailed():
    assert False


@pytest.mark.xfail(reason="not any more")
def test_xpassed():
    pass


class TestGroup:
    def test_passes(self):
        pass
