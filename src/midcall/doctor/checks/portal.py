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
from midcall.wording.doctor import portal as wording

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
        return [Finding("portal", "broken", wording.not_started(str(error)), wording.not_started_advice())]
    came = await knock(f"{portal.url}/health")
    found = _signs_in(portal, came) or _told(portal.url, alone, came, here)
    return [found, *([] if found.state == "broken" else browser(portal, alone, here))]


def _signs_in(portal: Portal, came: Answer | Trouble) -> Finding | None:
    """A proxy that vouches for users lets nobody through whom it does not know, and that is as it should be."""
    from midcall.portal.identity.proxy import ProxyJwt

    if not isinstance(portal.identity, ProxyJwt) or not isinstance(came, Answer) or came.status not in _SIGN_IN:
        return None
    return Finding(
        "portal", "doubtful", wording.proxy_signs_in(portal.url, came.status), wording.proxy_signs_in_advice(portal.url)
    )


def _told(url: str, alone: bool, came: Answer | Trouble, here: Surroundings) -> Finding:
    if isinstance(came, Answer):
        return _answered(url, alone, came)
    state, text, advice = _unanswered(url, came)
    if came in ("nobody", "no answer") and here.container and not is_loopback(urlsplit(url).hostname or ""):
        advice = f"{advice} {wording.from_inside(url)}"
    return Finding("portal", state, text, advice)


def _answered(url: str, alone: bool, answer: Answer) -> Finding:
    elsewhere = wording.something_else_advice(urlsplit(url).path)
    match answer.status:
        case 200 if _is_ours(answer):
            return Finding("portal", "ok", wording.by_itself(url) if alone else wording.answers(url))
        case 200:
            return Finding("portal", "doubtful", wording.not_recognised(url), elsewhere)
        case 503:
            return Finding("portal", "broken", wording.store_away(url), wording.store_away_advice(alone))
        case status:
            return Finding("portal", "broken", wording.something_else(url, status), elsewhere)


def _is_ours(answer: Answer) -> bool:
    from midcall.web.headers import HEADERS

    return answer.headers.get(_POLICY) == HEADERS[_POLICY]


def _unanswered(url: str, trouble: Trouble) -> tuple[State, str, str]:
    """The server need not be running now, and this may not be where its users are: then it is only doubtful."""
    host = urlsplit(url).hostname or ""
    match trouble:
        case "nobody":
            return "doubtful", wording.silent(url), wording.silent_advice()
        case "no answer":
            return "doubtful", wording.no_answer(url), wording.no_answer_advice()
        case "unknown host":
            return "doubtful", wording.unknown_host(host), wording.unknown_host_advice()
        case fault:
            state: State = "doubtful" if fault in _OF_OTHERS else "broken"
            return state, wording.not_trusted(url, certificates.wrong(fault)), certificates.advice(fault)
