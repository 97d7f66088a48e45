"""Runs unittest as `python -m unittest` does, and tells of its tests as they end on the channel (standard input).

Own options come first, then `--`, then unittest's own command line, which unittest itself takes apart. A test's id
begins with the file that loads it, so that what a file inherits, imports or makes (`load_tests`, doctests) is its own.
"""
import argparse
import faulthandler
import fnmatch
import inspect
import json
import os
import signal
import sys
import time
import traceback
import unittest

CWD = os.getcwd()
PID = os.getpid()
SCRATCH = os.path.dirname(os.path.abspath(__file__))
SIDES = ("site-packages", "dist-packages")
DISCOVERY = ("-s", "-p", "-t", "--start-directory", "--pattern", "--top-level-directory")
channel = os.dup(0)
null = os.open(os.devnull, os.O_RDONLY)
os.dup2(null, 0)


def clean(value):
    """Strings as UTF-8 can have them: half a surrogate pair (a file name that is no UTF-8) is no JSON."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {key: clean(item) for key, item in value.items()}
    return value


def send(_write=os.write, _dumps=json.dumps, _getpid=os.getpid, **event):
    if _getpid() != PID:  # a test that forked and went on: its parent speaks
        return
    data = (_dumps(clean(event)) + "\n").encode()
    while data:
        data = data[_write(channel, data) :]


def stack_file():
    """The file into which this process's stacks go when the time limit comes; behind the id of the test it was in."""
    try:
        path = os.path.join(SCRATCH, "stack-%d" % PID)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        faulthandler.register(signal.SIGRTMAX - 3, file=file, all_threads=True, chain=False)
        return file
    except (AttributeError, OSError, ValueError, RuntimeError):  # no such signals here (macOS)
        return None


def relative(path):
    inside = os.path.relpath(path, CWD)
    return (path if inside.startswith("..") else inside).replace(os.sep, "/")


def file_of(module):
    return relative(getattr(sys.modules.get(module), "__file__", None) or module)


def tests_of(suite):
    if isinstance(suite, unittest.TestCase) or not hasattr(suite, "__iter__"):
        yield suite
    else:
        for test in suite:
            yield from tests_of(test)


def tag(suite, file):
    """Remembers which file loaded these tests; the innermost loader comes first and keeps them."""
    for test in tests_of(suite):
        if not hasattr(test, "_qaas_file"):
            try:
                test._qaas_file = relative(file)
            except AttributeError:
                pass


load_module = unittest.TestLoader.loadTestsFromModule


def load_tagged(self, module, *args, **kwargs):
    suite = load_module(self, module, *args, **kwargs)
    if getattr(module, "__file__", None):
        tag(suite, module.__file__)
    return suite


# Whichever loader a `load_tests` takes, its tests are known by their files.
unittest.TestLoader.loadTestsFromModule = load_tagged


def name_of(test):
    """What a test is called in its file: class and method; what it calls itself, if it has no class of its own."""
    cls, method = type(test), getattr(test, "_testMethodName", None)
    if not method or isinstance(test, unittest.FunctionTestCase) or hasattr(test, "_dt_test"):
        return test.id() if hasattr(test, "id") else str(test)
    usual, given = "%s.%s.%s" % (cls.__module__, cls.__qualname__, method), test.id()
    # Scenarios of one method differ in what stands behind its name.
    more = given[len(usual) :] if given.startswith(usual) else ""
    return "::".join([*cls.__qualname__.split("."), method + more])


def name_all(suite):
    """Gives each test its id; namesakes are numbered in the order in which they are loaded."""
    seen = {}
    for test in tests_of(suite):
        file = getattr(test, "_qaas_file", None) or file_of(type(test).__module__)
        base = file + "::" + name_of(test)
        if type(test).__name__ == "ModuleSkipped":
            base = path_of(test._testMethodName, CWD)
        seen[base] = seen.get(base, 0) + 1
        nodeid = base if seen[base] == 1 else "%s[%d]" % (base, seen[base])
        try:
            test._qaas_id = nodeid
        except AttributeError:
            pass


def id_of(test):
    nodeid = getattr(test, "_qaas_id", None)
    return nodeid or "%s::%s" % (file_of(type(test).__module__), name_of(test))


def path_of(module, top):
    """The file of a module that could not be loaded."""
    for end in (".py", "/__init__.py"):
        path = os.path.join(top, module.replace(".", os.sep) + end)
        if os.path.exists(path):
            return relative(path)
    return module


def in_project(path):
    return path.startswith(CWD + os.sep) and not any(side in path.split(os.sep) for side in SIDES)


def place_of_error(err):
    """Where an error was raised: the innermost frame of the project."""
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(err[2])]
    inside = [place for place in places if in_project(os.path.abspath(place[0]))]
    if inside:
        return {"file": relative(os.path.abspath(inside[-1][0])), "line": inside[-1][1]}
    return None


def place_of_test(test):
    try:
        code = inspect.unwrap(getattr(type(test), test._testMethodName)).__code__
    except (AttributeError, ValueError):
        return None
    path = os.path.abspath(code.co_filename)
    return {"file": relative(path), "line": code.co_firstlineno} if in_project(path) else None


def summary_of(err):
    kind, error = err[0], err[1]
    name = kind.__qualname__ if kind.__module__ in ("builtins", "__main__") else "%s.%s" % (kind.__module__, kind.__qualname__)
    try:
        text = str(error)
    except Exception:
        text = "<no text>"
    lines = text.strip().splitlines()
    return "%s: %s" % (name, lines[0]) if lines else name


class Result(unittest.TextTestResult):
    """What unittest prints, and each test's end on the channel."""

    most, tests, stack = 0, [], None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.found, self.began, self.running, self.told = [], 0.0, None, set()

    def startTest(self, test):
        super().startTest(test)
        self.found, self.running, self.began = [], test, time.perf_counter()
        self.told.add(id(test))
        if self.stack is not None:
            os.ftruncate(self.stack, 0)
            os.write(self.stack, (clean(id_of(test)).replace("\n", " ") + "\n").encode())
        send(event="started", nodeid=id_of(test))

    def stopTest(self, test):
        super().stopTest(test)
        # A test that was interrupted (SIGINT) has no outcome at all.
        if self.running is not None and self.found:
            self.tell(test, time.perf_counter() - self.began)
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
        if type(test).__name__ == "ModuleSkipped":
            row["phase"] = "collect"
        send(event="finished", **row)
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


def names_around(test):
    cls = type(test)
    return ("%s.%s" % (cls.__module__, cls.__qualname__), cls.__module__)


def id_around(test, name):
    """The id of the class or module around a test."""
    if name == type(test).__module__:
        return id_of(test).split("::")[0]
    return "::".join([id_of(test).split("::")[0], *type(test).__qualname__.split(".")])


class Runner(unittest.TextTestRunner):
    resultclass = Result


def base_of(folder):
    while os.path.exists(os.path.join(folder, "__init__.py")) and folder != CWD:
        folder = os.path.dirname(folder)
    return folder


def pruned(suite, wanted):
    """The suite with the wanted tests only, in its own classes: what they do around their tests is kept."""
    if isinstance(getattr(suite, "_tests", None), list):
        kept = [pruned(test, wanted) for test in suite._tests if test is not None]
        suite._tests = [test for test in kept if test is not None]
        return suite
    return suite if not isinstance(suite, unittest.TestCase) or wanted(suite) else None


def chosen(ids, word):
    """The ids that a selected one stands for: itself, else what is in it."""
    return {word} if word in ids else {one for one in ids if one.startswith(word + "::") or one.startswith(word + "[")}


class Program(unittest.TestProgram):
    def __init__(self, own, words):
        self.own, self.broken, self.top, self.start, self.pattern = own, {}, None, None, "test*.py"
        super().__init__(module=None, argv=["python -m unittest", *words], testRunner=Runner, exit=False)

    def createTests(self, from_discovery=False, Loader=None):
        self.from_discovery = from_discovery
        if self.own.select:
            self.testLoader.testNamePatterns = self.testNamePatterns or None
            # Given once for each test, and loaded once for each file.
            files = list(dict.fromkeys(word.split("::")[0] for word in self.own.select))
            self.test = unittest.TestSuite([self.load(file) for file in files])
        else:
            super().createTests(from_discovery, Loader)
            for name in self.testNames or [] if not from_discovery else []:
                tag(self.test, getattr(sys.modules.get(module_in(name)), "__file__", None) or name)
        name_all(self.test)
        self.narrow()

    def load(self, path):
        full = os.path.normpath(os.path.join(CWD, path))
        if os.path.isdir(full):
            return self.testLoader.discover(full, self.pattern, self.top_of(full))
        top = self.top_of(os.path.dirname(full))
        if top not in sys.path:
            sys.path.insert(0, top)
        module = os.path.relpath(os.path.splitext(full)[0], top).replace(os.sep, ".")
        module = module[: -len(".__init__")] if module.endswith(".__init__") else module
        suite = self.testLoader.loadTestsFromName(module)
        tag(suite, full)
        return suite

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
            if type(test).__name__ == "_FailedTest":
                self.broken.setdefault(self.file_of_broken(test), test)
                return False
            if self.own.keyword and not fnmatch.fnmatchcase(test.id(), self.own.keyword):
                return False
            return picked is None or id_of(test) in picked

        self.test = pruned(self.test, wanted)

    def file_of_broken(self, test):
        file = getattr(test, "_qaas_file", None)
        if file:
            return file
        folders = [word for word in self.own.select if os.path.isdir(word)] or [self.start or "."]
        tops = [self.top_of(os.path.normpath(os.path.join(CWD, folder))) for folder in folders]
        paths = [path_of(test._testMethodName, top) for top in [*tops, CWD]]
        return next((path for path in paths if path.endswith(".py")), test._testMethodName)

    def runTests(self):
        for nodeid, test in self.broken.items():
            send(event="collect_failed", nodeid=nodeid, message=str(getattr(test, "_exception", test)).strip())
        if self.own.list:
            for test in tests_of(self.test):
                send(event="found", nodeid=id_of(test), location=place_of_test(test))
            return
        Result.most, Result.tests, Result.stack = self.own.max_failures, list(tests_of(self.test)), stack_file()
        super().runTests()


def module_in(name):
    """The module of a dotted name that may go on with a class and a method."""
    while name and name not in sys.modules:
        name = name.rpartition(".")[0]
    return name


def main():
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
    sys.path[0] = CWD
    sys.argv = ["python -m unittest", *words]
    program = Program(own, words)
    send(event="ended")
    if own.list:
        return 1 if program.broken else 0
    result = program.result
    if program.broken or not result.wasSuccessful():
        return 1
    return 0 if result.testsRun or result.skipped else 5


if __name__ == "__main__":
    sys.exit(main())
