"""The verbs that happen on a page of the portal, out of sight of the client and the model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, overload

from midcall.errors import InvalidQuestion, MidcallError
from midcall.server.call import current_call, running_call
from midcall.server.frameworks.errors import surface
from midcall.server.verbs.awaitable import Verb, begin
from midcall.server.verbs.out_of_band import get_approval, get_secret, get_token
from midcall.web.secret_checks import ONE, AuthorCheck, Check, look


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
    check: AuthorCheck | None = None,
    timeout: float | None = None,
) -> Verb[Any]:
    """A user's secret, such as a token: from the vault, or entered on a page of the portal.

    The client and the model never see it, and no journal holds it. With `fields` it has several named parts, and is
    returned as a dict. `check` validates it before it is accepted, and whenever it comes from the vault: it returns
    what is wrong, or None, and may be async. If a stored secret is no longer valid, midcall asks for it again.

    Raises:
        UserDeclined, UserCancelled, TimedOut: The user did not enter it.
        NoChannel: The user cannot be sent to a page, or cannot be identified there.
    """
    return begin("secret", _secret(name, message, fields, check, timeout))


def authorize(provider: str, message: str | None = None, /, *, timeout: float | None = None) -> Verb[str]:
    """A valid access token of a provider that the portal knows, for the user of this call.

    Raises:
        UserDeclined, UserCancelled, TimedOut: The user did not authorize it.
        NoChannel: The user cannot be sent to a page, or cannot be identified there.
    """
    return begin("authorize", _authorize(provider, message, timeout))


def approve(message: str, /, details: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Verb[bool]:
    """Whether the user approves exactly this, on a page where they are identified. Declining and closing mean no.

    Raises:
        UserDeclined, UserCancelled: The client answered automatically, at once, and neither a page nor a link could ask
            again (`unseen`): nobody has decided anything.
        TimedOut: They did not decide in time.
        NoChannel: The user cannot be sent to a page, or cannot be identified there.
    """
    return begin("approve", _approve(message, {} if details is None else details, timeout))


async def _secret(
    name: str,
    message: str,
    fields: Mapping[str, str] | Sequence[str] | None,
    check: AuthorCheck | None,
    timeout: float | None,
) -> Any:
    try:
        call = running_call("secret")
        if check is not None and not callable(check):
            raise InvalidQuestion(
                "check= takes a function of the secret that returns what is wrong with it, or None; not "
                f"{type(check).__name__}"
            )
        if fields is None:
            check_value: Check | None = None if check is None else lambda parts: look(check, parts[ONE])
            return (await get_secret(call, name, message, {ONE: name}, check_value, timeout))[ONE]
        check_parts: Check | None = None if check is None else lambda parts: look(check, parts)
        named = dict(fields) if isinstance(fields, Mapping) else {field: field for field in fields}
        return await get_secret(call, name, message, named, check_parts, timeout)
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from exc.__cause__


async def _authorize(provider: str, message: str | None, timeout: float | None) -> str:
    try:
        return await get_token(running_call("authorize"), provider, message, timeout)
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from exc.__cause__


async def _approve(message: str, details: Mapping[str, Any], timeout: float | None) -> bool:
    try:
        return await get_approval(running_call("approve"), message, details, timeout)
    except MidcallError as exc:
        raise surface(exc, current_call.get()) from exc.__cause__
