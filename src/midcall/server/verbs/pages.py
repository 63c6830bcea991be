"""The verbs that happen on a page of the portal, where neither the client nor the model sees what is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, overload

from midcall.errors import InvalidQuestion, MidcallError
from midcall.server.call import current_call, running_call
from midcall.server.frameworks.errors import surfaced
from midcall.server.verbs.awaitable import Verb, begin
from midcall.server.verbs.out_of_band import approved, secret_of, token_of
from midcall.web.secret_checks import ONE, Check, Given, look

__all__ = ["approve", "authorize", "secret"]


@overload
def secret(
    name: str,
    message: str,
    /,
    *,
    check: Callable[[str], Awaitable[str | None] | str | None] | None = None,
    timeout: float = ...,
) -> Verb[str]: ...
@overload
def secret(
    name: str,
    message: str,
    /,
    *,
    fields: Mapping[str, str] | Sequence[str],
    check: Callable[[Mapping[str, str]], Awaitable[str | None] | str | None] | None = None,
    timeout: float = ...,
) -> Verb[dict[str, str]]: ...
def secret(
    name: str,
    message: str,
    /,
    *,
    fields: Mapping[str, str] | Sequence[str] | None = None,
    check: Given | None = None,
    timeout: float | None = None,
) -> Verb[Any]:
    """A secret of the user's, such as a token: from the vault, or entered on a page of the portal.

    The client and the model never see it, and it is in no journal. With `fields` it has several named
    parts, and comes as a dict. `check` looks at it before it is accepted, and whenever it comes from the
    vault: it returns what is wrong, or None; async where it has to wait for somebody. What is no longer right
    is asked for again.

    Raises:
        UserDeclined, UserCancelled, TimedOut: The user did not enter it.
        NoChannel: The user cannot be sent to a page, or cannot be told from others there.
    """
    return begin("secret", _secret(name, message, fields, check, timeout))


def authorize(provider: str, message: str | None = None, /, *, timeout: float | None = None) -> Verb[str]:
    """A live access token of a provider that the portal knows, for the user of this call.

    Raises:
        UserDeclined, UserCancelled, TimedOut: The user did not authorize it.
        NoChannel: The user cannot be sent to a page, or cannot be told from others there.
    """
    return begin("authorize", _authorize(provider, message, timeout))


def approve(message: str, /, details: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Verb[bool]:
    """Whether the user approves exactly this, on a page where they are known. Declining and closing are no.

    Raises:
        TimedOut: They did not decide in time.
        NoChannel: The user cannot be sent to a page, or cannot be told from others there.
    """
    return begin("approve", _approve(message, {} if details is None else details, timeout))


async def _secret(
    name: str,
    message: str,
    fields: Mapping[str, str] | Sequence[str] | None,
    check: Given | None,
    timeout: float | None,
) -> Any:
    try:
        call = running_call("secret")
        if check is not None and not callable(check):
            raise InvalidQuestion(
                "check= takes a function of the secret, which returns what is wrong with it, or None; not "
                f"{type(check).__name__}"
            )
        if fields is None:
            return (await secret_of(call, name, message, {ONE: name}, _on_the_value(check), timeout))[ONE]
        named = dict(fields) if isinstance(fields, Mapping) else {field: field for field in fields}
        return await secret_of(call, name, message, named, _on_the_parts(check), timeout)
    except MidcallError as exc:
        raise surfaced(exc, current_call.get()) from exc.__cause__


def _on_the_value(check: Given | None) -> Check | None:
    return None if check is None else lambda parts: look(check, parts[ONE])


def _on_the_parts(check: Given | None) -> Check | None:
    return None if check is None else lambda parts: look(check, parts)


async def _authorize(provider: str, message: str | None, timeout: float | None) -> str:
    try:
        return await token_of(running_call("authorize"), provider, message, timeout)
    except MidcallError as exc:
        raise surfaced(exc, current_call.get()) from exc.__cause__


async def _approve(message: str, details: Mapping[str, Any], timeout: float | None) -> bool:
    try:
        return await approved(running_call("approve"), message, details, timeout)
    except MidcallError as exc:
        raise surfaced(exc, current_call.get()) from exc.__cause__
