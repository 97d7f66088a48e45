import os


def test_passes():
    pass


def test_hangs(pytestconfig):
    # As pytest-timeout does it from a thread.
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    capture.suspend_global_capture(in_=True)
    writer = pytestconfig.get_terminal_writer()
    writer.sep("+", title="Timeout")
    writer.sep("~", title="Stack of MainThread")
    writer.sep("+", title="Timeout")
    writer.flush()
    os._exit(1)


def test_after():
    pass
