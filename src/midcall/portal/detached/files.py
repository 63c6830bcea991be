"""Where servers and the page process meet: a folder that only this user can enter, and the locks in it.

    start.lock       held for a moment while a program starts, reaches or ends the process, so that only one does
    NAME.lock        held by the process for as long as it lives, even if it is killed; says where it listens
    NAME.sock        the socket that servers hand pages over
    pages.log        its log

NAME stands for this version of midcall, this boot of the machine and this network namespace: a process elsewhere could
not be reached, or would not understand us.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import stat
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from struct import Struct
from typing import Any, Final

from midcall import __version__
from midcall.portal.validation import LAST_PORT
from midcall.settings.portal import PAGES_LOCK_SECONDS, PAGES_RETRY_SECONDS
from midcall.settings.web import LOCAL_BACKLOG
from midcall.stores.sqlite import default_file

LOG: Final = "pages.log"
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_NETWORK: Final = Path("/proc/self/ns/net")
_LIFE: Final = 200  # more than any life takes
_CREDENTIALS: Final = Struct("=iII")  # process, user, group (man 7 unix)


class NoPageProcess(Exception):
    """No page process can be used here; the text says why."""


@dataclass(frozen=True, slots=True)
class Life:
    """The process that serves pages."""

    port: int = 0
    """Where it listens, or did last."""
    mark: str = ""
    """Another one for each start."""
    pid: int = 0
    """0 until it runs."""


@dataclass(frozen=True, slots=True)
class Folder:
    """The folder, and the name of this machine's files in it."""

    path: Path
    name: str = field(default_factory=lambda: _name())

    @classmethod
    def find(cls) -> Folder:
        """Create the folder if it doesn't exist.

        Raises:
            NoPageProcess: This isn't Linux, or other users could enter the folder.
        """
        if sys.platform != "linux":
            raise NoPageProcess("only Linux says which user is at the other end of a connection")
        path = default_file().parent / "pages"
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
            about = path.lstat()
            folder = cls(path)
        except OSError as exc:
            raise NoPageProcess(f"there is no folder for it ({exc!s})") from None
        if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
            raise NoPageProcess(f"other users of this machine may enter {path!s} (run chmod 700)")
        return folder

    # --- locks --------------------------------------------------------------------------------

    @contextmanager
    def hold_lock(self) -> Generator[None]:
        """While this is open, nobody else starts, reaches or ends the process.

        Raises:
            NoPageProcess: Somebody else has held the lock for too long.
        """
        until = time.monotonic() + PAGES_LOCK_SECONDS
        start = self._open("start.lock")
        try:
            while not lock(start):
                if time.monotonic() > until:
                    raise NoPageProcess("another server has held its lock for too long")
                time.sleep(PAGES_RETRY_SECONDS)
            yield
        finally:
            os.close(start)

    def open_life(self) -> int:
        """A descriptor of the file that the process holds locked."""
        return self._open(f"{self.name}.lock")

    def _open(self, name: str) -> int:
        try:
            return os.open(self.path / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as exc:
            raise NoPageProcess(f"its files cannot be opened ({exc!s})") from None

    def find_running(self) -> Life | None:
        """The process, if there is one.

        Raises:
            NoPageProcess: The lock can't be had.
        """
        with self.hold_lock():
            life = self.open_life()
            try:
                return None if lock(life) else read_life(life)
            finally:
                os.close(life)

    # --- the socket ---------------------------------------------------------------------------

    @contextmanager
    def address(self) -> Generator[str]:
        """The address of the socket, by a short name: the folder's may be longer than the system allows."""
        folder = os.open(self.path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield f"/proc/self/fd/{folder}/{self.name}.sock"
        finally:
            os.close(folder)

    def listen(self) -> socket.socket:
        """The socket of a process that is about to start."""
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with self.address() as address:
                (self.path / f"{self.name}.sock").unlink(missing_ok=True)
                listening.bind(address)
                os.chmod(address, 0o600)
            listening.listen(LOCAL_BACKLOG)
        except OSError:
            listening.close()
            raise
        listening.setblocking(False)
        return listening

    def connect(self) -> socket.socket:
        """A connection to the process, whose user is checked.

        Raises:
            OSError: Nobody listens, or another user does.
        """
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.setblocking(False)  # it waits for nobody: the system takes connections before the process does
            with self.address() as address:
                connection.connect(address)
            if not is_own(connection):
                raise PermissionError("another user listens there")
        except OSError:
            connection.close()
            raise
        return connection

    def remove_stale(self) -> None:
        """Remove what processes of other versions and earlier boots have left. The start lock must be held."""
        for path in self.path.glob("*.lock"):
            if path.name in ("start.lock", f"{self.name}.lock"):
                continue
            left = self._open(path.name)
            try:
                if lock(left):
                    path.unlink(missing_ok=True)
                    path.with_suffix(".sock").unlink(missing_ok=True)
            finally:
                os.close(left)


def _name() -> str:
    parts = (__version__, _BOOT.read_text().strip(), str(_NETWORK.stat().st_ino))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def lock(descriptor: int) -> bool:
    """Lock this file, unless somebody else has. The lock belongs to all who inherit the descriptor."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def unlock(descriptor: int) -> None:
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def read_life(descriptor: int) -> Life:
    """What this file says; nothing if it's empty or damaged."""
    with suppress(ValueError, TypeError, LookupError, OverflowError, RecursionError):
        found: dict[str, Any] = json.loads(os.pread(descriptor, _LIFE, 0))
        life = Life(int(found["port"]), str(found["mark"]), int(found["pid"]))
        if 0 <= life.port <= LAST_PORT and life.pid >= 0:
            return life
    return Life()


def write_life(descriptor: int, life: Life) -> None:
    """In one write, of always the same length: others may read it meanwhile."""
    data = json.dumps({"port": life.port, "mark": life.mark, "pid": life.pid}).encode()
    os.pwrite(descriptor, data.ljust(_LIFE), 0)


def is_own(connection: socket.socket) -> bool:
    """Whether a program of this user is at the other end of this socket."""
    if sys.platform != "linux":
        return False
    found = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(found)[1] == os.getuid()
