"""Sums.

>>> 1 + 1
2
"""


def adds():
    """
    >>> print("finished")
    finished
    """


def fails():
    """
    >>> 1 + 1
    3
    """


def left_out():
    """
    >>> 1 / 0  # doctest: +SKIP
    """


class Odd:
    """
    >>> Odd().name
    'é $(touch owned) [a::b]'
    """

    name = "é $(touch owned) [a::b]"
