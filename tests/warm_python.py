"""The visible process of a program that `warm_server.py` forks: it forwards signals and exits with the same code.

It must start immediately, so it imports little. Python's C signal handler forwards a signal by writing its number to
the socket. A handler in Python would run only after the next bytecode, and none runs while this waits.
"""

import _signal
import _socket
import marshal
import os
import sys

PASSED_ON = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)
LONG = 10_000_000

_signal.pthread_sigmask(_signal.SIG_BLOCK, PASSED_ON)  # until someone can receive them
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
door.settimeout(LONG)  # makes it non-blocking, as a wakeup fd must be
_signal.set_wakeup_fd(door.fileno())
_signal.pthread_sigmask(_signal.SIG_UNBLOCK, PASSED_ON)
nothing = os.open(os.devnull, os.O_RDWR)
for fd in range(3):  # readers of the program's output see its end, not ours
    os.dup2(nothing, fd)


def line() -> int:
    """Read a number from the program's guard."""
    found = b""
    while not found.endswith(b"\n"):
        found += door.recv(1) or sys.exit("the program has no guard any more")
    return int(found)


line()  # the program's pid
code = line()
_signal.set_wakeup_fd(-1)
if code < 0:
    if -code not in (_signal.SIGKILL, _signal.SIGSTOP):
        _signal.signal(-code, _signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
