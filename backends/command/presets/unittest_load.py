"""How tests are loaded and what they are called.

A test's id begins with the file that loads it, so that what a file inherits, imports or makes (`load_tests`, doctests)
is its own. Files are loaded as unittest's discovery loads them: one that skips itself is a skip, one that fails is an
error of that file.
"""
import fnmatch
import os
import signal
import sys
import unittest

from unittest_tell import CWD, PID, Within, clean, relative


def tests_of(suite):
    if isinstance(suite, unittest.TestCase) or not hasattr(suite, "__iter__"):
        yield suite
    else:
        for test in suite:
            yield from tests_of(test)


def is_broken(test):
    return type(test).__name__ == "_FailedTest"


def is_skipped_file(test):
    return type(test).__name__ == "ModuleSkipped"


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


def import_module(name, file):
    """Imports a module. An interrupt ends the process: unittest would take it for an error of the file, and go on."""
    with Within(file):
        try:
            __import__(name)
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(PID, signal.SIGINT)
            raise
    return sys.modules[name]


def import_discovered(self, name):
    top = self._top_level_dir or CWD
    return import_module(name, path_of(name, top))


if hasattr(unittest.TestLoader, "_get_module_from_name"):
    unittest.TestLoader._get_module_from_name = import_discovered


def same_file(module, path):
    known = getattr(module, "__file__", None)
    return known is None or os.path.realpath(os.path.splitext(known)[0]) == os.path.realpath(os.path.splitext(path)[0])


def load_file(loader, full, top):
    """The tests of one file. Of two files of one name, each in a folder that is no package, the second is imported by its path."""
    problem = None
    for top in dict.fromkeys((top, CWD)):
        if top not in sys.path:
            sys.path.insert(0, top)
        name = os.path.relpath(os.path.splitext(full)[0], top).replace(os.sep, ".")
        name = name[: -len(".__init__")] if name.endswith(".__init__") else name
        try:
            module = import_module(name, relative(full))
        except unittest.SkipTest as skip:
            return tagged(unittest.loader._make_skipped_test(name, skip, loader.suiteClass), full)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return tagged(unittest.loader._make_failed_import_test(name, loader.suiteClass)[0], full)
        if same_file(module, full):
            return loader.loadTestsFromModule(module)
        problem = problem or "`%s` is imported from %s already" % (name, module.__file__)
    return tagged(broken(loader, name, ImportError(problem)), full)


def tagged(suite, file):
    tag(suite, file)
    return suite


def broken(loader, name, error):
    return unittest.loader._make_failed_test(name, error, loader.suiteClass, str(error))[0]


def load_folder(loader, full, pattern, top):
    try:
        return loader.discover(full, pattern, top)
    except ImportError:  # a file of the same name was imported from another folder
        files = sorted(name for name in os.listdir(full) if name.endswith(".py") and fnmatch.fnmatch(name, pattern))
        return loader.suiteClass([load_file(loader, os.path.join(full, name), full) for name in files])


def load_named(loader, name, module):
    """What a name of unittest's command line stands for: a module, a class, a method."""
    suite = loader.loadTestsFromName(name, module)
    if all(is_broken(test) for test in tests_of(suite)):
        return tagged(suite, path_of(name, CWD))
    inner = name
    while inner and inner not in sys.modules:
        inner = inner.rpartition(".")[0]
    return tagged(suite, getattr(sys.modules.get(inner), "__file__", None) or name)


def base_of(folder):
    while os.path.exists(os.path.join(folder, "__init__.py")) and folder != CWD:
        folder = os.path.dirname(folder)
    return folder


def path_of(module, top):
    """The file of a module by its name; the name, where there is none."""
    for end in (".py", os.sep + "__init__.py"):
        path = os.path.join(top, module.replace(".", os.sep) + end)
        if os.path.exists(path):
            return relative(path)
    return module


def file_of(module):
    return relative(getattr(sys.modules.get(module), "__file__", None) or module)


def name_of(test):
    """What a test is called in its file: class and method; what it calls itself, if it has no class of its own."""
    cls, method = type(test), getattr(test, "_testMethodName", None)
    if not method or isinstance(test, unittest.FunctionTestCase) or hasattr(test, "_dt_test"):
        return test.id() if hasattr(test, "id") else str(test)
    usual, given = "%s.%s.%s" % (cls.__module__, cls.__qualname__, method), str(test.id())
    # Scenarios of one method differ in what stands behind its name.
    more = given[len(usual) :] if given.startswith(usual) else ""
    return "::".join([*cls.__qualname__.split("."), method + more])


def name_all(suite, file_of_skipped):
    """Gives each test its id; namesakes are numbered in the order in which they are loaded."""
    seen = {}
    for test in tests_of(suite):
        file = getattr(test, "_qaas_file", None) or file_of(type(test).__module__)
        base = file_of_skipped(test) if is_skipped_file(test) else clean(file + "::" + name_of(test))
        seen[base] = seen.get(base, 0) + 1
        nodeid = base if seen[base] == 1 else "%s[%d]" % (base, seen[base])
        try:
            test._qaas_id = nodeid
        except AttributeError:
            pass


def id_of(test):
    nodeid = getattr(test, "_qaas_id", None)
    return nodeid or clean("%s::%s" % (file_of(type(test).__module__), name_of(test)))


def names_around(test):
    cls = type(test)
    return ("%s.%s" % (cls.__module__, cls.__qualname__), cls.__module__)


def id_around(test, name):
    """The id of the class or module around a test."""
    if name == type(test).__module__:
        return id_of(test).split("::")[0]
    return "::".join([id_of(test).split("::")[0], *type(test).__qualname__.split(".")])


def pruned(suite, wanted):
    """The suite with the wanted tests only, in its own classes: what they do around their tests is kept."""
    if isinstance(getattr(suite, "_tests", None), list):
        kept = [pruned(test, wanted) for test in suite._tests if test is not None]
        suite._tests = [test for test in kept if test is not None]
        return suite
    return suite if not isinstance(suite, unittest.TestCase) or wanted(suite) else None


def chosen(ids, word):
    """The ids that a selected one stands for: itself, else what is in it, else the file around it that skips itself."""
    inside = {word} if word in ids else {one for one in ids if one.startswith(word + "::") or one.startswith(word + "[")}
    return inside or ({word.split("::")[0]} & set(ids))
