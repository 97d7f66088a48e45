"""Runs a program at a terminal and does what a person does there. Standard library only.

at_terminal.py STEPS PROGRAM ARGUMENTS…

STEPS is a JSON list of steps: ["expect", TEXT] waits until TEXT has been printed since the last expectation, ["type", TEXT]
types, ["resize", ROWS, COLUMNS] changes the window, ["signal", NUMBER] signals the program. Prints one JSON object: what was
printed, the exit code, whether the terminal was left as it was found.
"""

import errno
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 90


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def main():
    steps, program = json.loads(sys.argv[1]), sys.argv[2:]
    # A terminal of our own beside the child's end, so that its settings can be looked at when the child is gone.
    master, slave = pty.openpty()
    resize(master, 24, 100)
    before = termios.tcgetattr(slave)
    pid = os.fork()
    if pid == 0:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        for number in range(3):
            os.dup2(slave, number)
        os.closerange(3, 256)
        os.execv(program[0], program)
    printed, seen, failed = "", 0, None

    def read(until):
        nonlocal printed
        left = until - time.monotonic()
        if left <= 0 or not select.select([master], [], [], left)[0]:
            return False
        try:
            data = os.read(master, 65536)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            data = b""
        printed += data.decode("utf-8", "replace")
        return bool(data)

    for step in steps:
        what, *words = step
        if what == "expect":
            until = time.monotonic() + PATIENCE
            while words[0] not in printed[seen:]:
                if not read(until):
                    failed = "never printed: %r" % words[0]
                    break
            if failed:
                break
            seen = printed.index(words[0], seen) + len(words[0])
        elif what == "type":
            os.write(master, words[0].encode())
        elif what == "resize":
            resize(master, *words)
        elif what == "signal":
            os.kill(pid, words[0])
    if failed:
        os.kill(pid, signal.SIGKILL)
    status, until = None, time.monotonic() + PATIENCE
    while status is None:
        gone, code = os.waitpid(pid, os.WNOHANG)
        if gone:
            status = os.waitstatus_to_exitcode(code) if hasattr(os, "waitstatus_to_exitcode") else code >> 8
        read(time.monotonic() + 0.05)
        if time.monotonic() > until:
            failed = failed or "it does not end"
            os.kill(pid, signal.SIGKILL)
    while read(time.monotonic() + 0.05):
        pass
    restored = termios.tcgetattr(slave)[:4] == before[:4]
    print(json.dumps({"printed": printed, "code": status, "failed": failed, "restored": restored}))


main()
