def pytest_itemcollected(item):
    item._nodeid += {
        "test_bell": "\x07",
        "test_return": "\r",
    }.get(item.name, "\n- first step\n- second step")
