"""Recipes import each other as scripts do, and connect only to this machine."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RECIPES = Path(__file__).parents[2] / "examples" / "recipes"


@pytest.fixture(autouse=True, scope="session")
def on_the_path() -> Iterator[None]:
    sys.path.insert(0, str(RECIPES))
    yield
    sys.path.remove(str(RECIPES))


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        assert self.family == socket.AF_UNIX or address[0] in ("127.0.0.1", "::1"), f"reaches for {address}"
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
