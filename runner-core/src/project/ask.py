"""Says what an interpreter has: one line, a mark and JSON. Imports nothing but the standard library's own."""
import os
import sys

# The working folder and PYTHONPATH may hold a `json.py`: nothing is imported from there. It counts as a place
# of packages, though, as it will when the tests run.
everything = [p for p in sys.path if p]
given = [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep)]
sys.path[:] = [p for p in everything if os.path.abspath(p) not in given]

import json
from importlib import metadata

packages = {}
for found in metadata.distributions(path=everything):
    name = found.metadata["Name"]
    if name:
        packages.setdefault(name, found.version)
version = ".".join(str(part) for part in sys.version_info[:3])
sys.stdout.write("\n" + sys.argv[1] + json.dumps({"version": version, "packages": packages}) + "\n")
