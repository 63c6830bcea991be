"""What was installed and set, as far as it can be seen without touching anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from midcall.doctor.checks.identity import identity
from midcall.doctor.checks.portal import address_of, portal_of
from midcall.doctor.checks.report import Finding
from midcall.doctor.surroundings import SETTINGS, Surroundings
from midcall.stores.memory import Memory
from midcall.stores.sqlite import SQLite
from midcall.wording.doctor import keeping, portal

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["misnamed", "settings"]

_TWICE: Final = "Without a store, two replicas can each continue the same state, even with different answers."
_SHARE: Final = (
    "Pass store='postgresql://...' or 'redis://...': then a call is continued once, where its run is. With one "
    "replica, or sticky routing, pass live=True."
)
_EFFECTS: Final = "Put effects that come before a question into once()."
_STICKY: Final = f"With several replicas, route all requests of a call to the same one, or add a store. {_TWICE}"


def settings(installation: Installation, here: Surroundings) -> tuple[Finding, ...]:
    return (
        _keys(installation, here),
        _store(installation, here),
        _runs(installation),
        *_portal(installation, here),
        _doubt(installation),
        _probe(installation),
        *_secrets(installation),
    )


def misnamed(names: Sequence[str]) -> list[Finding]:
    """Nobody reads these, and whoever has set them believes otherwise."""
    meant = {name: next(iter(get_close_matches(name.upper(), SETTINGS, 1)), None) for name in names}
    return (
        [Finding("settings", "doubtful", _misnamed(meant), "docs/operations.md lists the variables.")] if names else []
    )


def _keys(installation: Installation, here: Surroundings) -> Finding:
    match installation.whose_keys:
        case "process":
            return Finding(
                "keys",
                "doubtful",
                "Only this process has its key: a call that waits is lost with it, and other replicas refuse it.",
                (
                    "For HTTP, set MIDCALL_KEYS to a secret of 32 bytes or more, or install(..., keys=[...]), "
                    "together with a store; for a single replica live=True will do. Stdio needs none of it."
                ),
            )
        case "machine" if here.container:
            advice = (
                "Set MIDCALL_KEYS to a secret of 32 bytes or more, or keep the data directory (XDG_DATA_HOME) "
                "on a volume."
            )
            return Finding(
                "keys",
                "doubtful",
                (
                    "Those of this user in this container: another container, also a new one of the same image, "
                    "has others."
                ),
                advice,
            )
        case "machine":
            return Finding(
                "keys",
                "ok",
                "Those of this user on this machine: calls go on here after a restart, and on no other machine.",
            )
        case "author":
            return Finding(
                "keys",
                "ok",
                "They were given: every replica that has them goes on with these calls, also after a restart.",
            )


def _store(installation: Installation, here: Surroundings) -> Finding:
    store = installation.store
    if store is None:
        return Finding(
            "store",
            "off",
            "There is none: a call cannot go on later, and `once` holds within one process.",
            keeping.no_store_advice(),
        )
    if isinstance(store, Memory):
        return Finding(
            "store",
            "doubtful",
            "In the memory of this process: what waits is gone after a restart, and other replicas do not see it.",
            keeping.no_store_advice(),
        )
    of_here = _in_this_container if here.container else _on_this_machine
    about = of_here if isinstance(store, SQLite) else _shared
    return Finding("store", "ok", about(repr(store).strip("<>")))


def _runs(installation: Installation) -> Finding:
    """Whether a call that waits stays in memory, so that its code runs once."""
    shared = installation.whose_keys != "process" and installation.store is None
    if installation.live:
        text = f"Calls stay in memory while they wait for an answer, and run once. {installation.why_live}"
        return Finding("runs", "ok", text, _STICKY if shared else "")
    text = f"Calls are replayed: a tool runs again from the top after each answer. {installation.why_live}"
    if not shared:
        return Finding("runs", "off", text, _EFFECTS)
    return Finding("runs", "doubtful", text, f"{_TWICE} {_SHARE} {_EFFECTS}")


def _portal(installation: Installation, here: Surroundings) -> Sequence[Finding]:
    there = portal_of(installation)
    if there is None:
        return [
            Finding(
                "portal",
                "off",
                "There is none: no pages, so no secrets, authorizations, approvals or links.",
                _how_to_add(here),
            )
        ]
    return [Finding("portal", "ok", _there(address_of(there))), identity(installation, there)]


def _how_to_add(here: Surroundings) -> str:
    extra = find_spec("itsdangerous") is None
    return portal.none_advice(extra) if here.near else portal.none_advice_far(extra, forwards=not here.container)


def _doubt(installation: Installation) -> Finding:
    if installation.doubt:
        return Finding(
            "doubt",
            "ok",
            (
                f'A no within {installation.doubt:g} s is taken for "not shown"; then a page, an App or a link is '
                "tried, once."
            ),
        )
    return Finding(
        "doubt",
        "off",
        "Every no is believed, also one that comes faster than a person reads.",
        "install(..., doubt=0.25) asks once more by a page or a link, where there is one.",
    )


def _probe(installation: Installation) -> Finding:
    if installation.probe:
        return Finding(
            "probe", "ok", "midcall_probe is listed: call it from a client to see what really happens there."
        )
    return Finding("probe", "off", "It is switched off. install(..., probe=True) adds a tool that tries a client out.")


def _secrets(installation: Installation) -> Sequence[Finding]:
    """Forms that existing tools have sent since the server started."""
    names = sorted({name for names in installation.secret_forms.values() for name in names})
    if not names:
        return []
    text = f"Forms of existing tools ask for {', '.join(map(repr, names))}: the answers pass through the client."
    advice = 'Ask with secret() instead, or give the reason why it is not a secret: install(..., not_secret="...").'
    return [Finding("secrets", "doubtful", text, advice)]


def _misnamed(meant: Mapping[str, str | None]) -> str:
    each = (f"{name} (meant {near}?)" if near else name for name, near in meant.items())
    return f"No setting of midcall is called {', '.join(each)}: it is not read."


def _on_this_machine(name: str) -> str:
    return f"{name}: for all processes of this machine."


def _in_this_container(name: str) -> str:
    return f"{name}: for all processes of this container, and gone with it unless the file is on a volume."


def _shared(name: str) -> str:
    return f"{name}: for all replicas."


def _there(url: str | None) -> str:
    return "It starts by itself, on loopback, when it is first needed." if url is None else f"At {url}."
