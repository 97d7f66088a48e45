from pkg import helper


def test_never():
    pass
