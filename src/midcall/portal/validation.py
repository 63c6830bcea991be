"""Check the settings of a portal when it is created, not when the first page opens."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any, Final, cast

from starlette.requests import Request

from midcall.errors import InstallError
from midcall.portal.identity.visitors import FromCallable, Identity, Loopback, Nobody
from midcall.portal.oauth import Provider
from midcall.web.public_url import Place
from midcall.web.secret_checks import ONE, AuthorCheck, Check, look

LAST_PORT: Final = 65_535


def check_numbers(port: object, ttl: object, pause: object) -> None:
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= LAST_PORT:
        raise InstallError(f"port={port!r} must be a whole number from 0 to {LAST_PORT}; 0 means any free port.")
    if isinstance(ttl, bool) or not isinstance(ttl, (int, float)) or not 0 < ttl < inf:
        raise InstallError(f"ttl={ttl!r} must be a positive number of seconds.")
    if isinstance(pause, bool) or not isinstance(pause, (int, float)) or not 0 <= pause < inf:
        raise InstallError(f"pause={pause!r} must be a number of seconds, from 0 on.")


def check_hosts(hosts: object) -> tuple[str, ...]:
    given = _to_tuple(hosts)
    if given is None or not all(isinstance(host, str) for host in given):
        raise InstallError(
            f"hosts= takes a list of texts, such as ['portal.internal:8080'], not {type(hosts).__name__}."
        )
    return given


def check_identity(given: Identity | Callable[[Request], Any] | None, place: Place | None) -> Identity:
    loopback = place is None or place.loopback
    if given is None:
        return Loopback() if loopback else Nobody()
    if isinstance(given, Loopback) and not loopback:
        raise InstallError(
            "Loopback() recognizes the user of this machine only. Use it with a base_url on loopback, or without one."
        )
    if hasattr(given, "visitor") and hasattr(given, "owner"):
        return cast("Identity", given)
    if inspect.iscoroutinefunction(given) or inspect.iscoroutinefunction(getattr(given, "__call__", None)):  # noqa: B004
        return FromCallable(cast("Any", given))
    raise InstallError("identity= takes Oidc(...), ProxyJwt(...), Loopback(), or an async function of the request.")


def check_providers(providers: object) -> tuple[Provider, ...]:
    given = _to_tuple(providers)
    if given is None:
        raise InstallError(f"providers= takes a list, [Provider(...)], not {type(providers).__name__}.")
    for each in given:
        if not isinstance(each, Provider):
            raise InstallError(f"providers= takes a list of Provider(...), but it contains {type(each).__name__}.")
    return given


def _to_tuple(given: object) -> tuple[Any, ...] | None:
    """The items; None for a text, whose letters would be the items, and for anything that is not iterable."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        return None
    return tuple(cast("Iterable[Any]", given))


def wrap_checks(checks: object) -> dict[str, Check]:
    """These checks, by the name of the secret, each as a function of what was typed into its page."""
    if not isinstance(checks, Mapping):
        raise InstallError(
            f"checks= takes a mapping from names of secrets to functions, {{'github': check}}, not "
            f"{type(checks).__name__}."
        )
    given = cast("Mapping[str, AuthorCheck]", checks)
    if wrong := [str(name) for name, check in given.items() if not callable(check)]:
        raise InstallError(f"checks= must be functions, one for each secret: {', '.join(wrong)}.")

    def wrap(check: AuthorCheck) -> Check:
        return lambda values: look(check, values[ONE] if list(values) == [ONE] else values)

    return {name: wrap(check) for name, check in given.items()}
