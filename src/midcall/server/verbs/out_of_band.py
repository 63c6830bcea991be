"""What must not pass through a client: secrets, authorizations, approvals. They happen on a page of the portal.

Each is a visit to a page that knows what it is for, and whose it is. The client and the model see an
address, and that it was dealt with.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from midcall.core.outcome import Accepted, Cancelled, Declined, Outcome
from midcall.core.question import Visit
from midcall.core.wire import stuck_at
from midcall.errors import InvalidQuestion, Misuse, NoChannel, NotAnswered, OnceUnknown, UserCancelled, UserDeclined
from midcall.server.ask import put
from midcall.server.channels.required import Recognised
from midcall.server.resuming.holding import wait_for_ending
from midcall.server.verbs.value import value_of
from midcall.stores.interactions import Ending, Interaction, Kind
from midcall.web.secret_checks import Check
from midcall.wording import out_of_band as wording
from midcall.wording import questions, reaching, wire

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.portal import Portal

logger = logging.getLogger("midcall.portal")

__all__ = ["approved", "secret_of", "token_of"]

ACCOUNTS: Final = "oauth:"
"""How the names begin under which the vault keeps connected accounts."""
_ATTEMPTS: Final = 3
_IN_THE_VAULT: Final[frozenset[Kind]] = frozenset({"secret", "authorize"})
"""A call that begins afresh finds what came of these."""


async def secret_of(
    call: Call, name: str, message: str, fields: Mapping[str, str], check: Check | None, timeout: float | None
) -> dict[str, str]:
    """What the vault has under this name, after the user has entered it if need be.

    Raises:
        UserDeclined, UserCancelled, TimedOut: The user did not enter it.
        NoChannel: The user cannot be sent to a page.
    """
    _check_name(name)
    _check_shown("secret", {"name": name, "fields": dict(fields)})
    portal = _portal(call, "secret")
    if check is not None:
        portal.add_check(name, check)
    about = {"name": name, "fields": [{"name": field, "title": title} for field, title in fields.items()]}
    for _ in range(_ATTEMPTS):
        identity = call.replay.identify_mark("secret", name)
        kept = None if call.replay.noted(identity) is not None else await portal.vault.get(call.owner, name)
        if kept is not None and await _is_still_right(check, kept):
            return kept
        ending = await _on_a_page(call, portal, identity, "secret", message, about, timeout)
        kept = await portal.vault.get(call.owner, name)
        if kept is not None and await _is_right(ending, check, kept):
            return kept
        await portal.vault.forget(call.owner, name)
    raise NotAnswered(
        f"The secret {name!r} was entered, and its check did not accept it",
        for_model=wording.model_secret_not_right(name),
    )


def _check_name(name: str) -> None:
    """Connected accounts are in the same vault, under names of their own."""
    if not name.strip():
        raise InvalidQuestion("a secret needs a name")
    if name.strip().lower().startswith(ACCOUNTS):
        raise InvalidQuestion(
            f"a secret cannot be called {name!r}: names that begin with oauth: are those of connected accounts. "
            "For an access token, use authorize()"
        )


async def _is_still_right(check: Check | None, kept: Mapping[str, str]) -> bool:
    """A token that was revoked meanwhile is asked for again; one that cannot be checked now is not thrown away."""
    try:
        return check is None or await check(kept) is None
    except Misuse:
        raise
    except Exception as exc:
        logger.warning("a secret could not be checked: %s", type(exc).__name__)
        return True


async def _is_right(ending: Ending, check: Check | None, kept: Mapping[str, str]) -> bool:
    """A page on a replica that has not met the check could not make it."""
    checked = bool((ending.content or {}).get("checked"))
    return check is None or checked or await check(kept) is None


async def token_of(call: Call, provider: str, message: str | None, timeout: float | None) -> str:
    """A live access token of this provider for the user of this call.

    Raises:
        UserDeclined, UserCancelled, TimedOut: The user did not authorize it.
        NoChannel: The user cannot be sent to a page, or the provider is not known.
    """
    portal = _portal(call, "authorize")
    known = portal.provider(provider)
    if known is None:
        raise InvalidQuestion(_unknown_provider(provider, [each.name for each in portal.providers]))
    identity = call.replay.identify_mark("authorize", provider)
    if call.replay.noted(identity) is None and (token := await portal.oauth.token(provider, call.owner)):
        return token
    about = {"provider": provider, "title": known.title or known.name, "scopes": list(known.scopes)}
    text = message or f"Please authorize access to {known.title or known.name}."
    await _on_a_page(call, portal, identity, "authorize", text, about, timeout)
    token = await portal.oauth.token(provider, call.owner)
    if token is None:
        raise NotAnswered(
            f"{provider!r} was authorized, and there is no valid token", for_model=wording.model_no_token(provider)
        )
    return token


async def approved(call: Call, message: str, details: Mapping[str, Any], timeout: float | None) -> bool:
    """Whether the user of this call approves exactly this. The decision is taken once.

    Raises:
        TimedOut: They did not decide in time.
        NoChannel: They cannot be sent to a page.
    """
    portal = _portal(call, "approve")
    plain = _plain_details(details)
    digest = _digest(message, plain)
    decided = call.replay.identify_mark("approved", digest)
    if (entry := call.replay.noted(decided)) is not None:
        return bool(entry.value)
    identity = call.replay.identify_mark("approve", digest)
    about = {"details": plain, "digest": digest}
    try:
        await _on_a_page(call, portal, identity, "approve", message, about, timeout)
    except (UserDeclined, UserCancelled):
        call.replay.mark(decided, "approved", False)
        return False
    ending = await portal.interactions.consume(_id(call, identity), owner=call.owner, now=time.time())
    if ending is None or (ending.content or {}).get("digest") != digest:
        raise OnceUnknown(
            "This approval was taken before, or is not for these details", for_model=wording.model_approval_used()
        )
    call.replay.mark(decided, "approved", True)
    return True


# --- the way there and back ------------------------------------------------------------------


def _portal(call: Call, kind: Kind) -> Portal:
    portal = call.installation.portal
    why = reaching.no_portal() if portal is None else portal.why_not(kind, call.owner)
    if portal is None or why is not None:
        raise NoChannel(
            f"The user cannot be sent to a page for this {kind}: {(why or '').rstrip('.')}.",
            mode="url",
            advice="Use midcall.install(server, portal=Portal(...)); docs/portal.md tells what it needs."
            if portal is None
            else "docs/identity.md tells how it is known who makes a call, and who looks at a page.",
            for_model=wording.model_no_page(),
        )
    return portal


async def _on_a_page(
    call: Call,
    portal: Portal,
    identity: str,
    kind: Kind,
    message: str,
    about: Mapping[str, Any],
    timeout: float | None,
) -> Ending:
    """Send the user to a page, and wait until they are done there."""
    id = _id(call, identity)
    begun = call.replay.noted(identity)
    until: float = begun.value if begun is not None else time.time() + portal.ttl
    await portal.start()  # also for a page that another process has begun: on loopback, its address is gone
    visit = (Recognised if kind in _IN_THE_VAULT else Visit)(message, portal.address(id), id=id)
    if begun is None:
        interaction = Interaction(
            kind, call.owner, call.installation.server_title, call.client_name, message, time.time(), until, about
        )
        await portal.interactions.begin(id, interaction)
        call.replay.mark(identity, kind, until)
    value_of(await put(call, visit))
    ending = await wait_for_ending(call, id, timeout, until)
    value_of(_outcome(ending))
    return ending


def _id(call: Call, identity: str) -> str:
    return call.derive("interaction", identity)


def _outcome(ending: Ending) -> Outcome[None]:
    match ending.action:
        case "accept":
            return Accepted(None, "page")
        case "decline":
            return Declined("page")
        case "cancel":
            return Cancelled("page")


def _plain_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details as they are shown and bound: JSON, or an error before anybody is asked."""
    if not isinstance(details, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion(
            f"The details of an approval must be a mapping of labels to values, and not {type(details).__name__}: "
            'approve("Pay?", {"Amount": "12 EUR"}).'
        )
    try:
        plain = cast("dict[str, Any]", json.loads(json.dumps(dict(details), allow_nan=False)))
    except (TypeError, ValueError) as exc:
        raise InvalidQuestion(f"the details of an approval must be plain data: {exc!s}") from None
    _check_shown("details", plain)
    return plain


def _check_shown(what: str, shown: Mapping[str, Any]) -> None:
    """What no page could show is refused before anything is kept."""
    if (stuck := stuck_at(shown)) is not None:
        raise InvalidQuestion(
            questions.unsendable(f"{what}{stuck.path}", stuck.why), advice=wire.half_a_character_advice()
        )


def _digest(message: str, details: Mapping[str, Any]) -> str:
    text = json.dumps([message, details], sort_keys=True, separators=(",", ":"))
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")


def _unknown_provider(provider: str, known: Sequence[str]) -> str:
    names = ", ".join(map(repr, known)) or "none"
    return f"the portal has no provider {provider!r}; it has {names}. Name it in Portal(providers=[...])"
