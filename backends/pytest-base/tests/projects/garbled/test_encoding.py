def test_plain():
    pass


def test_großes():
    pass


def test_kleines_ß():
    assert 0
