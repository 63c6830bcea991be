"""The client side: answer a server's questions.

    from midcall.client import Terminal, connect

    async with connect("http://localhost:8000/mcp", Terminal()) as client:
        result = await client.call_tool("book", {"destination": "Oslo"})

Each name is imported when it's first used, so you load only what your answerer needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from midcall.client.answerer import Answerer, CannotAnswer, Waiting, Waits
    from midcall.client.asked import Asked, FormQuestion, VisitQuestion
    from midcall.client.automatic.headless import Headless
    from midcall.client.automatic.script import NoAnswer, Script
    from midcall.client.automatic.script_file import BadScript
    from midcall.client.browser import Browser
    from midcall.client.connection.attach import attach
    from midcall.client.connection.callback import callback, fastmcp_handler
    from midcall.client.connection.connect import CannotConnect, connect
    from midcall.client.guard import Guard, Rate
    from midcall.client.lines.lines import Lines
    from midcall.client.pending import Change, DoesNotFit, NotPending, Pending
    from midcall.client.terminal import Terminal
    from midcall.client.urls import look, open_in_browser

_HOMES = {
    "midcall.client.answerer": ("Answerer", "CannotAnswer", "Waiting", "Waits"),
    "midcall.client.asked": ("Asked", "FormQuestion", "VisitQuestion"),
    "midcall.client.browser": ("Browser",),
    "midcall.client.connection.attach": ("attach",),
    "midcall.client.connection.callback": ("callback", "fastmcp_handler"),
    "midcall.client.connection.connect": ("CannotConnect", "connect"),
    "midcall.client.urls": ("look", "open_in_browser"),
    "midcall.client.guard": ("Guard", "Rate"),
    "midcall.client.automatic.headless": ("Headless",),
    "midcall.client.lines.lines": ("Lines",),
    "midcall.client.pending": ("Change", "DoesNotFit", "NotPending", "Pending"),
    "midcall.client.automatic.script": ("NoAnswer", "Script"),
    "midcall.client.automatic.script_file": ("BadScript",),
    "midcall.client.terminal": ("Terminal",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Answerer",
    "Asked",
    "BadScript",
    "Browser",
    "CannotAnswer",
    "CannotConnect",
    "Change",
    "DoesNotFit",
    "FormQuestion",
    "Guard",
    "Headless",
    "Lines",
    "NoAnswer",
    "NotPending",
    "Pending",
    "Rate",
    "Script",
    "Terminal",
    "VisitQuestion",
    "Waiting",
    "Waits",
    "attach",
    "callback",
    "connect",
    "fastmcp_handler",
    "look",
    "open_in_browser",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'midcall.client' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return list(__all__)
