"""The channel (standard input) on which a run of unittest tells of its tests, and what can be said of a test.

Names that tests like to replace (`mock.patch("os.write")`) are taken at the beginning.
"""
import faulthandler
import inspect
import json
import os
import signal
import traceback

CWD = os.getcwd()
PID = os.getpid()
SCRATCH = os.path.dirname(os.path.abspath(__file__))
SIDES = ("site-packages", "dist-packages")
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
    """The file into which this process's stacks go when the time limit comes; behind the id of what it was in."""
    try:
        path = os.path.join(SCRATCH, "stack-%d" % PID)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        faulthandler.register(signal.SIGRTMAX - 3, file=file, all_threads=True, chain=False)
        return file
    except (AttributeError, OSError, ValueError, RuntimeError):  # no such signals here (macOS)
        return None


stacks = stack_file()


def is_in(nodeid, _write=os.write, _truncate=getattr(os, "ftruncate", None), _getpid=os.getpid):
    """Whatever hangs from now on, hangs in this."""
    if stacks is not None and _getpid() == PID:
        _truncate(stacks, 0)
        _write(stacks, (clean(nodeid).replace("\n", " ") + "\n").encode())


class Within:
    """What is no test and may hang or end the process all the same: a file being loaded, a class being set up."""

    def __init__(self, nodeid):
        self.nodeid = nodeid

    def __enter__(self):
        send(event="running", nodeid=self.nodeid)
        is_in(self.nodeid)

    def __exit__(self, kind, *_):
        if kind is None or issubclass(kind, Exception):
            send(event="over", nodeid=self.nodeid)


def relative(path, _relpath=os.path.relpath):
    inside = _relpath(path, CWD)
    return (path if inside.startswith("..") else inside).replace(os.sep, "/")


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


def without_own_frames(text):
    """A traceback without the frames of the files beside this one."""
    kept, own = [], False
    for line in text.splitlines():
        if line.startswith("  File "):
            own = SCRATCH in line
        elif not line.startswith("    "):
            own = False
        if not own:
            kept.append(line)
    return "\n".join(kept).strip()


def text_of_broken(error):
    """Why something could not be loaded: unittest's own words have the traceback already, an error of a `load_tests` has not."""
    text = str(error)
    if not text.startswith("Failed to ") and getattr(error, "__traceback__", None) is not None:
        text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return without_own_frames(text)
