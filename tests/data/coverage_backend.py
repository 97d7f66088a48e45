#!/usr/bin/env python3
"""A coverage backend: adds a step that leaves a file, and reads that file."""
import base64
import json
import sys

contents = b""


def handle(method, params):
    global contents
    if method == "initialize":
        return {"protocol": 1, "info": {"name": "cov", "capabilities": ["coverage"]}}
    if method == "wrap":
        scratch, plan = params["request"]["scratch"], params["plan"]
        command = f"head -c 3000000 /dev/zero > {scratch}/report; echo 62.5 >> {scratch}/report"
        plan["steps"].append({"name": "measure", "program": "/bin/sh", "args": ["-c", command],
                              "cwd": params["request"]["cwd"], "always": True})
        plan["artifacts"] = plan.get("artifacts", []) + [{"name": "report", "path": f"{scratch}/report"}]
        return plan
    if method == "read":
        return {"events": []}
    if method == "artifact" and params["name"] == "report":
        assert params["state"] == "bytes", params["state"]
        contents += base64.b64decode(params["base64"])
    if method == "finish":
        percent = float(contents.strip(b"\0"))
        file = {"path": "one.txt", "percent": percent, "covered_lines": 5, "statements": 8, "missing_lines": [2, 3, 7]}
        return {"events": [{"event": "coverage", "percent": percent, "files": [file]}],
                "ending": {"kind": "completed", "exit": "ok"}}
    return None


for line in sys.stdin:
    call = json.loads(line)
    answer = {"jsonrpc": "2.0", "id": call["id"], "result": handle(call["method"], call.get("params", {}))}
    print(json.dumps(answer), flush=True)
