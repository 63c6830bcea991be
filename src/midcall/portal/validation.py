"""Settings of a portal that are wrong are told when it is made, and not when the first page opens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, Final, cast

from midcall.errors import InstallError
from midcall.portal.oauth import Provider
from midcall.web.secret_checks import ONE, Check, Given, look

__all__ = ["LAST_PORT", "checks_of", "hosts_of", "port_of", "providers_of", "seconds_of"]

LAST_PORT: Final = 65_535


def port_of(port: object) -> int:
    """This port; 0 for any that is free."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= LAST_PORT:
        raise InstallError(
            f"port={port!r} must be a whole number from 0 to {LAST_PORT}; 0 takes any port that is free."
        )
    return port


def seconds_of(ttl: object) -> float:
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)) or not 0 < ttl < inf:
        raise InstallError(f"ttl={ttl!r} must be a positive number of seconds.")
    return ttl


def hosts_of(hosts: object) -> tuple[str, ...]:
    several = _several(hosts)
    if several is None or not all(isinstance(host, str) for host in several):
        raise InstallError(
            f"hosts= takes a list of texts, such as ['portal.internal:8080'], and not {type(hosts).__name__}."
        )
    return several


def providers_of(providers: object) -> tuple[Provider, ...]:
    several = _several(providers)
    if several is None:
        raise InstallError(f"providers= takes a list, [Provider(...)], and not {type(providers).__name__}.")
    for each in several:
        if not isinstance(each, Provider):
            raise InstallError(f"providers= takes a list of Provider(...), and there is {type(each).__name__} in it.")
    return several


def _several(given: object) -> tuple[Any, ...] | None:
    """What is in it; None for one text, whose letters would be taken for many, and for what holds nothing."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        return None
    return tuple(cast("Iterable[Any]", given))


def checks_of(checks: object) -> dict[str, Check]:
    """These checks, by the name of the secret, each on what was typed into its page."""
    if not isinstance(checks, Mapping):
        raise InstallError(
            "checks= takes a mapping of functions by the names of secrets, {'github': check}, and not "
            f"{type(checks).__name__}."
        )
    given = cast("Mapping[str, Given]", checks)
    if wrong := [str(name) for name, check in given.items() if not callable(check)]:
        raise InstallError(f"checks= must be functions, one for each secret: {', '.join(wrong)}.")
    return {name: _on_the_value(check) for name, check in given.items()}


def _on_the_value(check: Given) -> Check:
    async def whole(values: Mapping[str, str]) -> str | None:
        return await look(check, values[ONE] if list(values) == [ONE] else values)

    return whole
