def test_first():
    pass


def test_second():
    assert 0


def test_third():
    pass
