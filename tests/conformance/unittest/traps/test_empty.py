"""No test in here."""
