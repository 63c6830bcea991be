"""Connect a client in one step, on any version the server speaks, with an answerer for its questions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, Literal, TypeAlias, cast

import httpx2
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import Implementation

from midcall import __version__
from midcall.client.answerer import Answerer, modes_of
from midcall.client.asked import Mode
from midcall.client.connection.attach import attach_older
from midcall.client.connection.callback import check_seconds
from midcall.client.connection.incoming import modes_at, name_connection
from midcall.client.connection.older import Older
from midcall.client.connection.visits import OnComplete
from midcall.client.guard import limit_rate
from midcall.client.transport.intake import Intake
from midcall.client.transport.offer import Offer
from midcall.client.transport.server_log import Errlog
from midcall.client.transport.target import CannotConnect, ConnectOptions, Reached, Target, leaf, reach
from midcall.protocol import PUSHING, VERSIONS, Version
from midcall.settings.client import CONNECT_SECONDS, MAX_CLIENT_ROUNDS, VISIT_SECONDS

Era: TypeAlias = Version | Literal["auto", "legacy"]
ERAS: Final[tuple[Era, ...]] = ("auto", "legacy", *VERSIONS)

_LEGACY: Final = ("legacy", *PUSHING)


@asynccontextmanager
async def connect(
    target: Target,
    answerer: Answerer,
    *,
    era: Era = "auto",
    downgrade: bool = False,
    timeout: float | None = None,
    patience: float | None = VISIT_SECONDS,
    on_complete: OnComplete | None = None,
    connect_timeout: float | None = CONNECT_SECONDS,
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

    It declares only the modes that the answerer can serve, speaks every protocol version, and retries calls that
    need visits first (the error -32042) when these are done.

    Args:
        target: A URL; a command that starts a server, as one line or as a list of arguments;
            `StdioServerParameters`; a server object (`MCPServer`, the low-level `Server`, FastMCP);
            or a transport.
        answerer: Answers the questions.
        era: The protocol version. "auto" takes the newest that the server speaks, "legacy" the
            newest that pushes its questions.
        downgrade: Many servers negotiate 2026-07-28, and then fail to ask there, because their tools push. This makes
            such a call again, and all later calls, on a second connection with an older version. What the tool did
            before it asked then happens twice. Without it, the error or the log says what to pass.
        timeout: Seconds after which a question is cancelled.
        patience: Seconds to wait for required visits if neither the server nor the user says that they're done; then
            the call is repeated. None for no limit.
        on_complete: Called with the id of each visit that the server reports as done, and whether this client was
            asked to make it.
        connect_timeout: Seconds to connect in.
        env: For a command: variables besides the few that it inherits (PATH, HOME, ...).
        cwd: For a command: the directory to run it in.
        errlog: For a command: a file that gets its standard error unchanged, or a function that gets each
            line, sanitized. By default it goes to our standard error: unchanged if that's a file; on a
            terminal line by line, sanitized, and not while a question is shown.
        headers: For a URL: headers of every request.
        auth: For a URL: how requests are authorized.
        **options: More arguments for `mcp.Client`.

    Raises:
        CannotConnect: It could not connect.
    """
    check_era(era, ERAS)
    answerer = limit_rate(answerer)  # here, so that both connections of a downgrade share the rate
    check_seconds("connect_timeout", connect_timeout)
    reached = reach(target, ConnectOptions(env, cwd, errlog, headers, auth, bool(options.get("raise_exceptions"))))
    options.setdefault("client_info", Implementation(name="midcall", version=__version__))
    options.setdefault("input_required_max_rounds", MAX_CLIENT_ROUNDS)
    pinned = era if era in PUSHING else None  # the newest needs no pin: the server says whether it speaks it
    modes: list[Mode] = [mode for mode in modes_of(answerer) if mode in modes_at(pinned)]
    transport = Intake(Offer(reached.transport, version=pinned, modes=modes, bare=pinned == "2025-06-18"))
    client = Client(transport, mode="legacy" if era in _LEGACY else "auto", **options)
    older = None
    if downgrade:
        _check_downgrade(era, target)
        ways: dict[str, Any] = {"env": env, "cwd": cwd, "errlog": errlog, "headers": headers, "auth": auth, **options}
        ways |= {"timeout": timeout, "patience": patience, "on_complete": on_complete}
        older = Older(lambda: connect(target, answerer, era="legacy", connect_timeout=connect_timeout, **ways))
    attach_older(client, answerer, older, timeout, patience, on_complete)
    async with open_client(client, reached, era, connect_timeout):
        # Two connections to the same server have their target in common. Server objects and transports may look alike.
        is_text = isinstance(target, (str, list, tuple, StdioServerParameters))
        name_connection(client.session, cast("object", target) if is_text else id(target), cwd, env)
        try:
            yield client
        finally:
            if older is not None:
                await older.close()


def _check_downgrade(era: Era, target: Target) -> None:
    """Raise if there can't be a second connection, or if it would have the same version."""
    if era in _LEGACY:
        raise ValueError(f"downgrade=True is for a newer version than era={era!r}: leave one of them out.")
    if hasattr(target, "__aexit__") and not isinstance(target, (Server, MCPServer)):
        raise TypeError(
            "downgrade=True connects a second time, and a transport can be used only once: pass its target."
        )


def check_era(era: str, eras: Sequence[str]) -> None:
    """Raise `ValueError` if this isn't one of these eras."""
    if era not in eras:
        raise ValueError(f"era must be one of {', '.join(eras)}, not {era!r}")


@asynccontextmanager
async def open_client(client: Client, reached: Reached, era: Era, seconds: float | None) -> AsyncGenerator[None]:
    """Keep this client connected. Errors in the body come out as they are, which the transports would wrap."""
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
        # An anyio cancel scope can't be used: it would have to outlive the scopes that the client opens here.
        async with asyncio.timeout(seconds):
            await stack.enter_async_context(client)
    except Exception as error:
        cause = leaf(error)
        raise reached.explain(cause, seconds) from cause


def _check_version(client: Client, reached: Reached, era: Era) -> None:
    if era not in ("auto", "legacy", client.protocol_version):
        raise CannotConnect.because(
            reached.name,
            (f"it speaks {client.protocol_version}, not {era}", "Use auto to negotiate the version."),
        )
