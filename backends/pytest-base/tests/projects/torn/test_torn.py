import os

import pytest


@pytest.fixture(scope="module")
def held():
    yield
    os._exit(1)


def test_first(held):
    pass


def test_second(held):
    pass
