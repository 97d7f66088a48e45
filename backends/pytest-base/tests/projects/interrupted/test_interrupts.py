def test_first():
    pass


def test_second():
    raise KeyboardInterrupt


def test_third():
    pass
