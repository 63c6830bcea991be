"""Which user is at the other end of a connection on this machine. Linux says; macOS and Windows do not.

A proxy at the other end speaks for anyone, from anywhere.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from struct import Struct
from typing import Final

from starlette.requests import HTTPConnection

Address = tuple[str, int]

_FORWARDED: Final = re.compile(
    r"via|forwarded|x-forwarded.*|x-original-.*|x-real-ip|x-client-ip|true-client-ip|(?:cf|fly|fastly)-.*|x-envoy-.*"
)
"""The headers of proxies and tunnels."""


def is_own(request: HTTPConnection) -> bool:
    """Whether a program of the user that this one runs as has sent the request, from this machine.

    If the system does not say whose program it is, any program on this machine counts.
    """
    if request.client is None or any(map(_FORWARDED.fullmatch, request.headers)):
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
    """Whether this system says whose connection it is."""
    return sys.platform == "linux"


def uid_of(client: Address, server: Address) -> int | None:
    """The user whose program holds the client's end; None if the kernel does not say.

    Netlink answers for this one connection. If it is not allowed or has no answer, fall back to the table in /proc.
    """
    uid = _from_netlink(client, server)
    return uid if uid is not None else _from_table(client, server)


# --- netlink (man 7 sock_diag) ---------------------------------------------------------------

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST: Final = 1

_HEADER: Final = Struct("=IHHII")  # length, type, flags, sequence, port
_WANTED: Final = Struct("=BBBBI")  # family, protocol, extensions, padding, states
_ENDS: Final = Struct(">HH16s16s")  # ports and addresses: ours first, which is the client's here
_ANY: Final = Struct("=III").pack(0, 0xFFFFFFFF, 0xFFFFFFFF)  # interface and cookie
_REPLY: Final = Struct(f"=4x{_ENDS.size}s{len(_ANY)}x12xII")  # the ends, the user, the inode


def _from_netlink(client: Address, server: Address) -> int | None:
    family = socket.AF_INET6 if ip_address(client[0]).version == 6 else socket.AF_INET
    ends = _ENDS.pack(client[1], server[1], ip_address(client[0]).packed, ip_address(server[0]).packed)
    reply = _ask_kernel(_WANTED.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF) + ends + _ANY)
    if len(reply) < _HEADER.size + _REPLY.size or _HEADER.unpack_from(reply)[1] != _BY_FAMILY:
        return None
    found, uid, inode = _REPLY.unpack_from(reply, _HEADER.size)
    # Without such a connection, the kernel may return the socket that listens on the client's port.
    return uid if found == ends and inode else None


def _ask_kernel(request: bytes) -> bytes:
    """The kernel's reply, which is there as soon as the request is sent; empty if it may not be asked."""
    if sys.platform != "linux":
        return b""
    header = _HEADER.pack(_HEADER.size + len(request), _BY_FAMILY, _REQUEST, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, _SOCK_DIAG) as kernel:
            kernel.sendto(header + request, (0, 0))
            reply, (sender, _) = kernel.recvfrom(4096)
    except OSError:
        return b""
    return reply if sender == 0 else b""


# --- /proc -----------------------------------------------------------------------------------

_TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOCAL, _REMOTE, _UID, _INODE = 1, 2, 7, 9


def _from_table(client: Address, server: Address) -> int | None:
    """Once a program has closed its end, the kernel lists it as root's, without an inode: that says nothing."""
    wanted = set(zip(_format(client), _format(server), strict=True))
    for row in _rows():
        if (row[_LOCAL], row[_REMOTE]) in wanted and row[_INODE] != "0":
            return int(row[_UID])
    return None


def _rows() -> Iterator[list[str]]:
    for table in _TABLES:
        with suppress(OSError), table.open() as lines:
            next(lines, None)
            yield from (line.split() for line in lines)


def _format(address: Address) -> list[str]:
    """The address as the table writes it: as IPv4, and as IPv4 in IPv6."""
    host, port = ip_address(address[0]), address[1]
    mapped = IPv6Address(f"::ffff:{host}") if isinstance(host, IPv4Address) else host
    return [f"{_words(host.packed)}:{port:04X}", f"{_words(mapped.packed)}:{port:04X}"]


def _words(packed: bytes) -> str:
    return "".join(f"{word:08X}" for word in struct.unpack(f"={len(packed) // 4}I", packed))
