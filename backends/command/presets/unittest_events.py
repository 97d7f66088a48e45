"""Runs unittest and tells of its tests as they end, one JSON object a line, on the channel (standard input)."""
import argparse
import fnmatch
import json
import os
import sys
import time
import traceback
import unittest

CWD = os.getcwd()
channel = os.dup(0)
null = os.open(os.devnull, os.O_RDONLY)
os.dup2(null, 0)


def send(_write=os.write, _dumps=json.dumps, **event):
    data = (_dumps(event) + "\n").encode()
    while data:
        data = data[_write(channel, data) :]


def file_of(module):
    path = getattr(sys.modules.get(module), "__file__", None) or module
    inside = os.path.relpath(path, CWD)
    return (path if inside.startswith("..") else inside).replace(os.sep, "/")


def id_of(test):
    cls = type(test)
    if isinstance(test, unittest.TestCase):
        name = getattr(test, "_testMethodName", None) or str(test)
        return "::".join([file_of(cls.__module__), *cls.__qualname__.split("."), name])
    # Stands for a class or module whose set-up or tear-down failed: `setUpClass (module.Class)`.
    name = str(getattr(test, "description", test)).partition("(")[2].rstrip(")")
    parts = name.split(".")
    known = [n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in sys.modules]
    return "::".join([file_of(".".join(parts[: known[0]])), *parts[known[0] :]]) if known else str(test)


def tests_of(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_of(test)
        else:
            yield test


class Result(unittest.TestResult):
    def __init__(self, most, tests):
        super().__init__()
        self.most, self.tests, self.found, self.began = most, tests, [], 0.0

    def startTest(self, test):
        super().startTest(test)
        self.found, self.began = [("passed", None)], time.perf_counter()
        send(event="started", nodeid=id_of(test))

    def stopTest(self, test):
        super().stopTest(test)
        self.tell(test, time.perf_counter() - self.began)

    def tell(self, test, seconds=None, nodeid=None):
        order = ["passed", "skipped", "xfailed", "error", "failed"]
        outcome = max((outcome for outcome, _ in self.found), key=order.index)
        texts = [text for _, text in self.found if text]
        row = {"nodeid": nodeid or id_of(test), "outcome": outcome, "message": "\n".join(texts) or None}
        if outcome in ("failed", "error"):
            row["failures"] = [
                {"phase": "call", "text": text, "summary": text.strip().splitlines()[-1]} for text in texts if text.strip()
            ]
        if seconds is not None:
            row["duration_s"] = seconds
        send(event="finished", **row)
        self.found = []
        bad = len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)
        if self.most and bad >= self.most:
            self.stop()

    def note(self, test, outcome, text=None):
        running = isinstance(test, unittest.TestCase) and self.found
        self.found = [*self.found, (outcome, text)] if running else [(outcome, text)]
        if running:
            return
        nodeid, found = id_of(test), self.found
        inside = [i for i in map(id_of, self.tests) if i.startswith(nodeid + "::")]
        set_up = str(getattr(test, "description", "")).startswith("setUp")
        # Tests that cannot run because what stands around them was not set up.
        for one in inside if set_up and inside else [nodeid]:
            self.found = found
            self.tell(test, nodeid=one)

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "error" if not isinstance(test, unittest.TestCase) else "failed", self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed", self.failures[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.note(test, "xfailed", self.expectedFailures[-1][1])

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, "failed", "Unexpected success")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            text = "".join(traceback.format_exception(*err))
            self.found.append(("failed", "%s\n%s" % (subtest._subDescription(), text)))


def base_of(folder):
    while os.path.exists(os.path.join(folder, "__init__.py")) and folder != CWD:
        folder = os.path.dirname(folder)
    return folder


def load(loader, word):
    path, *names = word.split("::")
    full = os.path.join(CWD, path)
    if os.path.isdir(full):
        return loader.discover(full, top_level_dir=base_of(full))
    base = base_of(os.path.dirname(full))
    sys.path.insert(0, base)
    module = os.path.relpath(os.path.splitext(full)[0], base).replace(os.sep, ".")
    return loader.loadTestsFromName(".".join([module, *names]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keyword")
    parser.add_argument("--max-failures", type=int, default=0)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    sys.path[0] = CWD
    loader = unittest.TestLoader()
    tests, broken = [], {}
    for word in options.words or ["."]:
        for test in tests_of(load(loader, word)):
            if type(test).__name__ == "_FailedTest":
                name = test._testMethodName.replace(".", "/") + ".py"
                broken[word.split("::")[0] if os.path.isfile(word.split("::")[0]) else name] = test
            elif not options.keyword or fnmatch.fnmatchcase(test.id(), "*%s*" % options.keyword):
                tests.append(test)
    for nodeid, test in broken.items():
        text = str(getattr(test, "_exception", test))
        send(event="collect_failed", nodeid=nodeid, message=text)
    if options.list:
        for test in tests:
            send(event="found", nodeid=id_of(test))
        send(event="ended")
        return 1 if broken else 0
    result = Result(options.max_failures, tests)
    unittest.TestSuite(tests).run(result)
    send(event="ended")
    if not result.testsRun and not result.skipped and not result.errors and not broken:
        return 5
    return 0 if result.wasSuccessful() and not broken else 1


sys.exit(main())
