import time


def test_before():
    pass


def test_hangs():
    while True:
        time.sleep(60)
