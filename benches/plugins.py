#!/usr/bin/env python3
"""100,000 tests through the same backend built in, as a program, and as a library: paired medians.

The tests are lines of a file that `cat` prints, so that all the time is qaas's own.
"""
import argparse
import json
import shutil
from pathlib import Path

import common

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--qaas", required=True)
parser.add_argument("--plugins", required=True, help="where benches/plugins was built: .../release")
parser.add_argument("--rounds", type=int, default=9)
parser.add_argument("--tests", type=int, default=100_000)
options = parser.parse_args()
qaas = str(Path(options.qaas).resolve())
built = Path(options.plugins).resolve()

table = 'run = ["/bin/cat", "events.jsonl"]\nreport = { format = "events", path = "stdout" }\n'
config = '{ run = ["/bin/cat", "events.jsonl"], report = { format = "events", path = "stdout" } }'
qaas_toml = f"""
[suite.built-in]
backend = "built-in"
[suite.program]
backend = "program"
[suite.library]
backend = "library"
[backend.built-in]
kind = "command"
{table}
[backend.program]
kind = "exec"
path = "program"
config = {config}
[backend.library]
kind = "library"
path = "library"
config = {config}
"""


def library(folder: Path) -> Path:
    return next(path for path in folder.iterdir() if path.suffix in (".so", ".dylib") and "bench_library" in path.name)


with common.folder() as base:
    root = Path(base) / "repo"
    root.mkdir()
    (root / "qaas.toml").write_text(qaas_toml)
    shutil.copy(built / "bench-program", root / "program")
    shutil.copy(library(built), root / "library")
    with open(root / "events.jsonl", "w") as events:
        for number in range(options.tests):
            nodeid = f"tests/test_{number // 500}.py::test_{number}"
            events.write(json.dumps({"event": "started", "nodeid": nodeid}) + "\n")
            row = {"event": "finished", "nodeid": nodeid, "outcome": "passed", "duration_s": 0.001}
            events.write(json.dumps(row) + "\n")
        events.write('{"event": "ended"}\n')
    env = common.environment("/usr/bin/python3", Path(base) / "state")
    common.must([qaas, "trust", "--yes"], root, env)
    run = [qaas, "run", "--suite"]
    passed = f"{options.tests} passed"
    for suite in ("built-in", "program", "library"):
        common.must([*run, suite], root, env, passed)
    for suite in ("program", "library"):
        result = common.pairs([*run, "built-in"], [*run, suite], root, env, options.rounds)
        events = 2 * options.tests
        result["extra_us_per_event"] = round(result["wall_extra_ms"] * 1000 / events, 2)
        print(json.dumps({"tests": options.tests, "a": "built in", "b": suite, **result}))
