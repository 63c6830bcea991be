"""Runs `midcall.install(server)` after every constructor, in each process that the tests start.

A `.pth` file of the suites' virtual environment imports this, since a plugin of pytest would miss the servers that
tests run as subprocesses.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

__all__: list[str] = []

CLASSES = {
    "mcp.server.lowlevel.server": "Server",
    "mcp.server.mcpserver.server": "MCPServer",
    "fastmcp.server.server": "FastMCP",
}


class UnderConstruction(threading.local):
    """The server whose constructor is running in this thread."""

    server: object | None = None


under_construction = UnderConstruction()


class Loader(SourceFileLoader):
    """Adds the line to the server class of a module, once the module is loaded."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        add_line(getattr(module, CLASSES[module.__name__]))


class Finder(MetaPathFinder):
    """Watches for the modules that define a server class, and imports none of them early."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname in CLASSES else None
        if spec is not None and spec.origin is not None:
            spec.loader = Loader(fullname, spec.origin)
        return spec


def add_line(cls: type[Any]) -> None:
    """Call `midcall.install` after the constructor of this class, and of every subclass that has one."""
    wrap_constructor(cls)

    def init_subclass(subclass: type[Any], **kwargs: Any) -> None:
        super(cls, subclass).__init_subclass__(**kwargs)
        if "__init__" in vars(subclass):
            wrap_constructor(subclass)

    cls.__init_subclass__ = classmethod(init_subclass)  # pyright: ignore[reportAttributeAccessIssue]


def wrap_constructor(cls: type[Any]) -> None:
    original: Callable[..., None] = cls.__init__

    @functools.wraps(original)
    def construct(self: object, *args: Any, **kwargs: Any) -> None:
        # Either a base class's constructor, or the low-level server inside an MCPServer or a FastMCP.
        if under_construction.server is not None:
            original(self, *args, **kwargs)
            return
        under_construction.server = self
        try:
            original(self, *args, **kwargs)
        finally:
            under_construction.server = None
        install(self)

    cls.__init__ = construct


def install(server: Any) -> None:
    import midcall

    midcall.install(server)


sys.meta_path.insert(0, Finder())
