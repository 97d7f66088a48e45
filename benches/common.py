"""What the benchmarks share: small generated suites, measured children, medians of interleaved pairs."""
import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path


def suite(folder: Path, tests: int, per_file: int = 500, failing: int = 0) -> Path:
    """A repository of trivial tests; the first `failing` of them fail."""
    (folder / "tests").mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    for start in range(0, tests, per_file):
        lines = []
        for number in range(start, min(start + per_file, tests)):
            body = f"assert {number} < 0" if number < failing else "pass"
            lines.append(f"def test_{number}():\n    {body}\n")
        (folder / "tests" / f"test_{start // per_file}.py").write_text("\n".join(lines))
    return folder


def environment(python: str, state: Path) -> dict:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST", "COVERAGE", "QAAS"))}
    env.update(VIRTUAL_ENV=str(Path(python).parent.parent), QAAS_STATE_DIR=str(state), PYTHONDONTWRITEBYTECODE="1")
    return env


def measured(argv: list, cwd: Path, env: dict) -> tuple[float, float]:
    """Wall and CPU seconds (all descendants) of one command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


def must(argv: list, cwd: Path, env: dict, says: str = "") -> None:
    """Runs a command that has to succeed, and to say something."""
    done = subprocess.run(argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode or says not in done.stdout:
        raise SystemExit(f"{argv}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def pairs(a: list, b: list, cwd: Path, env: dict, rounds: int) -> dict:
    """Runs two commands in turns; medians of each and of the paired ratios b/a."""
    measured(a, cwd, env), measured(b, cwd, env)  # warm the page cache
    rows = []
    for number in range(rounds):
        first, second = (a, b) if number % 2 == 0 else (b, a)
        one, two = measured(first, cwd, env), measured(second, cwd, env)
        rows.append((one, two) if number % 2 == 0 else (two, one))
    median = statistics.median
    return {
        "rounds": rounds,
        "wall_a_ms": round(median(r[0][0] for r in rows) * 1000, 1),
        "wall_b_ms": round(median(r[1][0] for r in rows) * 1000, 1),
        "wall_ratio": round(median(r[1][0] / r[0][0] for r in rows), 3),
        "wall_extra_ms": round(median(r[1][0] - r[0][0] for r in rows) * 1000, 1),
        "cpu_ratio": round(median(r[1][1] / max(r[0][1], 1e-6) for r in rows), 3),
    }


def folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory(prefix="qaas-bench-")
