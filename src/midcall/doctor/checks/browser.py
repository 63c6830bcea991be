"""Check whether the user's browser can reach a portal on loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from midcall.core.urls import is_loopback
from midcall.doctor.inspection import Finding, Setup

if TYPE_CHECKING:
    from midcall.portal.app import Portal

_SUGGESTED: Final = 8765
_USUAL: Final = {"http": 80, "https": 443}


def check_browser(setup: Setup, portal: Portal, alone: bool) -> list[Finding]:
    """Nothing to report for a public address. `alone` means that the portal listens on its own."""
    if setup.here.near or not is_loopback(urlsplit(portal.url).hostname or ""):
        return []
    host, port = _place(portal)
    if setup.here.container:
        text = "This is a container: its loopback is not the user's."
        return [Finding("browser", "doubtful", text, _advise_in_container(port, alone, portal.local))]
    text = (
        "This server was reached over SSH, so the user's browser may be on another machine, with another loopback."
        if setup.here.ssh
        else "This machine has no display, so the user's browser is on another machine, with another loopback."
    )
    if alone and portal.any_port:
        advice = f"Give it a fixed port, MIDCALL_PORTAL_PORT={_SUGGESTED}. {_advise_forwarding(host, _SUGGESTED)}"
        return [Finding("browser", "doubtful", text, advice)]
    return [Finding("browser", "doubtful", text, _advise_forwarding(host, port))]


def _advise_in_container(port: int, alone: bool, local: bool) -> str:
    if alone:
        return (
            "Publishing a port (-p) does not help: it does not lead to loopback. On the user's own Linux, run it with "
            '--network=host --user "$(id -u)". Otherwise mount the portal in your HTTP app, and set MIDCALL_PORTAL_URL '
            "to the address that users know."
        )
    publish = (
        f"Publish the port of its app under the same number, -p 127.0.0.1:{port}:{port}, and let the app listen on "
        "0.0.0.0 in here."
    )
    outside = (
        " But visitors then come from outside the container, and do not count as its user: for secrets, accounts and "
        "approvals, identify them with Portal(..., identity=...)."
    )
    return f"{publish}{outside if local else ''}"


def _advise_forwarding(host: str, port: int) -> str:
    return (
        f"Forward its port from the machine with the browser: ssh -L {port}:{host}:{port} HOST, as the user that the "
        "server runs as."
    )


def _place(portal: Portal) -> tuple[str, int]:
    """Host and port as ssh takes them."""
    parts = urlsplit(portal.url)
    host = parts.hostname or ""
    return (f"[{host}]" if ":" in host else host), parts.port or _USUAL[parts.scheme]
