"""A server by its name, `"package.module:mcp"`: imported here, or served by processes of its own."""

from __future__ import annotations

import importlib
import os
import re
import secrets
import sys
from collections.abc import Sequence
from functools import reduce
from typing import Final

from mcp.client.stdio import StdioServerParameters

__all__ = ["imported", "is_name", "processes"]

_NAME: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def is_name(server: object) -> bool:
    """Whether this names a server as `"package.module:attribute"`."""
    return isinstance(server, str) and _NAME.fullmatch(server) is not None


def imported(server: object) -> object:
    """The server of this name; anything else as it is.

    Raises:
        AssertionError: The module has no such attribute.
    """
    if not isinstance(server, str) or not is_name(server):
        return server
    module, _, name = server.partition(":")
    try:
        return reduce(getattr, name.split("."), importlib.import_module(module))
    except AttributeError:
        raise AssertionError(
            f"There is no {name!r} in the module {module!r}. Name the variable of the server."
        ) from None


def processes(name: str, hash_seeds: Sequence[int]) -> list[StdioServerParameters]:
    """A command for each seed that serves this server over stdio. They unseal each other's states."""
    shared = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "MIDCALL_KEYS": os.environ.get("MIDCALL_KEYS") or secrets.token_hex(32),
        "MIDCALL_MAX_ROUNDS": "1000",  # one answer a round takes more of them than a client would
    }
    return [
        StdioServerParameters(
            command=sys.executable,
            args=["-m", "midcall.testing.serving", name],
            env={**shared, "PYTHONHASHSEED": str(seed)},
        )
        for seed in hash_seeds
    ]
