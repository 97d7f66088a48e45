INNER = """\
============================= test session starts ==============================
collected 2 items

inner.py::test_one PASSED                                                [1/2]
inner.py::test_two FAILED                                                [2/2]

=================================== FAILURES ===================================
___________________________________ test_two ___________________________________
>   assert 0
E   assert 0

inner.py:3: AssertionError
=========================== short test summary info ============================
PASSED inner.py::test_one
FAILED inner.py::test_two - assert 0
========================= 1 failed, 1 passed in 0.01s =========================="""


def test_one():
    print(INNER)
    assert INNER == ""


def test_two():
    print(INNER)
