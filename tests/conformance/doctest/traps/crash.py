import os


def a_before():
    """
    >>> 1
    1
    """


def ends_its_process():
    """
    >>> os._exit(0)
    """
