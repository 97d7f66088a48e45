"""The reporter that qaas's `pytest-events` backend injects into a pytest run (`-p qaas_reporter`).

It writes one line of JSON for each fact down a private channel and does nothing else: no option, no fixture, no output, no
warning, no change to a result or an order. Standard library and pytest only; CPython 3.8 and later, pytest 6.2 and later.
Every name below that a test could patch while a hook of ours runs (os.write, json.dumps) is bound at import.

PYTEST_DONT_REWRITE: assertion rewriting would leave a .pyc file and, under `-W error`, a failing import.
"""

import faulthandler
import fcntl
import json
import mmap
import os
import signal
import stat
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRATCH = os.path.dirname(HERE)
TEXT = 64 * 1024  # characters kept of each end of a failure's text
SECTION = 16 * 1024  # the same for each captured section
quote = json.encoder.encode_basestring
encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=str).encode


def high_fd(fd):
    """A copy of `fd`, closed on exec, with a number that neither `os.closerange(3, 256)` in a test closes nor the
    system gives to a test's next file."""
    limit = os.sysconf("SC_OPEN_MAX")
    number = min(limit - 16, 1000) if limit > 32 else 3
    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, number)


def guarded(fd, rewrite=False, write=os.write, getpid=os.getpid, ftruncate=os.ftruncate, control=fcntl.fcntl):
    """A function that writes bytes to `fd` (in place of what is there, if `rewrite`), as long as this is the same
    process and `fd` the same file.

    A forked child must stay silent, and a number that a test closed may by now be the test's own file. The file's
    owner (F_SETOWN, without O_ASYNC an inert mark) tells it from any other, at an eighth of what `fstat` costs. Errors
    are swallowed: a reporter that cannot report is noticed at the other end (no finish line, counts that disagree).
    """
    pid, whose = getpid(), fcntl.F_GETOWN
    control(fd, fcntl.F_SETOWN, pid)
    torn = False  # an exception out of a signal handler left half a line behind

    def send(data):
        nonlocal torn
        if getpid() != pid:
            return
        try:
            if control(fd, whose) != pid:
                return
            if rewrite:
                ftruncate(fd, 0)
            elif torn:
                data = b"\n" + data
            torn = True
            sent = write(fd, data)
            while sent < len(data):
                sent += write(fd, data[sent:])
            torn = False
        except OSError:
            pass

    return send


def take_channel():
    """Takes over standard input, which is the channel if the marker says so; tests find /dev/null there.

    The marker leaves the environment at once, so that children, xdist workers and nested runs stay silent.
    """
    nonce = os.environ.pop("QAAS_REPORTER", None)
    try:
        if nonce is None or not stat.S_ISSOCK(os.fstat(0).st_mode):
            return None, None
        fd = high_fd(0)
        send = guarded(fd)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
    except OSError:
        return None, None
    nonce, _, step = nonce.partition(" ")
    step = step[: -len(" +prints")] if PRINTS else step
    python = "%d.%d.%d" % sys.version_info[:3]
    hello = {"e": "hello", "nonce": nonce, "step": step, "pid": os.getpid(), "pytest": pytest.__version__, "python": python}
    send(encode(hello).encode() + b"\n")
    return send, fd


def stack_file(folder):
    """Asks for this process's stacks in `folder`/stack-PID on a real-time signal. Gives the file's descriptor.

    Not `dump_traceback_later`: there is one such timer in a process, and pytest's own `faulthandler_timeout` uses it.
    """
    try:
        number = signal.SIGRTMAX - 3
        low = os.open(os.path.join(folder, "stack-%d" % os.getpid()), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        fd = high_fd(low)
        os.close(low)
        faulthandler.register(number, file=fd, all_threads=True, chain=False)
        return fd
    except (AttributeError, OSError, ValueError, RuntimeError):  # no such signals here (macOS), no more descriptors
        return None


SETUP, CALL, TEARDOWN, PASSED, NONE = b"sctp-"


def phase_byte(path):
    """One byte of shared memory that says how far the last started test is: it outlives any death of the process and
    costs nothing, where a line for each phase would triple the reporter's cost (every line wakes the other end)."""
    try:
        with open(path, "wb+") as file:
            file.write(b"-")
            file.flush()
            return mmap.mmap(file.fileno(), 1)
    except (OSError, ValueError):
        return bytearray(1)


PRINTS = os.environ.get("QAAS_REPORTER", "").endswith(" +prints")
CHANNEL, CHANNEL_FD = take_channel()
if CHANNEL:
    stack_file(SCRATCH)

class Terminal:
    """The terminal of the person who runs the tests: standard streams are put there, for good or while a debugger has them.

    This process leads its session and has no terminal of its own, so the one that it opens becomes its own: Ctrl-C there
    reaches it as in any other terminal.
    """

    def __init__(self, path):
        self.path, self.device, self.saved = path, None, []

    def take(self, debugger):
        try:
            fd = os.open(self.path, os.O_RDWR)
        except OSError:  # it is gone: the streams stay where they are
            return
        self.device = os.fstat(fd).st_rdev
        self.saved = [os.dup(number) for number in range(3)]
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for number in range(3):
            os.dup2(fd, number)
        os.close(fd)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(line_buffering=True)
        CHANNEL(encode({"e": "terminal", "taken": True, "debugger": debugger}).encode() + b"\n")

    def give_back(self):
        """Where pytest captures again, its own files are in place already and stay."""
        for number, fd in enumerate(self.saved):
            here = os.fstat(number)
            if stat.S_ISCHR(here.st_mode) and here.st_rdev == self.device:
                os.dup2(fd, number)
            os.close(fd)
        self.saved = []
        CHANNEL(encode({"e": "terminal", "taken": False, "debugger": True}).encode() + b"\n")


class Debugger:
    """Hands pytest's debugger the terminal for as long as it is in use."""

    def __init__(self, terminal):
        self.terminal = terminal

    @pytest.hookimpl(tryfirst=True)
    def pytest_enter_pdb(self):
        if not self.terminal.saved:
            self.terminal.take(debugger=True)

    def pytest_leave_pdb(self):
        if self.terminal.saved:
            self.terminal.give_back()


WHEN, _, TERMINAL = os.environ.pop("QAAS_TERMINAL", "").partition(" ")
if CHANNEL and WHEN == "now":
    Terminal(TERMINAL).take(debugger=False)

PARK = None
if os.environ.pop("QAAS_PARK", None) is not None:
    import qaas_park  # beside this file

    PARK = qaas_park.Park(CHANNEL_FD, CHANNEL)
    del qaas_park


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests():
    """Leaves the import path as it was, before any code of the project is imported.

    Not earlier: xdist freezes `sys.path` when it is loaded itself and needs ours there, because its workers are
    started with the same `-p` and die of a plug-in that they cannot import.
    """
    if PARK and not PARK.resumed:
        PARK.refuse("it was not parked: pytest starts in another way")
    sys.path[:] = [entry for entry in sys.path if entry != HERE]
    first, _, rest = os.environ.get("PYTHONPATH", "").partition(os.pathsep)
    if first == HERE:
        if rest:
            os.environ["PYTHONPATH"] = rest
        else:
            del os.environ["PYTHONPATH"]


def pytest_configure(config):
    if CHANNEL:
        config.pluginmanager.register(Reporter(config, CHANNEL), "qaas-reporter")
        if WHEN == "debugger":
            config.pluginmanager.register(Debugger(Terminal(TERMINAL)), "qaas-debugger")
    elif "qaas_scratch" in getattr(config, "workerinput", ()):
        fd = stack_file(config.workerinput["qaas_scratch"])
        config.pluginmanager.register(Worker(config, fd), "qaas-worker")


class Worker:
    """In an xdist worker: says which test its stack belongs to, and counts what the controller does not see."""

    def __init__(self, config, fd):
        self.config, self.deselected = config, 0
        self.name = config.workerinput["workerid"]
        self.send = guarded(fd, rewrite=True) if fd is not None else lambda data: None

    def pytest_runtest_logstart(self, nodeid):
        self.send(("%s %s\n" % (self.name, nodeid)).encode("utf-8", "replace"))

    def pytest_deselected(self, items):
        self.deselected += len(items)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self):
        self.config.workeroutput["qaas_deselected"] = self.deselected


class Reporter:
    """In the process that owns the session: one line for each fact.

    A test that simply passes costs one write of one line: its own end waits for the next test's start (or anything else
    that is told, or the session's end) and goes with it. Should the process die in between, the phase byte says that it
    passed.
    """

    def __init__(self, config, send):
        self.config = config
        self.send = send
        self.phase = phase_byte(os.path.join(SCRATCH, "phase"))
        self.took = None  # seconds of the last test, if it passed and that is not told yet
        self.nodeid = None  # of the last started test; always None in xdist's controller, where tests overlap
        self.setup = self.call = None  # how long these phases of it took, if they passed
        self.xdist = self.each = False
        self.passed = {}  # the same for overlapping tests: (nodeid, worker) -> [(phase, seconds)]
        self.open = set()  # (nodeid, worker) of tests that told something and not their end
        self.started = self.ended = 0
        self.selected = self.deselected = 0

    def flush(self, data=b""):
        if self.took is not None:
            data, self.took = b'{"e":"passed","s":%.6f}\n' % self.took + data, None
        if data:
            self.send(data)

    def tell(self, event, **facts):
        """Writes one fact. Facts that are None or empty are left out."""
        line = {"e": event}
        line.update((key, value) for key, value in facts.items() if value is not None and value != [])
        try:
            text = encode(line)
        except (TypeError, ValueError):  # a plug-in's value that is no JSON: the id and the outcome must get through
            kept = ("e", "id", "worker", "when", "outcome", "text")
            text = encode({key: str(line[key]) for key in kept if key in line})
        self.flush(text.encode("utf-8", "replace") + b"\n")

    def pytest_sessionstart(self):
        # Not earlier: xdist's controller is registered after us.
        self.xdist = self.config.pluginmanager.hasplugin("dsession")
        self.each = self.xdist and self.config.option.dist == "each"
        protocol = self.config.hook.pytest_runtest_protocol.get_hookimpls()
        others = [impl for impl in protocol if not (impl.hookwrapper or getattr(impl, "wrapper", False))]
        if len(others) > 1 or self.xdist:
            # A plug-in runs tests in its own way (reruns them, in a child): it may report late or leave phases out.
            self.config.pluginmanager.register(Watch(self), "qaas-watch")

    # -- collection --

    def pytest_deselected(self, items):
        self.deselected += len(items)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session):
        if self.xdist:
            return  # the controller has no items of its own
        if self.config.option.collectonly:
            for item in session.items:
                file, line = item.location[:2]
                self.tell("found", id=item.nodeid, file=str(file), line=line)
        self.selected = len(session.items)
        self.count()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        # Every worker collects the same; with `--dist each` every worker also runs them all.
        self.selected = self.selected + len(ids) if self.each else len(ids)
        self.count()

    def count(self):
        self.tell("collected", selected=self.selected, deselected=self.deselected)

    def pytest_collectreport(self, report):
        if not report.passed:
            self.tell("collect", id=report.nodeid, outcome=report.outcome, **why(report))

    # -- one test --

    def pytest_runtest_logstart(self, nodeid, location):
        self.started += 1
        self.phase[0] = SETUP
        if not self.xdist:
            self.nodeid = nodeid
            self.setup = self.call = None
        file, line = location[0], location[1]
        if line is None:
            line = -1
        if not nodeid.startswith(file + "::"):
            self.tell("start", id=nodeid, line=line, file=str(file))
            return
        # The short form of both facts: microseconds of the test before (-1: its end is told already), line, nodeid.
        took, self.took = self.took, None
        text = "[%d,%d,%s]\n" % (-1 if took is None else took * 1e6, line, quote(nodeid))
        self.send(text.encode("utf-8", "replace"))

    @pytest.hookimpl(trylast=True)  # pytest 9 turns a test with failed subtests into a failed one in its own hook
    def pytest_runtest_logreport(self, report):
        # This first part is most of the reporter's cost: keep it short.
        if report.outcome == "passed" and report.nodeid == self.nodeid:
            facts = report.__dict__
            if "wasxfail" not in facts and "context" not in facts:
                when = report.when
                if when == "setup":
                    self.setup = report.duration
                    self.phase[0] = CALL
                    return
                if when == "call":
                    self.call = report.duration
                    self.phase[0] = TEARDOWN
                    return
                if self.call is not None and self.setup is not None and when == "teardown":
                    self.took = self.setup + self.call + report.duration
                    self.setup = self.call = None
                    self.ended += 1
                    self.phase[0] = PASSED
                    if PRINTS and report.sections:
                        self.tell("printed", id=report.nodeid, sections=clipped(report.sections))
                    return
        self.report(report)

    def report(self, report):
        """Tells a report that is not part of a plain pass."""
        nodeid, when = report.nodeid, report.when
        node = getattr(report, "node", None) if self.xdist else None
        worker = node.gateway.id if node is not None else None
        key = (nodeid, worker)
        sub = type(report).__name__.lower() == "subtestreport"
        plain = report.outcome == "passed" and not hasattr(report, "wasxfail") and not sub
        if plain and when != "teardown":
            self.passed.setdefault(key, []).append((when, report.duration))
            return
        before = self.passed.pop(key, [])
        if nodeid == self.nodeid:
            before += [pair for pair in (("setup", self.setup), ("call", self.call)) if pair[1] is not None]
            self.setup = self.call = None
        if when not in ("setup", "call"):
            self.ended += 1
            self.open.discard(key)
            self.phase[0] = NONE
        elif not sub:
            self.open.add(key)
            self.phase[0] = TEARDOWN
        told = {"id": nodeid, "worker": worker, "before": before, "when": when, "outcome": report.outcome}
        told.update(s=report.duration, sub=subtest(report) if sub else None)
        try:
            told.update(why(report), sections=sections(report))
        except Exception as error:  # a plug-in's report that cannot be shown: the verdict must get through
            told["text"] = "this report cannot be shown: %r" % error
        self.tell("report", **told)

    def finished(self, nodeid):
        """Ends a test whose protocol is over and that reported no teardown."""
        left = self.setup is not None or self.call is not None
        keys = self.open.union(self.passed, [(nodeid, None)] if left and nodeid == self.nodeid else [])
        for key in [key for key in keys if key[0] == nodeid]:
            before = self.passed.pop(key, [])
            if left and nodeid == self.nodeid:
                before += [pair for pair in (("setup", self.setup), ("call", self.call)) if pair[1] is not None]
                self.setup = self.call = None
            self.open.discard(key)
            self.ended += 1
            self.tell("end", id=nodeid, worker=key[1], before=before)

    # -- xdist --

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node):
        spec = node.gateway.spec
        if spec.popen and not spec.chdir:
            node.workerinput["qaas_scratch"] = SCRATCH
            return
        # A worker elsewhere cannot import us: it is started without us.
        params = self.config.invocation_params
        args = list(params.args)
        if __name__ in args:
            at = args.index(__name__)
            del args[at - 1 : at + 1]
            self.config.invocation_params = type(params)(args=args, plugins=params.plugins, dir=params.dir)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node, error):
        gone = getattr(node, "workeroutput", None) or {}
        self.deselected = max(self.deselected, gone.get("qaas_deselected", 0))
        if error:
            self.tell("worker", id=node.gateway.id, text=str(error)[:1000])

    # -- how it ends --

    def pytest_internalerror(self, excrepr, excinfo):
        self.tell("internal", text=clip(str(excrepr), TEXT), message=clip(excinfo.exconly(), 1000))

    def pytest_keyboard_interrupt(self, excinfo):
        self.tell("interrupt", type=excinfo.typename, message=clip(str(getattr(excinfo.value, "msg", excinfo.value)), 1000))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session):
        self.flush()
        yield  # other plug-ins may still change the exit status
        if self.xdist and self.deselected:
            self.count()
        self.tell(
            "finish",
            exit=int(session.exitstatus),
            started=self.started,
            ended=self.ended,
            stop=str(session.shouldfail or session.shouldstop or "") or None,
            threshold=threshold(session),
        )


def threshold(session):
    """pytest-cov's complaint about the whole suite, where it is the only failure: it counts as a failed test of nobody."""
    plugin = session.config.pluginmanager.getplugin("_cov")
    try:
        total, wanted = plugin.cov_total, plugin.options.cov_fail_under
        if wanted and total < wanted and session.testsfailed == 1:
            return "total coverage of %.2f is less than fail-under=%s" % (total, wanted)
    except Exception:  # no pytest-cov, or one that keeps its figures elsewhere
        pass
    return None


class Watch:
    """The reporter's eyes where a plug-in runs tests in its own way: the phases themselves, and their end."""

    def __init__(self, reporter):
        self.phase, self.reporter = reporter.phase, reporter

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self):
        self.phase[0] = SETUP

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self):
        self.phase[0] = CALL

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self):
        self.phase[0] = TEARDOWN

    def pytest_runtest_logfinish(self, nodeid):
        if not self.reporter.each:  # there the same test still runs elsewhere
            self.reporter.finished(nodeid)


def clip(text, keep):
    """`text`, or its two ends with the number of dropped characters between them."""
    if len(text) <= 2 * keep:
        return text
    return "%s\n[... %d characters dropped ...]\n%s" % (text[:keep], len(text) - 2 * keep, text[-keep:])


def why(report):
    """What a report that is not plainly passed says for itself."""
    xfail = getattr(report, "wasxfail", None)
    facts = {"xfail": None if xfail is None else str(xfail)}
    longrepr = report.longrepr
    if isinstance(longrepr, tuple) and len(longrepr) == 3:  # a skip: file, line, reason
        facts["reason"] = str(longrepr[2])
        facts["at"] = [str(longrepr[0]), longrepr[1]]
    elif longrepr is not None and report.outcome != "passed":
        facts["text"] = clip(report.longreprtext, TEXT)
        crash = getattr(longrepr, "reprcrash", None)
        if crash is not None:
            facts["message"] = clip(str(crash.message), 2000)
            facts["at"] = place(longrepr) or [str(crash.path), crash.lineno]
    return facts


def place(longrepr):
    """Where it was raised, as the innermost frame of the project's own code."""
    entries = getattr(getattr(longrepr, "reprtraceback", None), "reprentries", ())
    for entry in reversed(entries):
        at = getattr(entry, "reprfileloc", None)
        path = str(at.path) if at is not None else ".."
        if not os.path.isabs(path) and not path.startswith(("..", "<")) and "site-packages" not in path:
            return [path, at.lineno]
    return None


def sections(report):
    """What was captured, for a report with something to explain; of a good teardown only its own part (pytest repeats
    the sections of the earlier phases)."""
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        return []
    wanted = report.sections
    if report.outcome == "passed":
        wanted = [pair for pair in wanted if pair[0].endswith("teardown")]
    return clipped(wanted)


def clipped(sections):
    return [[str(name), clip(str(text), SECTION)] for name, text in sections[:20]]


def subtest(report):
    """A subtest's description as pytest prints it: `[message] (key=value)`."""
    for name in ("sub_test_description", "_sub_test_description"):
        describe = getattr(report, name, None)
        if describe is not None:
            return str(describe())
    context = report.context
    return "[%s]" % context.msg if getattr(context, "msg", None) else "(<subtest>)"
