"""A provider, a portal that connects accounts there, and a clock and a store to watch."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from midcall.portal.oauth import Provider
from tests.portal.oauth.authorization_server import AuthorizationServer, authorization_server
from tests.portal.oauth.connecting import Clock, Replica, Watched, discovered


@pytest_asyncio.fixture
async def acme() -> AsyncGenerator[AuthorizationServer]:
    async with authorization_server() as server:
        yield server


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> Watched:
    return Watched()


@pytest.fixture
def provider(acme: AuthorizationServer) -> Provider:
    return discovered(acme)


@pytest.fixture
def here(store: Watched, clock: Clock, provider: Provider) -> Replica:
    return Replica(store, clock, provider)
