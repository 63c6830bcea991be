"""For a host that owns its client: what answers, put onto it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, Final, ParamSpec, TypeVar, cast

from mcp import Client

from midcall.client.answerer import Answerer, Answering, check_answerer, modes_of
from midcall.client.transport.intake import Intake
from midcall.client.transport.offer import Offer
from midcall.client.transport.target import Ways, reach
from midcall.client.visits.url_required import PATIENCE, Required
from midcall.client.visits.visits import OnComplete, Visits
from midcall.errors import Misuse

__all__ = ["attach"]

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
    patience: float | None = PATIENCE,
    on_complete: OnComplete | None = None,
) -> ClientT:
    """Let this answerer answer for a client that is not connected yet. Returns the client.

    Questions reach the answerer on every protocol version. A call, prompt or resource that needs
    visits first (the error -32042) shows each of them, waits, and is made again. A message handler
    that the client has goes on to hear everything.

    Args:
        client: An `mcp.Client`, which then declares only what the answerer can serve; or a
            `fastmcp.Client`, which declares both modes.
        answerer: What answers.
        timeout: Seconds after which a question is cancelled.
        patience: Seconds to wait for the server to say that a required visit is done, where the
            answerer has no `wait` that puts the user in charge of it; None for no limit.
        on_complete: Called with the id of each visit that the server says is done.

    Raises:
        Misuse: The client is connected already, or has something that answers.
    """
    check_answerer(answerer)
    listeners = [each for each in (on_complete, getattr(answerer, "completed", None)) if each is not None]
    visits = Visits(listeners)
    answering = Answering(answerer, modes_of(answerer), timeout, visits)
    required = Required(answerer, visits, timeout, patience)
    if isinstance(client, Client):
        _attach_sdk(client, answering, visits, required)
    elif hasattr(client, "_session_kwargs"):
        _attach_fastmcp(cast("Any", client), answering, visits, required)
    else:
        raise TypeError(f"attach takes an mcp.Client or a fastmcp.Client, and not {type(client).__name__}")
    return client


def _attach_sdk(client: Client, answering: Answering, visits: Visits, required: Required) -> None:
    _check(connected=client._entered, answers=client.elicitation_callback is not None)  # pyright: ignore[reportPrivateUsage]
    client.elicitation_callback = answering
    client.message_handler = visits.listening(client.message_handler)
    _redirect(client, answering)
    _wrap(client, _CALLS, required)


def _redirect(client: Client, answering: Answering) -> None:
    """Have the client go through transports of ours. It resolved its server when it was made: it does so again."""
    if not isinstance(client.server, Intake):
        transport = reach(client.server, Ways(raise_exceptions=client.raise_exceptions)).transport
        client.server = Intake(Offer(transport, modes=answering.modes))
        client.__post_init__()


def _attach_fastmcp(client: Any, answering: Answering, visits: Visits, required: Required) -> None:
    """FastMCP's own setter would put its conversion of forms and errors in between."""
    options: dict[str, Any] = client._session_kwargs
    _check(connected=client.is_connected(), answers=options.get("elicitation_callback") is not None)
    client._elicitation_callback = options["elicitation_callback"] = answering
    options.update(client._build_extension_kwargs())
    options["message_handler"] = visits.listening(options["message_handler"])
    client._base_message_handler = visits.listening(client._base_message_handler)
    _wrap(client, _FASTMCP_CALLS, required)


def _check(*, connected: bool, answers: bool) -> None:
    if connected or answers:
        text, advice = _attach_first() if connected else _callback_there()
        raise Misuse(text, advice=advice)


def _wrap(client: Any, names: tuple[str, ...], required: Required) -> None:
    for name in names:
        setattr(client, name, _requiring(client, getattr(client, name), required))


def _requiring(client: Any, call: Callable[P, Awaitable[T]], required: Required) -> Callable[P, Awaitable[T]]:
    parameters = signature(call)

    @wraps(call)
    async def again(*args: P.args, **kwargs: P.kwargs) -> T:
        given = parameters.bind(*args, **kwargs)
        own: Mapping[str, Any] = given.arguments.get("meta") or {}

        def send(said: Mapping[str, Any]) -> Awaitable[T]:
            if said:
                given.arguments["meta"] = {**own, **said}
            return cast("Callable[..., Awaitable[T]]", call)(*given.args, **given.kwargs)

        return await required.call(client.session, send)

    return again


def _attach_first() -> tuple[str, str]:
    return "this client is connected already", "Call attach before the client is entered."


def _callback_there() -> tuple[str, str]:
    return (
        "this client has something that answers already",
        "Leave elicitation_callback out: attach sets it.",
    )
