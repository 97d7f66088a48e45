"""A small shop, with one mistake in it for qaas to find."""
