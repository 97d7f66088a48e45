#!/usr/bin/env python3
"""One trivial test: plain `python -m pytest` against run_single over a living `qaas mcp`, and 20 plain runs against
`qaas repeat -n 20`. In turns; medians of the paired ratios, above 1 where qaas is faster.

    benches/warm.py --qaas PROGRAM --python PYTHON [--pairs 20]
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import environment, suite

TEST = "tests/test_0.py::test_0"


class Server:
    """A client's end of `qaas mcp`."""

    def __init__(self, qaas: str, folder: Path, env: dict):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        self.process = subprocess.Popen([qaas, "mcp", "--root", folder], cwd=folder, env=env, **pipes)
        self.number = 0
        client = {"name": "bench", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message: dict) -> None:
        print(json.dumps(message), file=self.process.stdin, flush=True)

    def ask(self, method: str, params: dict) -> dict:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.number:
                return message["result"]
        raise SystemExit("the server ended")

    def run_single(self) -> tuple[float, str]:
        began = time.perf_counter()
        answer = self.ask("tools/call", {"name": "run_single", "arguments": {"test_id": TEST}})["structuredContent"]
        took = time.perf_counter() - began
        if answer.get("outcome") != "passed":
            raise SystemExit(f"not passed: {answer}")
        return took, answer["environment"]["start"]["how"]


def timed(words: list, folder: Path, env: dict) -> float:
    began = time.perf_counter()
    subprocess.run(words, cwd=folder, env=env, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def show(name: str, plain: list, qaas: list) -> None:
    ratios = [a / b for a, b in zip(plain, qaas)]
    median = statistics.median
    print(f"{name}: plain {median(plain) * 1e3:.0f} ms, qaas {median(qaas) * 1e3:.0f} ms, "
          f"ratio {median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), n = {len(ratios)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--qaas", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3, help="pairs of 20 runs each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = suite(Path(scratch) / "repository", 1)
        env = environment(options.python, Path(scratch) / "state")
        plain = [options.python, "-m", "pytest", "-q", TEST]
        server = Server(options.qaas, folder, env)
        server.run_single(), timed(plain, folder, env)
        rows, cold = [], 0
        for _ in range(options.pairs):
            one = timed(plain, folder, env)
            time.sleep(1)  # for the next process to start up: an agent thinks longer
            two, how = server.run_single()
            cold += how != "warm"
            rows.append((one, two))
            time.sleep(1)
        server.process.stdin.close()
        server.process.wait()
        show("one test", [row[0] for row in rows], [row[1] for row in rows])
        if cold:
            print(f"{cold} of them were cold")
        repeat = [options.qaas, "repeat", TEST, "-n", "20"]
        rows = []
        for _ in range(options.repeats):
            rows.append((sum(timed(plain, folder, env) for _ in range(20)), timed(repeat, folder, env)))
        if rows:
            show("20 runs", [row[0] for row in rows], [row[1] for row in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
