#!/usr/bin/env python3
"""30,000 tests, 300 of them failing: peak memory of qaas itself, size of an agent's answer, CPU against plain pytest."""
import argparse
import json
import os
import subprocess
import threading
import time
from pathlib import Path

import common

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--qaas", required=True)
parser.add_argument("--python", required=True)
parser.add_argument("--tests", type=int, default=30_000)
parser.add_argument("--failing", type=int, default=300)
parser.add_argument("--backend", default="pytest-events")
options = parser.parse_args()
qaas = str(Path(options.qaas).resolve())
# Absolute, but never resolved: a virtual environment's interpreter is a link.
options.python = os.path.abspath(options.python)


def peak_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


with common.folder() as base:
    root = common.suite(Path(base) / "repo", options.tests, failing=options.failing)
    env = common.environment(options.python, Path(base) / "state")
    plain = common.measured([options.python, "-m", "pytest", "-q", "--tb=short"], root, env)
    arguments = json.dumps({"timeout_s": 900})
    began = time.perf_counter()
    process = subprocess.Popen([qaas, "call", "run_suite", "--backend", options.backend, "--args", arguments],
                               cwd=root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    answer = []
    reader = threading.Thread(target=lambda: answer.append(process.stdout.read()))
    reader.start()
    peak = 0.0
    while process.poll() is None:
        try:
            peak = max(peak, peak_mib(process.pid))
        except OSError:
            break
        time.sleep(0.05)
    reader.join()
    totals = json.loads(answer[0]).get("totals")
    print(json.dumps({"tests": options.tests, "backend": options.backend, "peak_mib": round(peak, 1),
                      "answer_bytes": len(answer[0]), "totals": totals, "wall_s": round(time.perf_counter() - began, 1),
                      "pytest_wall_s": round(plain[0], 1), "pytest_cpu_s": round(plain[1], 1)}))
