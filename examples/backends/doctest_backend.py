#!/usr/bin/env python3
"""A qaas backend for Python's doctest, with nothing but the standard library.

Copy it into a repository and name it in qaas.toml:

    [suite.docs]
    backend = "doctest"

    [backend.doctest]
    kind = "exec"
    path = "tools/doctest_backend.py"

qaas starts it as `doctest_backend.py serve` and asks one question a line. It answers what to run (`plan`) and what the
output means (`read`, `finish`); it starts nothing itself.
"""
import json
import os
import sys

# What is run by the project's own Python, in the project's folder. Its standard input is a private socket to qaas:
# whatever the examples print cannot come between its lines.
RUNNER = '''
import doctest, importlib.util, json, os, sys, time

def tell(event, **fields):
    os.write(0, (json.dumps({"event": event, **fields}) + "\\n").encode())

def files(word):
    if os.path.isfile(word):
        yield word
    for folder, folders, names in os.walk(word):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "_")) and f != "node_modules"
                            and not os.path.exists(os.path.join(folder, f, "pyvenv.cfg")))
        yield from (os.path.normpath(os.path.join(folder, n)) for n in sorted(names) if n.endswith(".py"))

def module(path):
    name = os.path.splitext(path)[0].replace(os.sep, ".")
    spec = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found

def run(test, nodeid):
    text, begun = [], time.monotonic()
    tell("started", nodeid=nodeid)
    result = doctest.DocTestRunner(verbose=False).run(test, out=text.append)
    skipped = all(example.options.get(doctest.SKIP) for example in test.examples)
    outcome = "failed" if result.failed else "skipped" if skipped else "passed"
    tell("finished", nodeid=nodeid, outcome=outcome, duration_s=time.monotonic() - begun,
         **({"message": "".join(text)} if text else {}))
    return result.failed

sys.path.insert(0, os.getcwd())
failed = 0
for word in sys.argv[2:] or ["."]:
    wanted, _, name = word.partition("::")
    for path in files(wanted):
        try:
            tests = doctest.DocTestFinder().find(module(path))
        except BaseException as error:
            tell("collect_failed", nodeid=path, message=f"{type(error).__name__}: {error}")
            failed += 1
            continue
        for test in sorted((t for t in tests if t.examples and name in ("", t.name)), key=lambda t: t.lineno or 0):
            nodeid = f"{path}::{test.name}"
            if sys.argv[1] == "list":
                tell("found", nodeid=nodeid, location={"file": path, "line": (test.lineno or 0) + 1})
            else:
                failed += bool(run(test, nodeid))
tell("ended")
sys.exit(1 if failed else 0)
'''
readers = {}


def initialize(protocol, **_):
    if not protocol["min"] <= 1 <= protocol["max"]:
        raise ValueError(f"this backend speaks protocol 1, the host {protocol}")
    info = {"name": "doctest", "framework": "doctest", "language": "python",
            "capabilities": ["run", "list", "single", "stream"], "needs": ["python"]}
    return {"protocol": 1, "info": info}


def plan(request, project, **_):
    for name in ("markers", "workers", "extra_args"):
        if request[name]:
            raise ValueError(f"doctest knows no {name}")
    words = [s["path"] + s.get("rest", "") for s in request["selection"]["selectors"] if s["kind"] != "keyword"]
    step = {"name": "doctest", "program": project["interpreter"]["path"], "cwd": request["cwd"], "channel": True,
            "args": [os.path.join(request["scratch"], "runner.py"), request["mode"], *(words or request["paths"])]}
    return {"files": [{"path": "runner.py", "contents": RUNNER}], "steps": [step]}


def open_reader(reader, **_):
    readers[reader] = {"ended": False, "tests": 0}


def event_of(line):
    try:
        event = json.loads(line)
        if event == {"event": "ended"} or isinstance(event["event"], str) and isinstance(event["nodeid"], str):
            return event
    except (ValueError, TypeError, KeyError):
        pass
    return {"event": "warning", "message": f"a line that the runner did not write: {line[:80]}"}


def read(reader, lines, **_):
    events = [event_of(line) for batch in lines if batch["stream"] == "channel" for line in batch["lines"]]
    readers[reader]["ended"] |= any(event["event"] == "ended" for event in events)
    readers[reader]["tests"] += sum(event["event"] in ("found", "finished") for event in events)
    return {"events": [event for event in events if event["event"] != "ended"]}


def finish(reader, exits, **_):
    state, code = readers.pop(reader), exits[-1].get("code") if exits else None
    if not state["ended"]:
        return {"ending": {"kind": "cut", "exit": "other", "reason": f"doctest did not end by itself (exit code {code})"}}
    if not state["tests"] and code == 0:
        return {"ending": {"kind": "no_tests", "exit": "no_tests", "reason": "there are no doctests here"}}
    return {"ending": {"kind": "completed", "exit": {0: "ok", 1: "tests_failed"}.get(code, "other")}}


METHODS = {"initialize": initialize, "plan": plan, "open": open_reader, "read": read, "finish": finish}


def answer(call):
    method = METHODS.get(call["method"], lambda **_: None)
    try:
        return {"result": method(**call.get("params", {}))}
    except Exception as error:
        return {"error": {"code": -32000, "message": f"{type(error).__name__}: {error}"}}


if "QAAS_BACKEND_COOKIE" not in os.environ:
    print("This is a qaas backend: install it with `qaas backend add`, or see docs/backends.md of qaas.", file=sys.stderr)
    sys.exit(2)
for line in sys.stdin:
    call = json.loads(line)
    print(json.dumps({"jsonrpc": "2.0", "id": call["id"], **answer(call)}), flush=True)
