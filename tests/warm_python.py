"""Stands for a program that `warm_server.py` forks: passes signals on to it, and ends as it does.

It has to begin at once, and so imports little. A signal is passed on by what Python does in C when one comes: it writes
the number to the socket. What is written in Python would run after the next step, and there is none while this waits.
"""

import _signal
import _socket
import marshal
import os
import sys

PASSED_ON = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)
LONG = 10_000_000

_signal.pthread_sigmask(_signal.SIG_BLOCK, PASSED_ON)  # until there is somebody to have them
for number in PASSED_ON:
    _signal.signal(number, lambda *_: None)
place, *command = sys.argv[1:]
door = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
door.connect(place)
told = marshal.dumps((command, dict(os.environ), os.getcwd()))
whole = len(told).to_bytes(4, "big") + told
fds = b"".join(fd.to_bytes(4, sys.byteorder) for fd in range(3))
sent = door.sendmsg([whole], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
door.sendall(whole[sent:])
door.settimeout(LONG)  # which makes it one that a signal may be written to
_signal.set_wakeup_fd(door.fileno())
_signal.pthread_sigmask(_signal.SIG_UNBLOCK, PASSED_ON)
nothing = os.open(os.devnull, os.O_RDWR)
for fd in range(3):  # whoever reads what the program says hears of its end, and not of ours
    os.dup2(nothing, fd)


def line() -> int:
    """A number that the guard of the program tells."""
    found = b""
    while not found.endswith(b"\n"):
        found += door.recv(1) or sys.exit("the program has no guard any more")
    return int(found)


line()  # who the program is
code = line()
_signal.set_wakeup_fd(-1)
if code < 0:
    if -code not in (_signal.SIGKILL, _signal.SIGSTOP):
        _signal.signal(-code, _signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
