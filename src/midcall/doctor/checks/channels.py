"""The channels of an installation, in the order in which they are tried, and what is missing for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeAlias

from midcall.core.outcome import Via
from midcall.doctor.checks.report import Finding
from midcall.server.channels.table import CHANNELS
from midcall.wording.doctor import keeping

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["channels"]

Missing: TypeAlias = tuple[str, str] | None
"""What is not there, and how to have it."""


def channels(installation: Installation) -> tuple[Finding, ...]:
    return tuple(_channel(installation, channel.via) for channel in CHANNELS)


def _channel(installation: Installation, via: Via) -> Finding:
    missing = _MISSING.get(via, _nothing)(installation)
    if missing is not None:
        return Finding(via, "off", *missing)
    everybody = via == "required" and installation.required
    return Finding(
        via,
        "ok",
        "Clients on 2025-11-25 over stateless HTTP get the error -32042: install() says that all call again."
        if everybody
        else _has(via),
    )


def _nothing(installation: Installation) -> Missing:
    return None


def _for_pages(installation: Installation) -> Missing:
    return ("No portal is installed: see below.", "") if installation.portal is None else None


def _for_apps(installation: Installation) -> Missing:
    if installation.apps is False:
        return "It is switched off.", (
            "Leave out apps=False: clients that show MCP Apps, and declare no elicitation, then get forms as Apps."
        )
    if installation.keeping is None:
        return "There is no store, and without one no App can answer.", keeping.no_store_advice()
    return None if find_spec("jinja2") else ("Nothing here can draw the form.", "pip install 'midcall[browser]'")


def _for_relay(installation: Installation) -> Missing:
    if installation.relay:
        return None
    return "It is switched off.", _no_relay_advice(installation.keeping is not None)


def _for_required(installation: Installation) -> Missing:
    if installation.keeping is None:
        return "There is no store, and without one no call can go on when it is made again.", keeping.no_store_advice()
    return None


_MISSING: Final[Mapping[str, Callable[[Installation], Missing]]] = {
    "page": _for_pages,
    "required": _for_required,
    "app": _for_apps,
    "link": _for_pages,
    "relay": _for_relay,
}


def _has(via: str) -> str:
    return {
        "push": "Clients up to 2025-11-25 that declare elicitation, over stdio or stateful HTTP.",
        "round": "Clients on 2026-07-28 that declare elicitation.",
        "page": "Clients that declare URL mode and no forms get a page of the portal.",
        "required": "Clients on 2025-11-25 over stateless HTTP that say that they call again get the error -32042.",
        "app": "Clients that show MCP Apps and declare no elicitation get the form as an App.",
        "link": "All other clients get a link to a page, and go on with midcall_continue.",
        "relay": "Questions with 'relay' in their via= can be asked by the model, in the chat.",
        "default": "Where nobody can be asked, a question with default= takes it.",
    }.get(via, "It is there.")


def _no_relay_advice(store: bool) -> str:
    needed = "relay=True" if store else "relay=True, store=..."
    return (
        f"Only if a model may carry answers: install(..., {needed}), and via={{*STRONG, 'relay'}} at each question "
        "that allows it."
    )
