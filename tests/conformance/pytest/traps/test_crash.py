import os


def test_before():
    pass


def test_ends_its_process():
    os._exit(0)


def test_after():
    pass
