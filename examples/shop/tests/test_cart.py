from shop.cart import Cart


def test_total():
    cart = Cart()
    cart.add("1.25")
    cart.add("2")
    assert cart.total() == 325
