"""Skips for what a machine may lack, each with a reason that says how to get it."""

from __future__ import annotations

import pytest

from scripts.peers import missing


def needs_peer(npm_package: str) -> pytest.MarkDecorator:
    """Skips where Node.js 22+ or the npm package is not installed."""
    reason = missing(npm_package)
    return pytest.mark.skipif(reason is not None, reason=reason or "")
