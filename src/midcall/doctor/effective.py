"""The values of all settings that are in effect, and where each comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from midcall.doctor.inspection import Setup, address_of
from midcall.doctor.masking import mask
from midcall.settings.environment import NO, YES
from midcall.settings.table import SETTINGS, Setting, Value
from midcall.stores.sqlite import default_file

if TYPE_CHECKING:
    from midcall.server.installation import Installation

Source: TypeAlias = Literal["argument", "environment", "default", "fixed"]

_HIDDEN: Final = "(set)"


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting, its value as text, and who set it."""

    setting: Setting
    value: str
    source: Source

    def as_data(self) -> dict[str, Any]:
        """The row as JSON-ready data."""
        setting = self.setting
        return {
            "name": setting.name,
            "argument": setting.argument,
            "variable": setting.env,
            "value": self.value,
            "from": self.source,
            "default": setting.format(setting.default),
            "meaning": setting.meaning,
            "at_the_limit": setting.then,
            "subject": setting.subject,
        }


def find_effective(setup: Setup | None = None, environ: Mapping[str, str] = os.environ) -> list[Effective]:
    """All rows of the table. Without an installation, what a server would get that sets nothing in code."""
    given = {} if setup is None else dict(_arguments(setup))
    return [_find(setting, given, environ) for setting in SETTINGS]


def _find(setting: Setting, given: Mapping[str, Value], environ: Mapping[str, str]) -> Effective:
    if setting.is_fixed:
        return Effective(setting, setting.format(setting.default), "fixed")
    variable = environ.get(setting.env, "").strip() if setting.env else ""
    value, default = given.get(setting.name, setting.default), setting.default
    if value != default or isinstance(value, bool) != isinstance(default, bool):
        by_variable = variable and _means(variable, value)
        return Effective(setting, setting.format(value), "environment" if by_variable else "argument")
    if variable:
        return Effective(setting, _HIDDEN if setting.name == "KEYS" else mask(variable), "environment")
    return Effective(setting, setting.format(setting.default), "default")


def _arguments(setup: Setup) -> Iterator[tuple[str, Value]]:
    """What this installation was given, by the names in the table. Keys and passwords are left out."""
    installation, portal = setup.installation, setup.portal
    otherwise = dict(_kept_otherwise(installation))
    for setting in SETTINGS:
        if name := setting.of_install:
            yield setting.name, otherwise[name] if name in otherwise else getattr(installation, name)
    if portal is not None:
        yield "PORTAL_URL", address_of(portal)
        yield "PORTAL_TTL_SECONDS", portal.ttl
        yield "PORTAL_PAUSE_SECONDS", portal.pause


def _kept_otherwise(installation: Installation) -> Iterator[tuple[str, Value]]:
    """The arguments that aren't attributes of the installation as they are shown."""
    decided = installation.whose_keys == "process" or installation.store is not None
    yield "live", None if installation.live == decided else installation.live
    yield "keys", _HIDDEN if installation.whose_keys == "author" else None
    is_default = installation.portal is not None and str(default_file()) in repr(installation.store)
    yield "store", None if installation.store is None or is_default else mask(repr(installation.store).strip("<>"))
    yield "namespace", installation.identity.namespace or None
    for who, most in (("caller", installation.limits.caller), ("store", installation.limits.all)):
        yield f"max_{who}_records", most.records
        yield f"max_{who}_mb", most.size // 1_000_000
    for name in ("principal", "audit", "portal", "continue_annotations"):
        yield name, None if getattr(installation, name) is None else _HIDDEN


def _means(variable: str, value: Value) -> bool:
    """Whether this variable can have led to this value: the code comes first, and would have another."""
    if isinstance(value, bool):
        return variable.lower() in (YES if value else NO)
    if isinstance(value, (int, float)):
        try:
            return float(variable) == value
        except ValueError:
            return False
    return True
