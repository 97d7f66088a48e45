"""What plain pytest says of each test, from its own reports, as JSON in the file $ROWS: `rows` (nodeid -> outcome),
`either` (nodeids that may as well be an error), `collectors` (those that failed or were skipped) and the `exit` code.
"""

import json
import os

phases = {}
collectors = {}
parts = set()  # of subtests that failed


def pytest_collectreport(report):
    if not report.passed:
        collectors[report.nodeid] = "error" if report.failed else "skipped"


def pytest_runtest_logreport(report):
    if type(report).__name__.lower() == "subtestreport":
        if report.failed:
            parts.add(report.nodeid)
        return
    # The last try of a test that is run again counts.
    tries = phases.setdefault(report.nodeid, {})
    if report.when == "setup":
        tries.clear()
    outcome = report.outcome
    if hasattr(report, "wasxfail"):
        outcome = {"skipped": "xfailed", "passed": "xpassed"}.get(outcome, outcome)
    tries[report.when] = outcome


def outcome_of(nodeid):
    """The outcome, and whether a failed teardown came on top of a failed call."""
    setup, call, teardown = (phases[nodeid].get(phase) for phase in ("setup", "call", "teardown"))
    if setup == "failed":
        return "error", False
    if call == "failed" or not (setup or call) or nodeid in parts:  # a worker of xdist died: neither is known
        return "failed", teardown == "failed"
    if teardown == "failed":
        return "error", False
    return call or setup, False


def pytest_sessionfinish(session, exitstatus):
    if hasattr(session.config, "workerinput") or "ROWS" not in os.environ:
        return
    told = {nodeid: outcome_of(nodeid) for nodeid in phases}
    record = {
        "rows": {nodeid: outcome for nodeid, (outcome, _) in told.items()},
        "either": [nodeid for nodeid, (_, either) in told.items() if either],
        "collectors": collectors,
        "exit": int(exitstatus),
    }
    with open(os.environ["ROWS"], "w") as file:
        json.dump(record, file)
