"""The channels of an installation, in the order in which they are tried, and what the others need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeAlias

from midcall.core.outcome import Via
from midcall.doctor.checks.store import ADD_STORE
from midcall.doctor.inspection import Finding, Setup
from midcall.server.channels.table import CHANNELS

if TYPE_CHECKING:
    from midcall.server.installation import Installation

Missing: TypeAlias = tuple[str, str] | None
"""What is missing, and how to get it."""


async def check_channels(setup: Setup) -> list[Finding]:
    """A finding for each channel."""
    return [_check_channel(setup.installation, channel.via) for channel in CHANNELS]


def _check_channel(installation: Installation, via: Via) -> Finding:
    find_missing = _MISSING.get(via)
    if find_missing is not None and (missing := find_missing(installation)) is not None:
        return Finding(via, "off", *missing)
    if via == "required" and installation.required:
        text = "Clients on 2025-11-25 over stateless HTTP get the error -32042: install() says that all call again."
        return Finding(via, "ok", text)
    return Finding(via, "ok", _REACHES[via])


def _need_portal(installation: Installation) -> Missing:
    return ("There is no portal: see below.", "") if installation.portal is None else None


def _need_apps(installation: Installation) -> Missing:
    if installation.apps is False:
        advice = "Leave out apps=False: clients that show MCP Apps, but declare no elicitation, then get forms as Apps."
        return "Switched off.", advice
    if installation.keeping is None:
        return "There is no store, and without one no App can answer.", ADD_STORE
    return None if find_spec("jinja2") else ("Nothing here can draw the form.", "pip install 'midcall[browser]'")


def _need_relay(installation: Installation) -> Missing:
    if installation.relay:
        return None
    options = "relay=True" if installation.keeping is not None else "relay=True, store=..."
    advice = (
        f"Only if a model may carry answers: install(..., {options}), and via={{*STRONG, 'relay'}} for each question "
        "that allows it."
    )
    return "Switched off.", advice


def _need_store(installation: Installation) -> Missing:
    if installation.keeping is None:
        return "There is no store, and without one a call cannot resume when it is made again.", ADD_STORE
    return None


_MISSING: Final[Mapping[str, Callable[[Installation], Missing]]] = {
    "page": _need_portal,
    "required": _need_store,
    "app": _need_apps,
    "link": _need_portal,
    "relay": _need_relay,
}
_REACHES: Final[Mapping[Via, str]] = {
    "push": "Clients up to 2025-11-25 that declare elicitation, over stdio or stateful HTTP.",
    "round": "Clients on 2026-07-28 that declare elicitation.",
    "page": "Clients that declare URL mode but no forms get a page of the portal.",
    "required": "Clients on 2025-11-25 over stateless HTTP that declare that they call again get the error -32042.",
    "app": "Clients that show MCP Apps but declare no elicitation get the form as an App.",
    "link": "All other clients get a link to a page, and resume with midcall_continue.",
    "relay": "The model can ask questions with 'relay' in their via=, in the chat.",
    "default": "If nobody can be asked, a question with default= takes it.",
}
