def test_kept():
    pass


def test_left_out():
    assert 0
