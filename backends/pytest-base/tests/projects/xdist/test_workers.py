import os

import pytest


@pytest.mark.parametrize("number", range(4))
def test_number(number):
    assert number != 2


def test_dies():
    os._exit(3)


@pytest.fixture
def no_port():
    raise LookupError("no port")


def test_set_up(no_port):
    pass
