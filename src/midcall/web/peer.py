"""Who is at the other end of a connection on this machine. Linux tells; macOS and Windows do not.

A proxy at the other end speaks for anyone, from anywhere.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final

from starlette.requests import HTTPConnection

from midcall.web import sockdiag

__all__ = ["can_tell", "is_own", "uid_of"]

Address = tuple[str, int]

_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOCAL, _REMOTE, _UID, _INODE = 1, 2, 7, 9
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")


def is_own(request: HTTPConnection) -> bool:
    """Whether a program of the user that this one runs as has sent the request, from this machine.

    Where the system does not tell whose program it is, it is enough that it comes from this machine.
    """
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    try:
        here = ip_address(request.client.host).is_loopback
    except ValueError:
        return False
    return here and (not can_tell() or _is_same_user(request))


def _is_same_user(request: HTTPConnection) -> bool:
    server = request.scope.get("server")
    if request.client is None or server is None or server[1] is None:
        return False
    return uid_of((request.client.host, request.client.port), (server[0], server[1])) == os.getuid()


def can_tell() -> bool:
    """Whether this system lets us know."""
    return sys.platform == "linux"


def uid_of(client: Address, server: Address) -> int | None:
    """The user whose program holds the client's end; None if that cannot be told.

    The kernel is asked about this one connection. Where it may not be asked, or has no answer, its table is read.
    Once a program has closed its end, the kernel says "root" of it, and gives it no inode: that tells nothing.
    """
    if (uid := sockdiag.uid_of(client, server)) is not None:
        return uid
    wanted = {(theirs, ours) for theirs, ours in zip(_written(client), _written(server), strict=True)}
    for row in _rows():
        if (row[_LOCAL], row[_REMOTE]) in wanted and row[_INODE] != "0":
            return int(row[_UID])
    return None


def _rows() -> Iterator[list[str]]:
    for table in _TABLES:
        with suppress(OSError), table.open() as lines:
            next(lines, None)
            yield from (line.split() for line in lines)


def _written(address: Address) -> list[str]:
    """How the kernel writes an address: as IPv4, and as IPv4 in IPv6."""
    host, port = ip_address(address[0]), address[1]
    mapped = IPv6Address(f"::ffff:{host}") if isinstance(host, IPv4Address) else host
    return [f"{_words(host.packed)}:{port:04X}", f"{_words(mapped.packed)}:{port:04X}"]


def _words(packed: bytes) -> str:
    return "".join(f"{word:08X}" for word in struct.unpack(f"={len(packed) // 4}I", packed))
