"""Whether the user's browser gets to a portal that is on loopback, from where this process runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from midcall.core.urls import is_loopback
from midcall.doctor.checks.report import Finding
from midcall.wording.doctor import browser as wording

if TYPE_CHECKING:
    from midcall.doctor.surroundings import Surroundings
    from midcall.portal.app import Portal

__all__ = ["browser"]

_SUGGESTED: Final = 8765
_USUAL: Final = {"http": 80, "https": 443}


def browser(portal: Portal, alone: bool, here: Surroundings) -> list[Finding]:
    """Nothing is said of a portal with an address that is not loopback: users get there as they get anywhere."""
    if here.near or not is_loopback(urlsplit(portal.url).hostname or ""):
        return []
    if here.container:
        return [
            Finding(
                "browser",
                "doubtful",
                "This is a container: its loopback is not that of the user's machine.",
                _in_a_container(portal, alone),
            )
        ]
    why = (
        "This server is reached over SSH, and the user's browser may be on another machine: loopback ends here."
        if here.ssh
        else "This machine has no display: where the user's browser is, loopback is another machine's."
    )
    return [Finding("browser", "doubtful", why, _forwarding(portal, alone))]


def _in_a_container(portal: Portal, alone: bool) -> str:
    if alone:
        return (
            "To publish a port (-p) does not help, since that does not lead to loopback. On the user's own "
            'Linux, run it with --network=host --user "$(id -u)". Else mount the portal in your HTTP app, '
            "with the address that users know in MIDCALL_PORTAL_URL."
        )
    return wording.contained_mounted_advice(_place(portal)[1], portal.local)


def _forwarding(portal: Portal, alone: bool) -> str:
    """A port that is another one at each start cannot be forwarded."""
    host, port = _place(portal)
    if alone and portal.any_port:
        return wording.any_port_advice(host, _SUGGESTED)
    return wording.forward_advice(host, port)


def _place(portal: Portal) -> tuple[str, int]:
    """Host and port as ssh takes them."""
    parts = urlsplit(portal.url)
    host = parts.hostname or ""
    return (f"[{host}]" if ":" in host else host), parts.port or _USUAL[parts.scheme]
