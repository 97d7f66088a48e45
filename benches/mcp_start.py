#!/usr/bin/env python3
"""From starting `qaas mcp` to its answer to `initialize`, and to `tools/list` after it. Medians, in milliseconds."""
import argparse
import json
import statistics
import subprocess
import time
from pathlib import Path

import common

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--qaas", required=True)
parser.add_argument("--rounds", type=int, default=60)
options = parser.parse_args()
qaas = str(Path(options.qaas).resolve())
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}

starts, lists = [], []
with common.folder() as base:
    root = common.suite(Path(base) / "repo", 1)
    env = common.environment("/nonexistent/bin/python", Path(base) / "state")
    for _ in range(options.rounds):
        began = time.perf_counter()
        server = subprocess.Popen([qaas, "mcp"], cwd=root, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def ask(message):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            server.stdin.flush()

        ask({"id": 1, "method": "initialize", "params": HELLO})
        server.stdout.readline()
        ready = time.perf_counter()
        ask({"method": "notifications/initialized"})
        ask({"id": 2, "method": "tools/list"})
        server.stdout.readline()
        lists.append((time.perf_counter() - ready) * 1000)
        starts.append((ready - began) * 1000)
        server.stdin.close()
        server.wait()
for name, values in (("initialize", starts), ("tools/list", lists)):
    values.sort()
    print(json.dumps({"what": name, "rounds": len(values), "median_ms": round(statistics.median(values), 2),
                      "min_ms": round(values[0], 2), "p95_ms": round(values[int(len(values) * 0.95) - 1], 2)}))
