"""Attach an answerer to a client that a host has made itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, Final, ParamSpec, TypeVar, cast

from mcp import Client, MCPError

from midcall.client.answerer import Answerer, check_answerer, modes_of
from midcall.client.connection.callback import Callback
from midcall.client.connection.incoming import has_rounds
from midcall.client.connection.older import Older, explain, refuses_push
from midcall.client.connection.url_required import Required
from midcall.client.connection.visits import OnComplete, Visits
from midcall.client.guard import limit_rate
from midcall.client.transport.intake import Intake
from midcall.client.transport.offer import Offer
from midcall.client.transport.target import ConnectOptions, reach
from midcall.errors import Misuse
from midcall.settings.client import VISIT_SECONDS

P = ParamSpec("P")
T = TypeVar("T")
ClientT = TypeVar("ClientT")

_CALLS: Final = ("call_tool", "get_prompt", "read_resource")
_FASTMCP_CALLS: Final = ("call_tool_mcp", "get_prompt_mcp", "read_resource_mcp")


def attach(
    client: ClientT,
    answerer: Answerer,
    *,
    timeout: float | None = None,
    patience: float | None = VISIT_SECONDS,
    on_complete: OnComplete | None = None,
) -> ClientT:
    """Let this answerer answer the questions of a client that isn't connected yet. Returns the client.

    Questions reach the answerer on every protocol version. If a call, prompt or resource needs visits first (the
    error -32042), the answerer shows each of them, the client waits, and the call is retried. The client's own
    message handler still gets every message.

    Args:
        client: An `mcp.Client`, which then declares only the modes that the answerer can serve; or a
            `fastmcp.Client`, which declares both.
        answerer: Answers the questions.
        timeout: Seconds after which a question is cancelled.
        patience: Seconds to wait for required visits if neither the server nor the user says that they're done; then
            the call is repeated. None for no limit.
        on_complete: Called with the id of each visit that the server reports as done, and whether this client was
            asked to make it.

    Raises:
        Misuse: The client is connected already, or has a callback for questions.
    """
    attach_older(client, answerer, None, timeout, patience, on_complete)
    return client


def attach_older(
    client: object,
    answerer: Answerer,
    older: Older | None,
    timeout: float | None,
    patience: float | None,
    on_complete: OnComplete | None,
) -> None:
    """The same, for a client whose calls can be repeated on an older version."""
    check_answerer(answerer)
    answerer = limit_rate(answerer)
    completed = getattr(answerer, "completed", None)
    visits = Visits(() if completed is None else (completed,), on_complete)
    callback = Callback(answerer, modes_of(answerer), timeout, visits)
    required = Required(answerer, visits, timeout, patience)
    if isinstance(client, Client):
        _attach_sdk(client, callback, visits, required, older)
    elif hasattr(client, "_session_kwargs"):
        _attach_fastmcp(cast("Any", client), callback, visits, required)
    else:
        raise TypeError(f"attach takes an mcp.Client or a fastmcp.Client, and not {type(client).__name__}")


def _attach_sdk(client: Client, callback: Callback, visits: Visits, required: Required, older: Older | None) -> None:
    _check(connected=client._entered, answers=client.elicitation_callback is not None)  # pyright: ignore[reportPrivateUsage]
    client.elicitation_callback = callback
    client.message_handler = visits.listen(client.message_handler)
    _redirect(client, callback).on_complete = visits.start_complete
    _wrap(client, _CALLS, required, older)


def _redirect(client: Client, callback: Callback) -> Intake:
    """Send the client through our transports. It resolved its server in `__post_init__`, so that runs again."""
    if not isinstance(client.server, Intake):
        transport = reach(client.server, ConnectOptions(raise_exceptions=client.raise_exceptions)).transport
        client.server = Intake(Offer(transport, modes=callback.modes))
        client.__post_init__()
    return client.server


def _attach_fastmcp(client: Any, callback: Callback, visits: Visits, required: Required) -> None:
    """Bypass FastMCP's setter, which would convert forms and errors."""
    options: dict[str, Any] = client._session_kwargs
    _check(connected=client.is_connected(), answers=options.get("elicitation_callback") is not None)
    client._elicitation_callback = options["elicitation_callback"] = callback
    options.update(client._build_extension_kwargs())
    options["message_handler"] = visits.listen(options["message_handler"])
    client._base_message_handler = visits.listen(client._base_message_handler)
    _wrap(client, _FASTMCP_CALLS, required)


def _check(*, connected: bool, answers: bool) -> None:
    if connected:
        raise Misuse("this client is already connected", advice="Call attach before you enter the client.")
    if answers:
        raise Misuse(
            "this client already has a callback for questions",
            advice="Leave elicitation_callback out: attach sets it.",
        )


def _wrap(client: Any, names: tuple[str, ...], required: Required, older: Older | None = None) -> None:
    for name in names:
        retried = _retry(client, getattr(client, name), required)
        setattr(client, name, _downgrade(client, name, retried, older))


def _retry(client: Any, call: Callable[P, Awaitable[T]], required: Required) -> Callable[P, Awaitable[T]]:
    """Make this call again after the visits that it requires."""
    parameters = signature(call)

    @wraps(call)
    async def again(*args: P.args, **kwargs: P.kwargs) -> T:
        given = parameters.bind(*args, **kwargs)
        own: Mapping[str, Any] = given.arguments.get("meta") or {}

        def send(meta: Mapping[str, Any]) -> Awaitable[T]:
            if meta:
                given.arguments["meta"] = {**own, **meta}
            return cast("Callable[..., Awaitable[T]]", call)(*given.args, **given.kwargs)

        return await required.call(client.session, send)

    return again


def _downgrade(
    client: Any, name: str, call: Callable[P, Awaitable[T]], older: Older | None
) -> Callable[P, Awaitable[T]]:
    """Make this call again on an older version if the server can't ask on this one, or explain what to do."""

    async def make(*args: P.args, **kwargs: P.kwargs) -> T:
        return await getattr(await cast("Older", older).client(), name)(*args, **kwargs)

    @wraps(call)
    async def fall_back(*args: P.args, **kwargs: P.kwargs) -> T:
        if older is not None and older.is_open:
            return await make(*args, **kwargs)
        outcome: T | MCPError
        try:
            outcome = await call(*args, **kwargs)
        except MCPError as error:
            outcome = error
        if has_rounds(client.session) and refuses_push(outcome):
            if older is not None:
                return await make(*args, **kwargs)
            explain(outcome, name)
        if isinstance(outcome, MCPError):
            raise outcome
        return outcome

    return fall_back
