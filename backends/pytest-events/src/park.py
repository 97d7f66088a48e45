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
from _pytest.config import Config
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

    def say(self, word):
        self.send(json.dumps(word).encode("utf-8", "replace") + b"\n")

    def refuse(self, why):
        self.say({"refused": why})
        os._exit(REFUSED)

    def watch(self, parser, pluginmanager):
        """Called while the reporter is being loaded: sees to it that `wait` is called after the last plug-in."""
        try:
            require(pytest.__version__.partition(".")[0] in MAJORS, "pytest %s is not known" % pytest.__version__)
            require(not inspect.signature(pluginmanager.consider_env).parameters, "pytest loads plug-ins in another way")
            require("PYTEST_ADDOPTS" not in os.environ, "PYTEST_ADDOPTS is set")
            # As pytest's first look at the arguments, which knows no plug-in's options yet: a value of one of those would
            # count as a path.
            known, unknown = parser.parse_known_and_unknown_args(list(self.words))
            loose = known.file_or_dir[:-1] + [word for word in unknown if not word.startswith("-")]
            require(not loose, "the meaning of %s depends on plug-ins" % " ".join(loose))
        except Exception as error:
            self.refuse(str(error) or repr(error))

        def consider_env():
            del pluginmanager.consider_env
            pluginmanager.consider_env()
            self.wait(pluginmanager, sys._getframe(1).f_locals)

        pluginmanager.consider_env = consider_env

    def wait(self, pluginmanager, caller):
        """Everything is loaded; the caller is pytest's own parsing of its arguments."""
        try:
            config, args = caller.get("self"), caller.get("args")
            require(isinstance(config, Config) and config.pluginmanager is pluginmanager, "pytest starts in another way")
            require(isinstance(args, list) and ends_with(args, self.words), "the arguments were changed")
            require(sys.argv[1:] == self.words, "sys.argv was changed")
            require(list(config.invocation_params.args) == self.words, "the arguments were changed")
            parallel_or_interactive(config._parser.parse_known_args(list(args)))
            setup = self.setup(config, self.words)
            require(setup[:2] == (config.rootpath, config.inipath), "pytest finds its configuration in another way")
            files, shadows = made_of()
        except Exception as error:
            self.refuse(str(error) or repr(error))
        # What is here stays: collections while the tests run, of which pytest asks for several, need not look at it.
        gc.collect()
        gc.freeze()
        self.say({"parked": {"files": files}})
        words = self.order()
        try:
            self.go_on(config, args, words, setup)
            require(made_of()[1] == shadows, "a file may now stand in for a module that was imported")
        except Exception as error:
            self.refuse(str(error) or repr(error))
        self.resumed = True
        sys.modules.pop(__name__, None)
        self.say("resumed")

    def order(self):
        """The arguments of the run. Without one there is nothing to do."""
        line = b""
        try:
            while not line.endswith(b"\n"):
                part = os.read(self.fd, 65536)
                if not part:
                    os._exit(0)
                line += part
        except KeyboardInterrupt:  # nobody wants it any more
            os._exit(0)
        return json.loads(line)["args"]

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

    def go_on(self, config, args, words, before):
        """Makes this process the one that was started with `words`."""
        parallel_or_interactive(config._parser.parse_known_args(args[: len(args) - len(self.words)] + words))
        importlib.invalidate_caches()
        require(self.setup(config, words) == before, "this selection has another rootdir or configuration")
        for there in (sys.argv, getattr(sys, "orig_argv", []), args):
            if ends_with(there, self.words):
                there[len(there) - len(self.words) :] = words
        params = config.invocation_params
        config.invocation_params = type(params)(args=tuple(words), plugins=params.plugins, dir=params.dir)


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
    """Files and folders that decide what this process is; and names, in folders of the import path that change all the
    time, that would be found instead of a module that is loaded."""
    files = {sys.executable, os.path.realpath(sys.executable), os.path.join(sys.prefix, "pyvenv.cfg")}
    for module in list(sys.modules.values()):
        try:
            facts = vars(module)  # not getattr: some modules import others when asked for a name
        except TypeError:
            continue
        for name in (facts.get("__file__"), getattr(facts.get("__spec__"), "origin", None)):
            if isinstance(name, str) and os.path.isabs(name) and os.path.dirname(name) != HERE:
                files.add(name)
    loaded = {name.partition(".")[0] for name in list(sys.modules)}
    user_site = getattr(sys.modules.get("site"), "USER_SITE", None)
    shadows = []
    for entry in filter(None.__ne__, [*sys.path, user_site]):
        folder = os.path.abspath(entry or ".")
        if folder == HERE:  # laid for this process alone
            continue
        try:
            names = os.listdir(folder)
        except OSError:  # an archive, or not there (yet)
            files.add(folder)
            continue
        if any(name.endswith(".dist-info") for name in names):
            files.add(folder)
            continue
        for name in names:
            if name.partition(".")[0] in loaded or name.endswith(METADATA):
                shadows.append(os.path.join(folder, name))
                if name.endswith(METADATA):
                    files.add(os.path.join(folder, name, "entry_points.txt"))
    return sorted(files), sorted(shadows)
