"""Says what an interpreter has: one line, a mark and JSON. Imports nothing but the standard library's own."""
import os
import sys

# The working folder may hold a `json.py`: nothing is imported from there.
sys.path[:] = [p for p in sys.path if p]
# PYTHONPATH may as well, so it comes as an argument: a place of packages, as it will be when the tests run.
given = [p for p in sys.argv[2].split(os.pathsep) if os.path.isabs(p)]

import json
from importlib import metadata

packages = {}
for found in metadata.distributions(path=given + sys.path):
    name = found.metadata["Name"]
    if name:
        packages.setdefault(name, found.version)
version = ".".join(str(part) for part in sys.version_info[:3])
sys.stdout.write("\n" + sys.argv[1] + json.dumps({"version": version, "packages": packages}) + "\n")
