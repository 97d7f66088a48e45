TRIES = []


def test_recovers():
    TRIES.append(1)
    assert len(TRIES) == 3


def test_never():
    assert 0
