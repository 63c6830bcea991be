"""The pytest side of `midcall.testing`; it is there as soon as midcall is installed."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest


@pytest.fixture
def midcall_replayed() -> Callable[..., Coroutine[Any, Any, Any]]:
    """`midcall.testing.replayed`: calls a tool pushed, live, replayed and one answer at a time."""
    from midcall.testing import replayed

    return replayed
