import logging

import pytest

log = logging.getLogger("service")


@pytest.fixture(autouse=True)
def around():
    log.info("PASSED the gate")
    yield
    log.info("FAILED to close")


def test_starts():
    log.warning("a.py::test_starts FAILED")


def test_stops():
    log.error("stopping")
    assert False


def test_idles():
    pytest.skip("idle")
