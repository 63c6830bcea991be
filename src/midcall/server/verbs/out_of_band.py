"""Secrets, authorizations and approvals, which must not pass through a client: they happen on a page of the portal.

Each is a visit to a page that knows its purpose and its owner. The client and the model only see an address, and that
the user is done.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from midcall.core.journal import mark_name
from midcall.core.outcome import raise_refusal, value_of
from midcall.core.question import Visit, check_message, check_sendable
from midcall.errors import InvalidQuestion, Misuse, NoChannel, NotAnswered, OnceUnknown, UserCancelled, UserDeclined
from midcall.server import model_text
from midcall.server.ask import put
from midcall.server.channels.required import Recognised
from midcall.server.resuming.pages import Page
from midcall.server.resuming.visits import wait_for_ending
from midcall.settings.calls import SECRET_ATTEMPTS
from midcall.settings.portal import APPROVAL_CHARACTERS, SECRET_NAME_BYTES
from midcall.stores.base import ACCOUNTS
from midcall.stores.interactions import Ending, Interaction, Kind
from midcall.web.secret_checks import Check

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.portal import Portal

logger = logging.getLogger("midcall.portal")

_IN_THE_VAULT: Final[frozenset[Kind]] = frozenset({"secret", "authorize"})
"""A call that starts over finds the results of these."""


async def get_secret(
    call: Call, name: str, message: str, fields: Mapping[str, str], check: Check | None, timeout: float | None
) -> dict[str, str]:
    """The secret with this name from the vault; if the vault has none, the user enters it.

    Raises:
        UserDeclined, UserCancelled, TimedOut: The user did not enter it.
        NoChannel: The user cannot be sent to a page.
    """
    _check_name(name)
    check_sendable("secret", {"name": name, "fields": dict(fields)})
    portal = _portal(call, "secret", message)
    if check is not None:
        portal.add_check(name, check)
    check_page = check or portal.find_check(name)  # that of Portal(checks=)
    shown = [{"name": field, "title": title} for field, title in fields.items()]
    about = {"name": name, "fields": shown, "check": check_page is not None}
    for _ in range(SECRET_ATTEMPTS):
        identity = call.replay.identify_mark("secret", name)
        kept = None if call.replay.find_mark(identity) is not None else await portal.vault.get(call.owner, name)
        if kept is not None and await _is_still_right(check, kept):
            call.audit("secret.read", name=name)
            return kept
        ending = await _visit_page(call, portal, identity, "secret", message, about, timeout)
        id = call.derive("interaction", identity)
        if (entered := await _take_entered(call, portal, id, name, ending, check_page)) is not None:
            call.audit("secret.read", name=name)
            return entered
    raise NotAnswered(
        f"The user entered the secret {name!r}, but its check did not accept it",
        for_model=model_text.describe_rejected_secret(name),
    )


def _check_name(name: str) -> None:
    """Names of connected accounts, in the same vault, are reserved."""
    if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion("A secret needs a name.")
    if (size := len(name.encode("utf-8", "replace"))) > SECRET_NAME_BYTES:
        raise InvalidQuestion(
            f"The name of this secret has {size:,} bytes, and {SECRET_NAME_BYTES} is the limit. Use a short name, such "
            'as "github", and put what the secret is for into the message.'
        )
    if name.strip().lower().startswith(ACCOUNTS):
        raise InvalidQuestion(
            f"A secret cannot be called {name!r}: names that begin with oauth: are reserved for connected accounts. "
            "For an access token, use authorize()."
        )


async def _is_still_right(check: Check | None, kept: Mapping[str, str]) -> bool:
    """Whether a stored secret is still valid. If the check fails to run, keep the secret."""
    try:
        return check is None or await check(kept) is None
    except Misuse:
        raise
    except Exception as exc:
        logger.warning("Could not check a secret: %s", type(exc).__name__)
        return True


async def _take_entered(
    call: Call, portal: Portal, id: str, name: str, ending: Ending, check: Check | None
) -> dict[str, str] | None:
    """The secret that the user entered, which is in the vault then; None if its check doesn't accept it.

    Check it here, unless the page did: a page on another replica may not know the check.
    """
    entered = await portal.entered.read(id, call.owner)
    secret = await portal.vault.get(call.owner, name) if entered is None else entered
    to_check = None if (ending.content or {}).get("checked") else check
    if secret is None or (to_check is not None and await to_check(secret) is not None):
        if entered is not None:
            call.audit("secret.deleted", name=name, outcome="rejected")
        await portal.entered.drop(id)
        return None
    await portal.entered.keep(id, call.owner, name, now=ending.at)
    return secret


async def get_token(call: Call, provider: str, message: str | None, timeout: float | None) -> str:
    """A valid access token of this provider for the user of this call.

    Raises:
        UserDeclined, UserCancelled, TimedOut: The user did not authorize it.
        NoChannel: The user cannot be sent to a page.
        InvalidQuestion: The portal does not have this provider.
    """
    portal = _portal(call, "authorize", message or _grant(provider))
    known = portal.provider(provider)
    if known is None:
        names = ", ".join(repr(each.name) for each in portal.providers) or "none"
        raise InvalidQuestion(
            f"The portal has no provider {provider!r}; it has {names}. Add it to Portal(providers=[...])."
        )
    identity = call.replay.identify_mark("authorize", provider)
    if call.replay.find_mark(identity) is None and (token := await portal.oauth.token(provider, call.owner)):
        call.audit("account.used", provider=provider)
        return token
    about = {"provider": provider, "title": known.title or known.name, "scopes": list(known.scopes)}
    text = message or _grant(known.title or known.name)
    ending = await _visit_page(call, portal, identity, "authorize", text, about, timeout)
    await portal.entered.keep(call.derive("interaction", identity), call.owner, f"{ACCOUNTS}{provider}", now=ending.at)
    token = await portal.oauth.token(provider, call.owner)
    if token is None:
        raise NotAnswered(
            f"The user authorized {provider!r}, but there is no valid token",
            for_model=model_text.missing_token(provider),
        )
    call.audit("account.used", provider=provider)
    return token


def _grant(provider: str) -> str:
    return f"Please authorize access to {provider}."


async def get_approval(call: Call, message: str, details: Mapping[str, Any], timeout: float | None) -> bool:
    """Whether the user of this call approves exactly this. An approval is used once.

    Raises:
        TimedOut: They did not decide in time.
        NoChannel: They cannot be sent to a page.
        UserDeclined, UserCancelled: The client answered automatically, at once (`unseen`): nobody has decided anything.
    """
    portal = _portal(call, "approve", message)
    about = {"details": _plain_details(details)}
    if (length := len(message) + len(json.dumps(about, ensure_ascii=False))) > APPROVAL_CHARACTERS:
        raise InvalidQuestion(
            f"This approval has {length:,} characters, more than anybody reads. Its page shows everything that is "
            f"approved, up to {APPROVAL_CHARACTERS:,} characters: show a summary that says the same."
        )
    identity = call.replay.identify_mark("approve", _digest(message, about))
    try:
        await _visit_page(call, portal, identity, "approve", message, about, timeout)
    except (UserDeclined, UserCancelled) as refused:
        if refused.unseen:
            raise
        return False
    return True


# --- the way there and back ------------------------------------------------------------------


def _portal(call: Call, kind: Kind, message: str) -> Portal:
    check_message(message)
    portal = call.installation.portal
    if portal is None:
        why = NoChannel.NO_PORTAL
        advice = 'Use midcall.install(server, portal=Portal(...)), and read the page "The portal".'
    elif (reason := portal.why_not(kind, call.owner)) is None:
        return portal
    else:
        why = reason.rstrip(".")
        advice = (
            'Read the page "Identify the user of a page": a portal must know who made the call, and who opens its page.'
        )
    why = f"there is no page for this {kind}: {why}"
    raise NoChannel(why, mode="url", question=message, advice=advice, for_model=model_text.NO_PAGE)


async def _visit_page(
    call: Call,
    portal: Portal,
    identity: str,
    kind: Kind,
    message: str,
    about: Mapping[str, Any],
    timeout: float | None,
) -> Ending:
    """Send the user to a page, wait until they are done there, and use their consent in this turn only."""
    id = call.derive("interaction", identity)
    begun = call.replay.find_mark(identity)
    visited, address = "", ""
    if begun is None:
        now, title = time.time(), call.installation.server_title
        expires = now + portal.ttl
        page = Interaction(kind, call.owner, title, call.client_title, message, now, expires, about, call.digest)
        await portal.interactions.begin(id, page)
        until, digest = page.expires, page.digest
    else:
        until, digest, visited, address = cast("tuple[float, str, str, str]", begun.value)
        if call.journal.entry(mark_name("visited", id)) is None:
            page = await portal.interactions.look(id)
            if page is None and time.time() < until:
                raise _refuse_decision(kind)
            if page is None or page[1] is None:
                visited = ""  # even for a page of an earlier process: its address may be another now
    if not visited:
        secret = str(about["name"]) if kind == "secret" else ""
        address = await portal.serve(id, kind, until, secret=secret, detach=not call.over_http)
        visited = mark_name("visit", call.derive(address))  # other pages may have the same message
        call.add_page(id)
    visit = (Recognised if kind in _IN_THE_VAULT else Visit)(message, address, id=id)
    visit.base = visited
    visit.is_awaited = True
    call.replay.mark(identity, kind, [until, digest, visited, address])
    value_of(await put(call, visit))
    ending = await wait_for_ending(call, Page(id, until, address, message), timeout)
    if ending.action != "accept":
        raise_refusal(ending.action)
    await _use(call, portal, identity, kind, digest)
    return ending


async def _use(call: Call, portal: Portal, identity: str, kind: Kind, digest: str) -> None:
    """Use the consent to what this digest names. A replay of a later turn must find the use in the store.

    Raises:
        OnceUnknown: Another continuation of the call has used it, or it is for something else.
    """
    id, used = call.derive("interaction", identity), mark_name("used", identity)
    if call.replay.find_mark(used) is not None:
        if await portal.interactions.was_used(id, digest):
            return
        _audit_use(call, kind, digest, "unknown")
        raise _refuse_decision(kind)
    again = kind in _IN_THE_VAULT  # nothing is done twice if a replay reads them again
    turn, now = call.journal.turn, time.time()
    if not await portal.interactions.use(id, digest, owner=call.owner, turn=turn, again=again, now=now):
        _audit_use(call, kind, digest, "used")
        raise OnceUnknown(
            f"This {kind} was used before, or is for something else than what the page showed",
            for_model=model_text.DECISION_USED,
        )
    call.replay.mark(used, "used", True)
    _audit_use(call, kind, digest)


def _audit_use(call: Call, kind: Kind, digest: str, refused: str = "") -> None:
    """Write into the audit trail that an approval was used, or why it can't be."""
    if kind == "approve":
        call.audit("approval.refused" if refused else "approval.used", outcome=refused, digest=digest)


def _refuse_decision(kind: Kind) -> OnceUnknown:
    return OnceUnknown(
        f"The page of this {kind} is in another store, or was used too long ago",
        advice="Servers that share keys must share a store, too: install(server, store=...).",
        for_model=model_text.DECISION_UNKNOWN,
    )


def _plain_details(details: Mapping[str, Any]) -> dict[str, Any]:
    """The details as JSON data, which the page shows and the approval is bound to."""
    if not isinstance(details, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion(
            f"The details of an approval must be a mapping of labels to values, not {type(details).__name__}: "
            'approve("Pay?", {"Amount": "12 EUR"}).'
        )
    try:
        text = json.dumps(dict(details), allow_nan=False)
        plain = cast("dict[str, Any]", json.loads(text, object_pairs_hook=_with_unique_labels))
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidQuestion(f"The details of an approval must be plain data: {exc!s}.") from None
    check_sendable("details", plain)
    return plain


def _with_unique_labels(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON has only texts as labels: 1 and "1" would become one, and the page would show one of them."""
    labels: dict[str, Any] = {}
    for label, value in pairs:
        if label in labels:
            raise ValueError(f"the label {label!r} appears twice")
        labels[label] = value
    return labels


def _digest(message: str, about: Mapping[str, Any]) -> str:
    text = json.dumps([message, about], separators=(",", ":"))
    return urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
