"""The channels of an installation, in the order in which they are tried, and what is missing for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, TypeAlias

from midcall.core.outcome import Via
from midcall.doctor.checks.report import Finding
from midcall.server.channels.table import CHANNELS
from midcall.wording.doctor import channels as wording
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
    return Finding(via, "ok", wording.required_from_all() if everybody else wording.has(via))


def _nothing(installation: Installation) -> Missing:
    return None


def _for_pages(installation: Installation) -> Missing:
    return (wording.no_portal(), "") if installation.portal is None else None


def _for_apps(installation: Installation) -> Missing:
    if installation.apps is False:
        return wording.no_apps(), wording.no_apps_advice()
    if installation.keeping is None:
        return wording.no_store_for_apps(), keeping.no_store_advice()
    return None if find_spec("jinja2") else (wording.nothing_draws(), wording.nothing_draws_advice())


def _for_relay(installation: Installation) -> Missing:
    if installation.relay:
        return None
    return wording.no_relay(), wording.no_relay_advice(installation.keeping is not None)


def _for_required(installation: Installation) -> Missing:
    if installation.keeping is None:
        return wording.no_store_for_required(), keeping.no_store_advice()
    return None


_MISSING: Final[Mapping[str, Callable[[Installation], Missing]]] = {
    "page": _for_pages,
    "required": _for_required,
    "app": _for_apps,
    "link": _for_pages,
    "relay": _for_relay,
}
