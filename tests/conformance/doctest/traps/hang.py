import time


def a_before():
    """
    >>> 1
    1
    """


def hangs():
    """
    >>> time.sleep(600)
    """
