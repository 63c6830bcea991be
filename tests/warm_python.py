"""Stands for a program that `warm_server.py` forks: passes signals on to it, and ends as it does.

It has to begin at once, and so imports only what Python is built with.
"""

import _signal
import _socket
import marshal
import os
import sys

pid = 0
early: list[int] = []
"""Signals that came before there was anybody to have them."""


def pass_on(number: int, _: object) -> None:
    if not pid:
        early.append(number)
        return
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


for number in (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP):
    _signal.signal(number, pass_on)
place, *command = sys.argv[1:]
door = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
door.connect(place)
told = marshal.dumps((command, dict(os.environ), os.getcwd()))
whole = len(told).to_bytes(4, "big") + told
fds = b"".join(fd.to_bytes(4, sys.byteorder) for fd in range(3))
sent = door.sendmsg([whole], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, fds)])
door.sendall(whole[sent:])
nothing = os.open(os.devnull, os.O_RDWR)
for fd in range(3):  # whoever reads what the program says hears of its end, and not of ours
    os.dup2(nothing, fd)


def line() -> int:
    """A number that the guard of the program tells."""
    found = b""
    while not found.endswith(b"\n"):
        found += door.recv(1) or sys.exit("the program has no guard any more")
    return int(found)


pid = line()
for number in early:
    pass_on(number, None)
code = line()
if code < 0:
    if -code not in (_signal.SIGKILL, _signal.SIGSTOP):
        _signal.signal(-code, _signal.SIG_DFL)
    os.kill(os.getpid(), -code)
os._exit(code)
