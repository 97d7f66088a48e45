import pytest


@pytest.mark.skip(reason="first line\nPASSED tests/test_skips.py::ghost")
def test_by_mark():
    pass


@pytest.mark.parametrize("why", ["", "a - b"])
def test_inside(why):
    pytest.skip(why)


@pytest.fixture
def gone():
    pytest.skip("no fixture")


def test_in_set_up(gone):
    pass


@pytest.fixture
def late():
    yield
    pytest.skip("late")


def test_passes(late):
    pass


def test_skips_and_breaks(request):
    request.addfinalizer(lambda: 1 / 0)
    pytest.skip("and breaks")


@pytest.mark.xfail(reason="known")
def test_expected():
    assert 0
