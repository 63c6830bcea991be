"""Asks the Linux kernel about one connection, by netlink (man 7 sock_diag).

The table in /proc says the same, but has to be read to the end, and a busy machine has thousands of connections.
"""

from __future__ import annotations

import socket
import sys
from ipaddress import ip_address
from struct import Struct
from typing import Final

__all__ = ["uid_of"]

Address = tuple[str, int]

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST: Final = 1

_HEADER: Final = Struct("=IHHII")  # length, type, flags, sequence, port
_WANTED: Final = Struct("=BBBBI")  # family, protocol, extensions, padding, states
_ENDS: Final = Struct(">HH16s16s")  # ports and addresses: ours first, which is the client's here
_ANY: Final = Struct("=III").pack(0, 0xFFFFFFFF, 0xFFFFFFFF)  # interface and cookie
_REPLY: Final = Struct(f"=4x{_ENDS.size}s{len(_ANY)}x12xII")  # the ends, the user, the inode


def uid_of(client: Address, server: Address) -> int | None:
    """The user whose program holds the client's end; None if the kernel does not say, for whatever reason."""
    family = socket.AF_INET6 if ip_address(client[0]).version == 6 else socket.AF_INET
    ends = _ENDS.pack(client[1], server[1], ip_address(client[0]).packed, ip_address(server[0]).packed)
    reply = _asked(_WANTED.pack(family, socket.IPPROTO_TCP, 0, 0, 0xFFFFFFFF) + ends + _ANY)
    if len(reply) < _HEADER.size + _REPLY.size or _HEADER.unpack_from(reply)[1] != _BY_FAMILY:
        return None
    found, uid, inode = _REPLY.unpack_from(reply, _HEADER.size)
    # Where there is no such connection, the kernel may name who listens on the client's port.
    return uid if found == ends and inode else None


def _asked(request: bytes) -> bytes:
    """What the kernel answers, which is there as soon as the request is sent; nothing where it may not be asked."""
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
