import sys

# As with a terminal, or an environment variable, of another encoding.
sys.__stdout__.reconfigure(encoding="latin-1")
