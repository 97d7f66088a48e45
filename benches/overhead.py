#!/usr/bin/env python3
"""What `qaas run` costs beyond plain `python -m pytest -q`, on suites of several sizes and with each backend."""
import argparse
import json
import os
from pathlib import Path

import common

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--qaas", required=True)
parser.add_argument("--python", required=True)
parser.add_argument("--rounds", type=int, default=15)
parser.add_argument("--sizes", type=int, nargs="*", default=[1, 1000])
parser.add_argument("--backends", nargs="*", default=["pytest-events", "pytest-json", "pytest-terminal"])
options = parser.parse_args()
qaas = str(Path(options.qaas).resolve())
# Absolute, but never resolved: a virtual environment's interpreter is a link.
options.python = os.path.abspath(options.python)

for size in options.sizes:
    with common.folder() as base:
        root = common.suite(Path(base) / "repo", size)
        env = common.environment(options.python, Path(base) / "state")
        plain = [options.python, "-m", "pytest", "-q"]
        for backend in options.backends:
            ours = [qaas, "run", "--backend", backend]
            result = common.pairs(plain, ours, root, env, options.rounds)
            print(json.dumps({"tests": size, "a": "pytest -q", "b": f"qaas run ({backend})", **result}))
