import pytest


@pytest.fixture
def late():
    yield
    assert 0


@pytest.mark.xfail(reason="one day")
def test_passes_unexpectedly(late):
    pass


@pytest.mark.xfail(reason="one day")
def test_fails_as_expected(late):
    assert 0


def test_gives_up_late():
    pass


@pytest.fixture(autouse=True)
def skips(request):
    yield
    if request.node.name == "test_gives_up_late":
        pytest.skip("nothing to clean")
