#!/usr/bin/env python3
"""A backend that does one thing wrong. What, stands in MODE, which the tests fill in; `MARK` is a file it leaves."""
import json
import os
import signal
import subprocess
import sys
import time

MODE = "{mode}"
MARK = "{mark}"
# A run prints three lines; each is a passed test. The pause lets a first batch come before the rest.
SCRIPT = "echo one; echo two; sleep 0.3; echo three" + ("; sleep 300" if MODE.startswith("forever_") else "")


def mark():
    with open(MARK, "a") as file:
        file.write(f"{os.getpid()}\n")


def send(text):
    sys.stdout.buffer.write(text if isinstance(text, bytes) else text.encode())
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def reply(call, result):
    send(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}))


def hang():
    print("about to hang", file=sys.stderr, flush=True)
    open(MARK + ".hangs", "w").close()
    time.sleep(600)


def misbehave(call):
    """What is wrong with the answer to `call`. Whether it has been answered thereby."""
    method, where = call["method"], MODE.partition("_in_")
    if where[1] and where[2] == method:
        kinds = {"hang": hang, "segv": lambda: os.kill(os.getpid(), signal.SIGSEGV), "exit": lambda: sys.exit(3)}
        kinds["raise"] = lambda: [][0]
        kinds[where[0].removeprefix("forever_")]()
    if method != "read":
        return False
    if MODE == "dies_talking":
        for number in range(40):
            print(f"clue {number}", file=sys.stderr)
        sys.exit(3)
    elif MODE == "not_json":
        send("I think it passed")
    elif MODE == "not_utf8":
        send(b'{"jsonrpc": "2.0", "id": \xff}')
    elif MODE == "wrong_id":
        send(json.dumps({"jsonrpc": "2.0", "id": 4000, "result": {"events": []}}))
    elif MODE == "long_line":
        send(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": {"events": [], "x": "x" * 20_000_000}}))
    elif MODE == "closes_stdout":
        os.close(1)
        time.sleep(600)
    elif MODE == "half_an_answer":
        sys.stdout.write('{"jsonrpc": "2.0", "id": ')
        sys.stdout.flush()
        time.sleep(600)
    elif MODE == "no_such_shape":
        reply(call, {"events": [{"event": "finished", "nodeid": "one"}]})
    elif MODE == "unknown_outcome":
        reply(call, {"events": [{"event": "finished", "nodeid": "one", "outcome": "splendid"}]})
    else:
        return False
    return True


def handle(call):
    method, params = call["method"], call.get("params", {})
    if method == "initialize":
        more = {"everything": ["list", "single", "keyword", "stream"], "flies": ["fly"], "names": ["single", "names"]}
        capabilities = ["run", *more.get(MODE, [])]
        reply(call, {"protocol": 9 if MODE == "future" else 1,
                     "info": {"name": "whoever", "framework": "lines", "capabilities": capabilities}})
    elif method == "plan":
        step = {"name": "lines", "program": "/bin/sh", "args": ["-c", SCRIPT], "cwd": params["request"]["cwd"]}
        reply(call, {"steps": [step]})
    elif method == "read":
        names = [line for batch in params["lines"] for line in batch["lines"]]
        reply(call, {"events": [{"event": "finished", "nodeid": name, "outcome": "passed"} for name in names]})
        if MODE == "twice":
            reply(call, {"events": []})
    elif method == "finish":
        reply(call, {"events": [], "ending": {"kind": "completed", "exit": "ok"}})
    else:
        reply(call, None)


mark()
if MODE == "stranger":
    send("Welcome to the best backend!")
elif MODE == "silent":
    sys.exit(0)
elif MODE == "flood":
    for _ in range(2_000):
        sys.stderr.write("noise " * 4_000 + "\n")
elif MODE == "leaves_child":
    subprocess.Popen(["setsid", "sleep", "617"])
elif MODE == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)

for line in sys.stdin:
    call = json.loads(line)
    if MODE == "past" and call["method"] == "initialize":
        error = {"code": -32001, "message": "this backend speaks protocol 7 to 8"}
        send(json.dumps({"jsonrpc": "2.0", "id": call["id"], "error": error}))
    elif not misbehave(call):
        handle(call)
if MODE == "stubborn":
    time.sleep(600)
