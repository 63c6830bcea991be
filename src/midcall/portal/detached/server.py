"""The server's end: it finds the page process or starts it, hands it pages, and checks secrets for it."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final

from midcall.core.caller import ServerIdentity
from midcall.core.wire import spell
from midcall.portal.detached.files import (
    LOG,
    Folder,
    Life,
    NoPageProcess,
    lock,
    read_life,
    write_life,
)
from midcall.portal.logs import logger
from midcall.portal.oauth import Provider
from midcall.settings.portal import PAGES_MESSAGE_BYTES, PORTAL_HOST
from midcall.stores.keys import derive
from midcall.web.local_server import bind
from midcall.web.secret_checks import Check

_ENVIRONMENT: Final = (
    *("HOME", "PATH", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "XDG_DATA_HOME"),
    *("LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"),
)
"""What the process gets of our environment, which may hold keys."""


_PROVIDER: Final = tuple(each.name for each in fields(Provider) if each.init)
"""What a provider is made with; the rest follows from that."""


@dataclass(frozen=True, slots=True)
class Site:
    """What the process has to know to serve the pages of one server. It never leaves this user's memory."""

    file: str
    """The SQLite file."""
    keys: Sequence[str | bytes] = field(repr=False)
    identity: ServerIdentity
    server_name: str
    title: str | None
    templates: str | None
    hosts: Sequence[str]
    pause: float
    providers: Sequence[Provider] = field(default=(), repr=False)

    @property
    def path(self) -> str:
        """Where its pages are: the same for each process of this server with these settings and keys."""
        about = {name: value for name, value in self.as_data().items() if name not in ("keys", "providers")}
        key = b"".join(derive(self.keys, "pages"))
        return f"/{spell(hmac.digest(key, json.dumps(about, sort_keys=True).encode(), 'sha256')[:12])}"

    def as_data(self) -> dict[str, Any]:
        keys = [key.encode() if isinstance(key, str) else bytes(key) for key in self.keys]
        return {
            "file": self.file,
            "keys": [b64encode(key).decode() for key in keys],
            "identity": asdict(self.identity),
            "server_name": self.server_name,
            "title": self.title,
            "pause": self.pause,
            "templates": self.templates,
            "hosts": list(self.hosts),
            "providers": [{name: getattr(each, name) for name in _PROVIDER} for each in self.providers],
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Site:
        made: dict[str, Any] = {
            "keys": [b64decode(key) for key in data["keys"]],
            "identity": ServerIdentity(**data["identity"]),
            "providers": [Provider(**each) for each in data["providers"]],
        }
        return cls(**{**data, **made})


class Detached:
    """Hands the pages of one server to the page process.

    Args:
        site: Whose pages they are.
        find_check: The check of a secret, by its name: it checks what users type for as long as this server lives.
    """

    def __init__(self, site: Site, find_check: Callable[[str], Check | None]) -> None:
        self._site = site
        self._find_check = find_check
        self._connection: socket.socket | None = None
        self._mark = ""
        """The process that we are connected to."""
        self._started = ""
        """The process that we started."""
        self._sending = threading.Lock()
        self._answering: dict[socket.socket, asyncio.Task[None]] = {}

    async def open(self, id: str, until: float, secret: str) -> str:
        """Let the process serve this page until then, and return its address. `secret` is what its page asks for.

        Raises:
            NoPageProcess: No process is running, and none can be started.
        """
        message = {"site": self._site.as_data(), "open": id, "until": until, "secret": secret}
        try:
            port = await asyncio.to_thread(self._hand_over, _encode(message))
        except (OSError, ValueError) as exc:
            self.close()
            raise NoPageProcess(f"it could not be started or reached ({exc!s})") from None
        if (connection := self._connection) is not None and connection not in self._answering:
            answering = self._answer_checks(connection)
            # Not in the context of the call that hands over a page: checks have nothing to do with that.
            task = asyncio.create_task(answering, name="midcall page process", context=Context())
            self._answering[connection] = task
        return f"http://{PORTAL_HOST}:{port}{self._site.path}/i/{id}"

    def close(self) -> None:
        """Check no more secrets. The process keeps serving its pages."""
        for connection, task in list(self._answering.items()):
            if task.get_loop().is_closed():
                self._drop(connection)
            else:
                task.cancel()
        if self._connection is not None and self._connection not in self._answering:
            self._drop(self._connection)

    def _drop(self, connection: socket.socket) -> None:
        connection.close()
        self._answering.pop(connection, None)
        if self._connection is connection:
            self._connection = None

    # --- in a thread ----------------------------------------------------------------------------

    def _hand_over(self, message: bytes) -> int:
        folder = Folder.find()
        with folder.hold_lock():
            life = folder.open_life()
            try:
                now = self._start(folder, life) if lock(life) else read_life(life)  # locked for the one we start
                if not now.port:
                    raise NoPageProcess(f"nothing says where it listens: see {folder.path!s}")
                self._send(folder, now, message)
            finally:
                os.close(life)  # the process holds the lock
        return now.port

    def _send(self, folder: Folder, now: Life, message: bytes) -> None:
        """While the start lock is held: then the process doesn't end before it has read this."""
        with self._sending:
            if self._connection is None or self._mark != now.mark:  # the task of an earlier one closes that
                self._connection, self._mark = folder.connect(), now.mark
            self._connection.sendall(message)

    def _start(self, folder: Folder, life: int) -> Life:
        """Start the process. It inherits its sockets, so they take connections at once."""
        before = read_life(life)
        if self._started and before.mark == self._started and not before.pid:
            raise NoPageProcess(f"it has ended while it started: see {folder.path / LOG!s}")
        if not sys.executable or getattr(sys, "frozen", False):
            raise NoPageProcess("this program is not run by a Python interpreter that could run it")
        folder.remove_stale()
        try:
            where = bind(PORTAL_HOST, before.port)  # so that earlier addresses work again
        except OSError:
            where = bind(PORTAL_HOST, 0)
        with where, folder.listen() as control:
            now = Life(where.getsockname()[1], secrets.token_hex(8))
            write_life(life, now)
            handed = (where.fileno(), control.fileno(), life)
            log = os.open(folder.path / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
            try:
                started = subprocess.Popen(
                    [sys.executable, "-P", "-m", "midcall.portal.detached", str(folder.path), *map(str, handed)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=log,
                    cwd="/",
                    env=_environment(),
                    pass_fds=handed,
                    start_new_session=True,
                )
            finally:
                os.close(log)
        self._started = now.mark
        # It ends at once: its own child serves.
        threading.Thread(target=started.wait, name="midcall page process", daemon=True).start()
        return now

    # --- checks of secrets ------------------------------------------------------------------------

    async def _answer_checks(self, connection: socket.socket) -> None:
        """Check what the users of our pages type, until the process ends, or we do."""
        loop, left = asyncio.get_running_loop(), b""
        try:
            while data := await loop.sock_recv(connection, PAGES_MESSAGE_BYTES):
                *lines, left = (left + data).split(b"\n")
                for line in lines:
                    answer = _encode(await self._answer(json.loads(line)))
                    with self._sending:
                        connection.sendall(answer)
        except (OSError, ValueError):
            logger.debug("the page process has closed its connection")
        finally:
            self._drop(connection)

    async def _answer(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        try:
            check = self._find_check(asked["secret"])
            return {"check": asked["check"], "problem": None if check is None else await check(asked["values"])}
        except Exception as exc:  # its text may hold the value
            logger.warning(f"the check of the secret {asked['secret']!r} failed: {type(exc).__name__}")
            return {"check": asked["check"], "failed": True}


def _encode(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _environment() -> dict[str, str]:
    found = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    return found | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if os.path.isabs(path))}


def is_stdio() -> bool:
    """Whether this program speaks with the one that started it: its standard input and output are pipes or sockets."""
    import stat

    try:
        modes = [os.fstat(descriptor).st_mode for descriptor in (0, 1)]
    except OSError:
        return False
    return all(stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) for mode in modes)
