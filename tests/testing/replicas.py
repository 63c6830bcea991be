"""A server that tests name as "tests.testing.replicas:mcp", so that separate processes can serve it."""

from __future__ import annotations

import midcall
from midcall import ask
from tests.kinds import bare_server

NAMES = frozenset({"alpha", "beta", "gamma", "delta", "epsilon", "zeta"})


async def in_any_order() -> str:
    return " ".join(sorted([await ask(f"{name}?", str) for name in NAMES]))


async def in_order() -> str:
    return " ".join([await ask(f"{name}?", str) for name in sorted(NAMES)])


mcp = bare_server("mcpserver", in_any_order, in_order)
midcall.install(mcp)
