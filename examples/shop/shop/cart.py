"""A cart of priced things."""

from shop import money


class Cart:
    def __init__(self) -> None:
        self.prices: list[int] = []

    def add(self, price: str) -> None:
        self.prices.append(money.parse(price))

    def total(self) -> int:
        return sum(self.prices)
