"""Runs unittest as `python -m unittest` does, and tells of its tests as they end on the channel.

Own options come first, then `--`, then unittest's own command line, which unittest itself takes apart.
"""
import argparse
import fnmatch
import os
import sys
import time
import traceback
import unittest

SCRATCH = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, SCRATCH)
from unittest_tell import CWD, Within, clean, is_in, place_of_error, place_of_test, send, summary_of, text_of_broken
from unittest_load import (
    base_of, chosen, id_around, id_of, is_broken, is_skipped_file, load_file, load_folder, load_named, name_all,
    names_around, path_of, pruned, tests_of,
)

DISCOVERY = ("-s", "-p", "-t", "--start-directory", "--pattern", "--top-level-directory")


class Result(unittest.TextTestResult):
    """What unittest prints, and each test's end on the channel."""

    most, tests = 0, []

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.found, self.began, self.running, self.told = [], 0.0, None, set()
        self.passed, self.failed, self.last = 0, 0, None

    def startTest(self, test, _now=time.perf_counter):
        super().startTest(test)
        self.found, self.running, self.last, self.began = [], test, test, _now()
        self.told.add(id(test))
        is_in(id_of(test))
        send(event="started", nodeid=id_of(test))

    def stopTest(self, test, _now=time.perf_counter):
        super().stopTest(test)
        # A test that was interrupted (SIGINT) has no outcome at all.
        if self.running is not None and self.found:
            self.tell(test, _now() - self.began)
        self.running = None

    def tell(self, test, seconds=None, nodeid=None):
        order = ["passed", "skipped", "xfailed", "error", "failed"]
        outcome = max((found[0] for found in self.found), key=order.index)
        texts = [text for _, text, _ in self.found if text]
        row = {"nodeid": nodeid or id_of(test), "outcome": outcome, "message": "\n".join(texts) or None}
        if outcome in ("failed", "error"):
            row["failures"] = [failure for _, _, failure in self.found if failure]
        if isinstance(test, unittest.TestCase):
            row["location"] = place_of_test(test)
        if seconds is not None:
            row["duration_s"] = seconds
        if is_skipped_file(test):
            row["phase"] = "collect"
        send(event="finished", **row)
        self.passed += outcome == "passed"
        self.failed += outcome in ("failed", "error")
        self.found = []
        bad = len(self.failures) + len(self.errors) + len(self.unexpectedSuccesses)
        if self.most and bad >= self.most:
            self.stop()

    def note(self, test, outcome, text=None, err=None):
        failure = None
        if outcome in ("failed", "error") and (text or "").strip():
            failure = {"phase": "call", "text": text, "summary": summary_of(err) if err else text}
            if err:
                failure["location"] = place_of_error(err)
        found = (outcome, text, failure)
        if isinstance(test, unittest.TestCase):
            self.found.append(found)
            if self.running is None:  # Python 3.12.0 and .1 skip a test without starting it
                self.told.add(id(test))
                self.tell(test)
            return
        if failure:
            failure["phase"] = "setup" if str(getattr(test, "description", "")).startswith("setUp") else "teardown"
        self.around(test, found)

    def around(self, holder, found):
        """What stands around tests (a class, a module) failed or skipped itself: its tests that cannot run any more."""
        words = str(getattr(holder, "description", holder))
        name = words.partition("(")[2].rstrip(")")
        left = [test for test in self.tests if id(test) not in self.told and name in names_around(test)]
        if words.startswith("setUp") and left:
            # Only the run of tests whose set-up it was: a class may be loaded by two files.
            file = id_of(left[0]).split("::")[0]
            for test in (test for test in left if id_of(test).split("::")[0] == file):
                self.told.add(id(test))
                self.found = [found]
                self.tell(test)
            return
        inside = [test for test in self.tests if id(test) in self.told and name in names_around(test)]
        self.found = [found]
        self.tell(holder, nodeid=id_around(inside[-1], name) if inside else name or words)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, "passed")

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, "failed" if isinstance(test, unittest.TestCase) else "error", self.errors[-1][1], err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, "failed", self.failures[-1][1], err)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, "skipped", str(reason))

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
            self.note(test, "failed", "%s\n%s" % (subtest._subDescription(), text), err)


def watched(method, whose):
    """A step of a suite's around its tests, of which is told what it is of while it runs."""

    def step(self, test, result):
        nodeid = whose(test, result) if isinstance(result, Result) else None
        if nodeid is None:
            return method(self, test, result)
        with Within(nodeid):
            return method(self, test, result)

    return step


def class_to_set_up(test, result):
    same = type(test) is getattr(result, "_previousTestClass", None) or not hasattr(type(test), "setUpClass")
    return None if same else id_around(test, names_around(test)[0])


def module_to_set_up(test, result):
    previous = getattr(result, "_previousTestClass", None)
    return None if getattr(previous, "__module__", None) == type(test).__module__ else id_of(test).split("::")[0]


def class_to_tear_down(test, result):
    previous, last = getattr(result, "_previousTestClass", None), result.last
    done = last is not None and previous is type(last) and previous is not type(test)
    return id_around(last, names_around(last)[0]) if done else None


STEPS = (("_handleClassSetUp", class_to_set_up), ("_handleModuleFixture", module_to_set_up), ("_tearDownPreviousClass", class_to_tear_down))
for name, whose in STEPS:
    if hasattr(unittest.TestSuite, name):
        setattr(unittest.TestSuite, name, watched(getattr(unittest.TestSuite, name), whose))


class Runner(unittest.TextTestRunner):
    resultclass = Result


class Program(unittest.TestProgram):
    def __init__(self, own, words):
        self.own, self.broken, self.top, self.start, self.pattern = own, {}, None, None, "test*.py"
        super().__init__(module=None, argv=["python -m unittest", *words], testRunner=Runner, exit=False)

    def createTests(self, from_discovery=False, Loader=None):
        argparse.ArgumentParser.error = refuse_plainly
        self.from_discovery, loader = from_discovery, self.testLoader
        loader.testNamePatterns = self.testNamePatterns or None
        if self.own.select:
            # Given once for each test, and loaded once for each file.
            files = list(dict.fromkeys(word.split("::")[0] for word in self.own.select))
            self.test = unittest.TestSuite([self.load(file) for file in files])
        elif not from_discovery and self.testNames:
            self.test = loader.suiteClass([load_named(loader, name, self.module) for name in self.testNames])
        else:
            super().createTests(from_discovery, Loader)
        name_all(self.test, self.file_of_module)
        self.narrow()

    def load(self, path):
        full = os.path.normpath(os.path.join(CWD, path))
        if os.path.isdir(full):
            return load_folder(self.testLoader, full, self.pattern, self.top_of(full))
        return load_file(self.testLoader, full, self.top_of(os.path.dirname(full)))

    def top_of(self, folder):
        """Where the names of a folder's modules begin: as the suite's own options say, else above its packages."""
        for top in (self.top, self.start if self.from_discovery else None):
            top = top and os.path.normpath(os.path.join(CWD, top))
            if top and top != CWD and (folder + os.sep).startswith(top + os.sep) or top == CWD and self.top:
                return top
        return base_of(folder)

    def narrow(self):
        ids = [id_of(test) for test in tests_of(self.test)]
        picked = None
        if any("::" in word for word in self.own.select):
            picked = set()
            for word in self.own.select:
                word = os.path.normpath(word.split("::")[0]) + word[len(word.split("::")[0]) :]
                folder = os.path.isdir(word)
                picked |= {one for one in ids if folder and one.startswith(word + "/")} or chosen(ids, word)

        def wanted(test):
            if is_broken(test):
                self.broken.setdefault(self.file_of_module(test), test)
                return False
            if self.own.keyword and not fnmatch.fnmatchcase(str(test.id()), self.own.keyword):
                return False
            return picked is None or id_of(test) in picked

        self.test = pruned(self.test, wanted)

    def file_of_module(self, test):
        """The file of a module that could not be loaded, or that skipped itself."""
        file = getattr(test, "_qaas_file", None)
        if file:
            return file
        folders = [word for word in self.own.select if os.path.isdir(word)] or [self.start or "."]
        tops = [self.top_of(os.path.normpath(os.path.join(CWD, folder))) for folder in folders]
        paths = [path_of(test._testMethodName, top) for top in [*tops, CWD]]
        return next((path for path in paths if path.endswith(".py")), test._testMethodName)

    def runTests(self):
        for nodeid, test in self.broken.items():
            send(event="collect_failed", nodeid=nodeid, message=text_of_broken(getattr(test, "_exception", test)))
        if self.own.list:
            for test in tests_of(self.test):
                send(event="found", nodeid=id_of(test), location=place_of_test(test))
            return
        Result.most, Result.tests = self.own.max_failures, list(tests_of(self.test))
        super().runTests()


def own_options():
    parser = argparse.ArgumentParser(prog="unittest_events")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--keyword")
    parser.add_argument("--max-failures", type=int, default=0)
    parser.add_argument("--select", action="append", default=[])
    split = sys.argv.index("--")
    own, words = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    if own.keyword and "*" not in own.keyword:
        own.keyword = "*%s*" % own.keyword
    if words and words[0].lower() != "discover" and any(word.startswith(DISCOVERY) for word in words):
        words.insert(0, "discover")
    return own, words


refuse_plainly = argparse.ArgumentParser.error


def refuse(self, message):
    """unittest does not understand its arguments."""
    send(event="ended", broken=message)
    refuse_plainly(self, message)


def main():
    own, words = own_options()
    sys.path.remove(SCRATCH)
    sys.path[0] = CWD
    sys.argv = ["python -m unittest", *words]
    argparse.ArgumentParser.error = refuse
    try:
        program = Program(own, words)
    except Exception as error:
        send(event="ended", broken=summary_of((type(error), error)))
        raise
    if own.list:
        send(event="ended")
        return 1 if program.broken else 0
    result = program.result
    send(event="ended", passed=result.passed, failed=result.failed + len(program.broken))
    if program.broken or not result.wasSuccessful():
        return 1
    return 0 if result.testsRun or result.skipped else 5


if __name__ == "__main__":
    sys.exit(main())
