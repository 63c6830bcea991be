"""What answers at the address of a portal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast
from urllib.parse import urlsplit

from midcall.core.urls import is_loopback
from midcall.doctor.checks.browser import browser
from midcall.doctor.checks.knocking import Answer, Trouble, knock
from midcall.doctor.checks.report import Finding, State
from midcall.errors import InstallError, Misuse
from midcall.wording import certificates

if TYPE_CHECKING:
    from midcall.doctor.surroundings import Surroundings
    from midcall.portal.app import Portal
    from midcall.server.installation import Installation

__all__ = ["address_of", "portal_now", "portal_of"]

_POLICY: Final = "content-security-policy"
_SIGN_IN: Final = (302, 303, 307, 401, 403)
_OF_OTHERS: Final = ("self-signed", "unknown authority")
"""What may well verify elsewhere: a browser can know authorities that this machine does not."""


def portal_of(installation: Installation) -> Portal | None:
    """The portal itself: the server knows only what it needs of it."""
    return cast("Portal | None", installation.portal)


def address_of(portal: Portal) -> str | None:
    """The address that it was given; None where it listens by itself, and does not yet."""
    try:
        return portal.url
    except Misuse:
        return None


async def portal_now(portal: Portal, here: Surroundings) -> list[Finding]:
    """It is started, if that is for us to do, and knocked at. Then the user's browser is thought of."""
    alone = address_of(portal) is None
    try:
        await portal.start()
    except InstallError as error:
        return [
            Finding(
                "portal",
                "broken",
                f"It cannot start. {error!s}",
                (
                    "Choose another port, Portal(port=...) or MIDCALL_PORTAL_PORT; without one, any that is free is "
                    "taken."
                ),
            )
        ]
    came = await knock(f"{portal.url}/health")
    found = _signs_in(portal, came) or _told(portal.url, alone, came, here)
    return [found, *([] if found.state == "broken" else browser(portal, alone, here))]


def _signs_in(portal: Portal, came: Answer | Trouble) -> Finding | None:
    """A proxy that vouches for users lets nobody through whom it does not know, and that is as it should be."""
    from midcall.portal.identity.proxy import ProxyJwt

    if not isinstance(portal.identity, ProxyJwt) or not isinstance(came, Answer) or came.status not in _SIGN_IN:
        return None
    return Finding(
        "portal",
        "doubtful",
        (
            f"The proxy in front of {portal.url} wants to know who this is ({came.status}), so the portal behind it "
            "was not seen."
        ),
        (
            f"Sign in with a browser, and open {portal.url}/health; or let that path through, which says nothing of "
            "anybody."
        ),
    )


def _told(url: str, alone: bool, came: Answer | Trouble, here: Surroundings) -> Finding:
    if isinstance(came, Answer):
        return _answered(url, alone, came)
    state, text, advice = _unanswered(url, came)
    if came in ("nobody", "no answer") and here.container and not is_loopback(urlsplit(url).hostname or ""):
        advice = f"{advice} {_from_inside(url)}"
    return Finding("portal", state, text, advice)


def _answered(url: str, alone: bool, answer: Answer) -> Finding:
    elsewhere = _something_else_advice(urlsplit(url).path)
    match answer.status:
        case 200 if _is_ours(answer):
            return Finding(
                "portal",
                "ok",
                f"It starts by itself, on loopback, when it is first needed; {url} answered."
                if alone
                else f"{url} answers.",
            )
        case 200:
            return Finding(
                "portal",
                "doubtful",
                f"{url}/health answers, and not as a portal does: it may be something else.",
                elsewhere,
            )
        case 503:
            return Finding(
                "portal", "broken", f"{url} answers, and says that its store is away.", _store_away_advice(alone)
            )
        case status:
            return Finding("portal", "broken", f"Something else answers at {url} ({status}).", elsewhere)


def _is_ours(answer: Answer) -> bool:
    from midcall.web.headers import HEADERS

    return answer.headers.get(_POLICY) == HEADERS[_POLICY]


def _unanswered(url: str, trouble: Trouble) -> tuple[State, str, str]:
    """The server need not be running now, and this may not be where its users are: then it is only doubtful."""
    host = urlsplit(url).hostname or ""
    match trouble:
        case "nobody":
            return (
                "doubtful",
                f"Nothing answers at {url}.",
                "Right if the server is not running now. Else look at its address, and at what is in front.",
            )
        case "no answer":
            return (
                "doubtful",
                (
                    f"No answer from {url} within a few seconds: something on the way drops what is sent there, or "
                    "hangs."
                ),
                (
                    "Look at firewalls, at the security groups of a cloud, and at whether the proxy in front "
                    "reaches the server."
                ),
            )
        case "unknown host":
            return (
                "doubtful",
                f"No address is known here for {host}.",
                (
                    "Correct the address of the portal, or see to its DNS record. A private name may be known "
                    "elsewhere alone."
                ),
            )
        case fault:
            state: State = "doubtful" if fault in _OF_OTHERS else "broken"
            return state, f"{url} was not opened: {certificates.wrong(fault)}.", certificates.advice(fault)


def _from_inside(url: str) -> str:
    return f"A container may not reach its own public address: open {url}/health where a user is."


def _store_away_advice(alone: bool) -> str:
    return "See the store." if alone else "The running server has another store, or lost it: see its log."


def _something_else_advice(path: str) -> str:
    where = f"app.mount({path!r}, portal)" if path else "app.mount('/', portal), behind all other routes"
    return (
        f"Mount the portal where its address says: {where}. A proxy in front must hand this path on; if it strips "
        "the front of it, mount the portal at what is left."
    )
