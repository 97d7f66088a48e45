"""What a test can see of its process, written to `state.json` beside it."""

import gc
import json
import os
import resource
import signal
import sys
import threading
import warnings

import conftest


def test_state(helper, request):
    config = request.config
    manager = config.pluginmanager
    hooks = {name: getattr(manager.hook, name) for name in vars(manager.hook)}
    signals = sorted(signal.valid_signals())
    fds = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            fds[number] = os.readlink("/proc/self/fd/" + number)
        except OSError:  # the listing's own
            pass
    state = {
        "argv": sys.argv,
        "orig_argv": getattr(sys, "orig_argv", None),
        "path": sys.path,
        "flags": str(sys.flags),
        "main": [sys.modules["__main__"].__file__, sys.modules["__main__"].__spec__.name],
        "cwd": os.getcwd(),
        "environ": dict(os.environ),
        "modules": sorted(sys.modules),
        "modules when conftest was imported": conftest.MODULES,
        "meta_path": [type(finder).__name__ for finder in sys.meta_path],
        "importer_cache": sorted(sys.path_importer_cache),
        "warnings": [str(one) for one in warnings.filters],
        "threads": threading.active_count(),
        "descriptors": sorted(fds.values()),
        "limits": {name: resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")},
        "signals": [str(signal.getsignal(number)) for number in signals],
        "mask": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "niceness": os.nice(0),
        "leads": [os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid()],
        "collector": [gc.isenabled(), gc.get_threshold()],
        "recursion": sys.getrecursionlimit(),
        "encodings": [sys.stdout.encoding, sys.getfilesystemencoding()],
        "invocation": list(config.invocation_params.args),
        "arguments": config.args,
        "root": [str(config.rootpath), str(config.inipath)],
        "options": {name: repr(value) for name, value in vars(config.option).items()},
        "known options": {name: repr(value) for name, value in vars(config.known_args_namespace).items()},
        "config": sorted(vars(config)),
        "manager": sorted(vars(manager)),
        "plugins": [name for name, plugin in manager.list_name_plugin() if plugin and not name.isdigit()],
        "hooks": {
            name: [one.plugin_name for one in hook.get_hookimpls() if not one.plugin_name.isdigit()]
            for name, hook in hooks.items()
            if hasattr(hook, "get_hookimpls")
        },
    }
    try:
        helper(7)
    except AssertionError as error:
        state["rewritten"] = str(error)
    with open(os.path.join(os.path.dirname(__file__), "state.json"), "w") as file:
        json.dump(state, file)
