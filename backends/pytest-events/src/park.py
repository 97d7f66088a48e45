"""Makes a pytest wait inside its own start-up until it is told what to run. The reporter imports this only on demand.

It waits when pytest has loaded every plug-in, in its own order and under its own rewriting hook, and has not looked for
a conftest yet: no code of the project has run, unless it is itself a plug-in. What pytest found out before that point
and what depends on the arguments (rootdir, configuration file) is found out again with the real ones; if it differs, or
anything is not as expected, this process refuses and ends, and the tests are run by a new one. That is always right.

PYTEST_DONT_REWRITE: see the reporter.
"""

import gc
import importlib
import inspect
import json
import os
import sys

import pytest
from _pytest.config import Config, PytestPluginManager
from _pytest.config.findpaths import determine_setup

HERE = os.path.dirname(os.path.abspath(__file__))
MAJORS = ("7", "8", "9")  # releases whose start-up is known to be the one that is relied on below
REFUSED = 75
METADATA = (".dist-info", ".egg-info", ".egg-link", ".pth")


class Refusal(Exception):
    """Why the tests are run by a new process instead."""


class Park:
    def __init__(self, fd, send):
        self.fd, self.send = fd, send
        self.resumed = False
        self.words = sys.argv[1:]  # of the waiting process; the last one names no file, so that nothing runs by mistake
        self.attempt(self.watch)

    def say(self, word):
        self.send(json.dumps(word).encode("utf-8", "replace") + b"\n")

    def refuse(self, why):
        self.say({"refused": why})
        os._exit(REFUSED)

    def attempt(self, work, *args):
        """What `work` gives; whatever goes wrong in it is a reason to refuse."""
        try:
            return work(*args)
        except Exception as error:
            return self.refuse(str(error) or repr(error))

    def watch(self):
        """Called while pytest imports the reporter: sees to it that `wait` is called after the last plug-in. Not by a hook,
        which would stay to be seen."""
        pluginmanager = importer()
        config = pluginmanager.get_plugin("pytestconfig")
        require(pytest.__version__.partition(".")[0] in MAJORS, "pytest %s is not known" % pytest.__version__)
        require(not inspect.signature(pluginmanager.consider_env).parameters, "pytest loads plug-ins in another way")
        require("PYTEST_ADDOPTS" not in os.environ, "PYTEST_ADDOPTS is set")
        # As pytest's first look at the arguments, which knows no plug-in's options yet: a value of one of those would count
        # as a path.
        known, unknown = config._parser.parse_known_and_unknown_args(list(self.words))
        loose = known.file_or_dir[:-1] + [word for word in unknown if not word.startswith("-")]
        require(not loose, "the meaning of %s depends on plug-ins" % " ".join(loose))

        def consider_env():
            del pluginmanager.consider_env
            pluginmanager.consider_env()
            self.wait(config, sys._getframe(1).f_locals)

        pluginmanager.consider_env = consider_env

    def wait(self, config, caller):
        """Everything is loaded; the caller is pytest's own parsing of its arguments."""
        args = caller.get("args")
        setup, files, shadows = self.attempt(self.look, config, args, caller.get("self"))
        # What is here stays: collections while the tests run, of which pytest asks for several, need not look at it.
        gc.collect()
        gc.freeze()
        self.say({"parked": {"files": files}})
        self.attempt(self.go_on, config, args, self.line()["args"], setup, shadows)
        self.resumed = True
        sys.modules.pop(__name__, None)
        self.say("resumed")
        self.line()

    def look(self, config, args, caller):
        """What this process is, if it may wait."""
        require(isinstance(config, Config) and caller is config, "pytest starts in another way")
        require(isinstance(args, list) and ends_with(args, self.words), "the arguments were changed")
        require(sys.argv[1:] == self.words, "sys.argv was changed")
        require(list(config.invocation_params.args) == self.words, "the arguments were changed")
        parallel_or_interactive(config._parser.parse_known_args(list(args)))
        setup = self.setup(config, self.words)
        require(setup[:2] == (config.rootpath, config.inipath), "pytest finds its configuration in another way")
        return (setup, *made_of())

    def line(self):
        """The next thing that this process is told. Without one there is nothing to do."""
        line = b""
        try:
            while not line.endswith(b"\n"):
                part = os.read(self.fd, 65536)
                if not part:
                    os._exit(0)
                line += part
        except KeyboardInterrupt:  # nobody wants it any more
            os._exit(0)
        return json.loads(line)

    def setup(self, config, words):
        """What pytest finds out from the arguments before it loads plug-ins: rootdir and configuration."""
        known = config._parser.parse_known_args(list(words))
        offered = {
            "inifile": known.inifilename,
            "override_ini": known.override_ini,
            "args": known.file_or_dir,
            "rootdir_cmd_arg": known.rootdir or None,
            "invocation_dir": config.invocation_params.dir,
            "config": config,
        }
        wanted = inspect.signature(determine_setup).parameters
        require(set(wanted) <= set(offered), "pytest finds its configuration in another way")
        return determine_setup(**{name: offered[name] for name in wanted})

    def go_on(self, config, args, words, before, shadows):
        """Makes this process the one that was started with `words`."""
        require(standing_in() == shadows, "a file may now stand in for a module that was imported")
        parallel_or_interactive(config._parser.parse_known_args(args[: len(args) - len(self.words)] + words))
        importlib.invalidate_caches()
        require(self.setup(config, words) == before, "this selection has another rootdir or configuration")
        for there in (sys.argv, getattr(sys, "orig_argv", []), args):
            if ends_with(there, self.words):
                there[len(there) - len(self.words) :] = words
        params = config.invocation_params
        config.invocation_params = type(params)(args=tuple(words), plugins=params.plugins, dir=params.dir)


def importer():
    """pytest's plug-in manager, which is importing the reporter."""
    frame = sys._getframe(1)
    while frame is not None:
        found = frame.f_locals.get("self")
        if isinstance(found, PytestPluginManager):
            return found
        frame = frame.f_back
    raise Refusal("pytest loads plug-ins in another way")


def require(holds, why):
    if not holds:
        raise Refusal(why)


def ends_with(words, last):
    return words[len(words) - len(last) :] == last


def parallel_or_interactive(options):
    """xdist's workers start as their controller did at a time of which nothing is left; a debugger wants a terminal."""
    for name in ("numprocesses", "tx", "looponfail", "usepdb", "trace"):
        require(not getattr(options, name, None), "--%s" % name)


def made_of():
    """Files and folders that decide what this process is, and what may stand in for a part of it."""
    files = {sys.executable, os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg")}
    for module in list(sys.modules.values()):
        try:
            facts = vars(module)  # not getattr: some modules import others when asked for a name
        except TypeError:
            continue
        for name in (facts.get("__file__"), getattr(facts.get("__spec__"), "origin", None)):
            if isinstance(name, str) and os.path.isabs(name) and os.path.dirname(name) != HERE:
                files.add(name)
    for folder, names in import_path():
        if names is None or installed(names):
            files.add(folder)
        else:
            metadata = [name for name in names if name.endswith(METADATA)]
            files.update(os.path.join(folder, name, "entry_points.txt") for name in metadata)
    return sorted(files), standing_in()


def standing_in():
    """What would be found instead of a loaded module, or as a plug-in, in folders that change all the time."""
    loaded = {name.partition(".")[0] for name in list(sys.modules)}
    found = []
    for folder, names in import_path():
        if names is not None and not installed(names):
            found += [
                os.path.join(folder, name)
                for name in names
                if name.partition(".")[0] in loaded or name.endswith(METADATA)
            ]
    return sorted(found)


def installed(names):
    """Of a folder where packages are installed: then its time tells of every change."""
    return any(name.endswith(".dist-info") for name in names)


def import_path():
    """The folders of the import path with the names in them; no names where that is no folder (yet)."""
    user_site = getattr(sys.modules.get("site"), "USER_SITE", None)
    for entry in [*sys.path, *filter(None, [user_site])]:
        folder = os.path.abspath(entry or ".")
        if folder == HERE:  # laid for this process alone
            continue
        try:
            yield folder, os.listdir(folder)
        except OSError:
            yield folder, None
