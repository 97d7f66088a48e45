"""Amounts of money, in cents."""


def parse(text: str) -> int:
    """Cents from text such as "12.50" or "12"."""
    whole, _, cents = text.strip().partition(".")
    return int(whole) * 100 + int((cents or "0").ljust(2, "0"))


def share(total: int, people: int) -> list[int]:
    """Splits an amount so that the parts add up to it."""
    part = total // people
    return [part] * people  # the remainder is lost: the mistake
