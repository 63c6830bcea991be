"""A client in one step: connected, on whatever version the server speaks, and able to answer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, Literal, TypeAlias

import httpx2
from mcp import Client
from mcp.client._transport import Transport
from mcp_types import Implementation

from midcall import __version__
from midcall.client.answerer import Answerer, modes_at, modes_of
from midcall.client.asked import Mode
from midcall.client.attachment import attach
from midcall.client.transport.connection_errors import CannotConnect, leaf, reason_of
from midcall.client.transport.intake import Intake
from midcall.client.transport.offer import Offer
from midcall.client.transport.server_log import Errlog
from midcall.client.transport.target import Reached, Target, Ways, reach
from midcall.client.validation import check_seconds
from midcall.client.visits.url_required import PATIENCE
from midcall.client.visits.visits import OnComplete
from midcall.protocol import PUSHING, VERSIONS, Version
from midcall.wording.client import connecting as wording

__all__ = ["ERAS", "CannotConnect", "Era", "connect", "entered"]

Era: TypeAlias = Version | Literal["auto", "legacy"]
ERAS: Final[tuple[Era, ...]] = ("auto", "legacy", *VERSIONS)

_LEGACY: Final = ("legacy", *PUSHING)
_WITHIN: Final = 60.0


@asynccontextmanager
async def connect(
    target: Target,
    answerer: Answerer,
    *,
    era: Era = "auto",
    timeout: float | None = None,
    patience: float | None = PATIENCE,
    on_complete: OnComplete | None = None,
    connect_timeout: float | None = _WITHIN,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    errlog: Errlog | None = None,
    headers: Mapping[str, str] | None = None,
    auth: httpx2.Auth | None = None,
    **options: Any,
) -> AsyncGenerator[Client]:
    """A connected `mcp.Client` whose questions this answerer answers.

        async with connect("http://localhost:8000/mcp", Terminal()) as client:
            result = await client.call_tool("book", {"destination": "Oslo"})

    It declares only the modes that the answerer can serve, speaks every protocol version, and makes
    calls that need visits first (the error -32042) again once they are done.

    Args:
        target: A URL; a command that starts a server, as one line or as a list of arguments;
            `StdioServerParameters`; a server object (`MCPServer`, the low-level `Server`, FastMCP);
            or a transport.
        answerer: What answers.
        era: The protocol version. "auto" takes the newest that the server speaks, "legacy" the
            newest that pushes its questions.
        timeout: Seconds after which a question is cancelled.
        patience: Seconds to wait for the server to say that a required visit is done, where the
            answerer has no `wait`; None for no limit.
        on_complete: Called with the id of each visit that the server says is done.
        connect_timeout: Seconds until there must be a connection.
        env: For a command: variables on top of the few that are inherited (PATH, HOME, ...).
        cwd: For a command: where to run it.
        errlog: For a command: a file that gets its standard error as it is, or a function that gets each
            line, made safe to print. By default that goes to ours: into a file as it is, and on a
            terminal line by line, made safe, and not while a question is asked there.
        headers: For a URL: headers of every request.
        auth: For a URL: how requests are authorized.
        **options: More of `mcp.Client`.

    Raises:
        CannotConnect: There is no connection.
    """
    if era not in ERAS:
        raise ValueError(wording.unknown_era(era, ", ".join(ERAS)))
    check_seconds("connect_timeout", connect_timeout)
    reached = reach(target, Ways(env, cwd, errlog, headers, auth, bool(options.get("raise_exceptions"))))
    options.setdefault("client_info", Implementation(name="midcall", version=__version__))
    client = Client(_offered(reached.transport, era, answerer), mode="legacy" if era in _LEGACY else "auto", **options)
    attach(client, answerer, timeout=timeout, patience=patience, on_complete=on_complete)
    async with entered(client, reached, era, connect_timeout):
        yield client


def _offered(transport: Transport, era: Era, answerer: Answerer) -> Intake:
    """A pinned version of the handshake is offered; the newest is found by asking, since that names the server too."""
    pinned = era if era in PUSHING else None
    modes: list[Mode] = [mode for mode in modes_of(answerer) if mode in modes_at(pinned)]
    return Intake(Offer(transport, version=pinned, modes=modes, bare=pinned == "2025-06-18"))


@asynccontextmanager
async def entered(client: Client, reached: Reached, era: Era, seconds: float | None) -> AsyncGenerator[None]:
    """Inside, this client is connected. Errors of the body come out as themselves: the transports would wrap them."""
    failure: BaseException | None = None
    try:
        async with AsyncExitStack() as stack:
            await _enter(stack, client, reached, seconds)
            try:
                _check_version(client, reached, era)
                yield
            except Exception as error:
                failure = error
    except ExceptionGroup as group:
        failure = failure or leaf(group)
    if failure is not None:
        raise failure


async def _enter(stack: AsyncExitStack, client: Client, reached: Reached, seconds: float | None) -> None:
    try:
        # A cancel scope of anyio would have to outlive the scopes that the client opens here.
        async with asyncio.timeout(seconds):
            await stack.enter_async_context(client)
    except Exception as error:
        cause = leaf(error)
        reason = reason_of(cause, seconds, reached.command, reached.seen.status)
        raise CannotConnect.because(reached.name, reason) from cause


def _check_version(client: Client, reached: Reached, era: Era) -> None:
    if era not in ("auto", "legacy", client.protocol_version):
        raise CannotConnect.because(reached.name, _another_version(era, client.protocol_version))


def _another_version(wanted: str, spoken: str) -> tuple[str, str]:
    return f"it speaks {spoken}, and {wanted} was asked for", "Leave the version to be negotiated, with auto."
