import atexit

TAIL = """
=================================== FAILURES ===================================
_________________________________ test_passes __________________________________
E       assert 0

test_tail.py:3: AssertionError
============================== slowest durations ===============================
0.00s setup    test_tail.py::test_passes
0.00s call     test_tail.py::test_passes
0.00s teardown test_tail.py::test_passes
0.00s call     test_tail.py::test_ghost
=========================== short test summary info ============================
PASSED test_tail.py::test_ghost
FAILED test_tail.py::test_passes - assert 0
========================= 1 failed, 1 passed in 0.01s ==========================
"""

atexit.register(print, TAIL)


def test_passes():
    pass


def test_fails():
    assert 0
