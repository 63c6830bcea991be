"""Servers and browsers that tests of the client side share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from tests.browser import launch
from tests.client.hostile import SERVER, STDIO
from tests.serving import serving


@pytest.fixture(scope="module")
def hostile_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(SERVER, tmp_path_factory.mktemp("hostile") / "log") as url:
        yield url


@pytest.fixture
def hostile(over: str, request: pytest.FixtureRequest) -> str:
    """The hostile server, reached over what the test wants."""
    return STDIO if over == "stdio" else request.getfixturevalue("hostile_url")


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def browser() -> AsyncIterator[Any]:
    async with launch() as browser:
        yield browser
