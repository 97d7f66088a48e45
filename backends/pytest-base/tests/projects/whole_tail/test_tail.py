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


def test_passes():
    print(TAIL)


def test_fails():
    print(TAIL)
    assert 0


def test_after():
    print(TAIL, end="")
