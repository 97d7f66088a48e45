"""No example in here."""
