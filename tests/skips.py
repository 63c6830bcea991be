"""Skips for what a machine may lack, each with a reason that says how to install it."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import NoReturn

import pytest

from scripts.peers import missing


def needs_peer(npm_package: str) -> pytest.MarkDecorator:
    """Skip if Node.js 22+ or the npm package isn't installed."""
    reason = missing(npm_package)
    return pytest.mark.skipif(reason is not None, reason=reason or "")


def chromium() -> str | None:
    """Chromium's path, if it's installed."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next((path for path in found if path), None)


def needs_chromium() -> pytest.MarkDecorator:
    """Skip without Chromium, or without Playwright to drive it."""
    missing = find_spec("playwright") is None or chromium() is None
    return pytest.mark.skipif(missing, reason="Chromium or Playwright is missing: make venv browser")


def without(what: str) -> NoReturn:
    """Skip if a server that a test needs is neither reachable nor installed."""
    pytest.skip(f"{what} is neither reachable nor installed: make services")


def needs_tasks() -> pytest.MarkDecorator:
    """Skip if FastMCP's tasks extension isn't installed."""
    return pytest.mark.skipif(find_spec("fastmcp_tasks") is None, reason="missing: pip install 'fastmcp[tasks]'")
