"""What an installation has, channel by channel, and what is missing: for `midcall doctor`.

`examined` looks at what was installed, and at nothing else. `looked_at` also opens the store and knocks at the portal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from midcall.core.addresses import is_loopback
from midcall.core.outcomes import Via
from midcall.errors import InstallError, Misuse, StoreError
from midcall.server.reach import CHANNELS
from midcall.server.surroundings import SETTINGS, Surroundings
from midcall.stores.memory import Memory
from midcall.stores.sqlite import SQLite
from midcall.wording import doctor as wording

if TYPE_CHECKING:
    from midcall.portal.app import Portal
    from midcall.server.install import Installation

__all__ = ["Finding", "Report", "State", "examined", "looked_at"]

State = Literal["ok", "off", "doubtful", "broken"]
"""It is there; it is not, which may be meant so; it may not do what is expected; it does not work."""

_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: State
    text: str
    advice: str = ""
    """What to do to have it."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found."""

    server: str
    channels: tuple[Finding, ...]
    installation: tuple[Finding, ...]

    @property
    def broken(self) -> bool:
        return any(finding.state == "broken" for finding in self.installation)

    def as_data(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        return {
            "server": self.server,
            "channels": [asdict(finding) for finding in self.channels],
            "installation": [asdict(finding) for finding in self.installation],
        }

    def sections(self) -> dict[str, tuple[Finding, ...]]:
        return {
            wording.channels_heading(): self.channels,
            wording.installation_heading(): self.installation,
        }


def examined(installation: Installation) -> Report:
    """What was installed, without touching anything."""
    return Report(installation.server_title, _channels(installation), _settings(installation))


async def looked_at(installation: Installation, surroundings: Surroundings | None = None) -> Report:
    """The same, after a look at the store, the portal and its issuer: whether they answer. And at the environment."""
    report, here = examined(installation), surroundings or Surroundings.here()
    found = _misnamed(here.misnamed)
    for finding in report.installation:
        if finding.name == "store":
            found.append(await _store_now(installation, finding))
        elif finding.name == "portal" and installation.portal is not None:
            found.append(await _portal_now(installation.portal))
            found += _hints(found[-1], installation.portal, here)
        elif finding.name == "identity" and installation.portal is not None:
            found.append(await _identity_now(installation.portal, finding))
        else:
            found.append(finding)
    return Report(report.server, report.channels, tuple(found))


# --- channels --------------------------------------------------------------------------------
def _channels(installation: Installation) -> tuple[Finding, ...]:
    return tuple(_channel(installation, channel.via) for channel in CHANNELS)


def _channel(installation: Installation, via: Via) -> Finding:
    missing = _MISSING.get(via, _nothing)(installation)
    if missing is not None:
        return Finding(via, "off", *missing)
    everybody = via == "required" and installation.required
    return Finding(via, "ok", wording.required_from_all() if everybody else wording.has_channel(via))


Missing = tuple[str, str] | None


def _nothing(installation: Installation) -> Missing:
    return None


def _for_pages(installation: Installation) -> Missing:
    return (wording.no_portal(), "") if installation.portal is None else None


def _for_apps(installation: Installation) -> Missing:
    if installation.apps is False:
        return wording.no_apps(), wording.no_apps_advice()
    if installation.keeping is None:
        return wording.no_store_for_apps(), wording.no_store_advice()
    return None if find_spec("jinja2") else (wording.nothing_draws(), wording.nothing_draws_advice())


def _for_relay(installation: Installation) -> Missing:
    if installation.relay:
        return None
    return wording.no_relay(), wording.no_relay_advice(installation.keeping is not None)


def _for_required(installation: Installation) -> Missing:
    if installation.keeping is None:
        return wording.no_store_for_required(), wording.no_store_advice()
    return None


_MISSING: Final[Mapping[str, Callable[[Installation], Missing]]] = {
    "page": _for_pages,
    "required": _for_required,
    "app": _for_apps,
    "link": _for_pages,
    "relay": _for_relay,
}


# --- settings --------------------------------------------------------------------------------
def _settings(installation: Installation) -> tuple[Finding, ...]:
    return (
        _keys(installation),
        _store(installation),
        *_portal(installation),
        _doubt(installation),
        _probe(installation),
    )


def _keys(installation: Installation) -> Finding:
    match installation.whose_keys:
        case "process":
            return Finding("keys", "doubtful", wording.keys_local(), wording.keys_local_advice())
        case "machine":
            return Finding("keys", "ok", wording.keys_of_this_machine())
        case "author":
            return Finding("keys", "ok", wording.keys_given())


def _store(installation: Installation) -> Finding:
    store = installation.store
    if store is None:
        return Finding("store", "off", wording.no_store(), wording.no_store_advice())
    if isinstance(store, Memory):
        return Finding("store", "doubtful", wording.store_in_memory(), wording.no_store_advice())
    about = wording.store_on_this_machine if isinstance(store, SQLite) else wording.store_shared
    return Finding("store", "ok", about(repr(store).strip("<>")))


def _portal(installation: Installation) -> Sequence[Finding]:
    portal = installation.portal
    if portal is None:
        needs_extra = find_spec("itsdangerous") is None
        return [Finding("portal", "off", wording.portal_none(), wording.no_portal_advice(needs_extra))]
    return [Finding("portal", "ok", wording.portal_there(_address(portal))), _identity(installation, portal)]


def _address(portal: Portal) -> str | None:
    """The address that it was given; None where it listens by itself, and does not yet."""
    try:
        return portal.url
    except Misuse:
        return None


def _identity(installation: Installation, portal: Portal) -> Finding:
    from midcall.portal.identity.nobody import Nobody

    if isinstance(portal.identity, Nobody):
        return Finding("identity", "doubtful", wording.everybody_is_nobody(), wording.everybody_is_nobody_advice())
    known_by = wording.known_by(type(portal.identity).__name__)
    if installation.knows_callers is False and not portal.local:
        return Finding("identity", "doubtful", wording.nobody_calls(known_by), wording.nobody_calls_advice())
    if installation.knows_callers and portal.local:
        advice = wording.everybody_is_nobody_advice()
        return Finding("identity", "doubtful", wording.callers_are_others(known_by), advice)
    return Finding("identity", "ok", known_by)


def _doubt(installation: Installation) -> Finding:
    if installation.doubt:
        return Finding("doubt", "ok", wording.doubts(installation.doubt))
    return Finding("doubt", "off", wording.believes_every_no(), wording.believes_every_no_advice())


def _probe(installation: Installation) -> Finding:
    return (
        Finding("probe", "ok", wording.probe_on())
        if installation.probe
        else Finding("probe", "off", wording.probe_off())
    )


def _misnamed(names: Sequence[str]) -> list[Finding]:
    """Nobody reads these, and whoever has set them believes otherwise."""
    meant = {name: next(iter(get_close_matches(name.upper(), SETTINGS, 1)), None) for name in names}
    return [Finding("settings", "doubtful", wording.misnamed(meant), wording.misnamed_advice())] if names else []


# --- what answers now ------------------------------------------------------------------------
async def _store_now(installation: Installation, before: Finding) -> Finding:
    if installation.keeping is None:
        return before
    try:
        await (await installation.keeping.store()).read("doctor")
    except StoreError as error:
        return Finding("store", "broken", wording.store_away(str(error)), wording.store_away_advice())
    return Finding("store", before.state, wording.store_answers(before.text), before.advice)


async def _identity_now(portal: Portal, before: Finding) -> Finding:
    from midcall.portal.identity.oidc import Oidc

    why = await portal.identity.trouble() if isinstance(portal.identity, Oidc) else None
    return before if why is None else Finding("identity", "broken", wording.issuer_unusable(before.text, why))


async def _portal_now(portal: Portal) -> Finding:
    by_itself = _address(portal) is None
    try:
        await portal.start()
    except InstallError as error:
        return Finding("portal", "broken", wording.portal_not_started(str(error)))
    return _knocked(portal.url, by_itself, *await _status(f"{portal.url}/health"))


def _knocked(url: str, by_itself: bool, status: int | None, ours: bool) -> Finding:
    match status:
        case 200 if ours:
            return Finding("portal", "ok", wording.portal_by_itself(url) if by_itself else wording.portal_answers(url))
        case 200:
            advice = wording.portal_something_else_advice(urlsplit(url).path)
            return Finding("portal", "doubtful", wording.portal_not_recognised(url), advice)
        case None:
            return Finding("portal", "doubtful", wording.portal_silent(url), wording.portal_silent_advice())
        case 503:
            return Finding("portal", "broken", wording.portal_store_away(url), wording.portal_store_away_advice())
        case _:
            advice = wording.portal_something_else_advice(urlsplit(url).path)
            return Finding("portal", "broken", wording.portal_something_else(url, status), advice)


async def _status(url: str) -> tuple[int | None, bool]:
    """What is answered there, and whether it is as a portal answers; None if nothing is."""
    import httpx2

    from midcall.portal.headers import HEADERS

    policy = "content-security-policy"
    try:
        async with httpx2.AsyncClient(timeout=_SECONDS, follow_redirects=False) as http:
            answer = await http.get(url)
    except httpx2.HTTPError:
        return None, False
    return answer.status_code, answer.headers.get(policy) == HEADERS[policy]


def _hints(portal_now: Finding, portal: Portal, surroundings: Surroundings) -> list[Finding]:
    """Why the user's browser may not get to a portal that is only on this machine's loopback."""
    if portal_now.state == "broken" or not is_loopback(urlsplit(portal.url).hostname or ""):
        return []
    if surroundings.container:
        told = wording.portal_contained(), wording.portal_contained_advice()
    elif surroundings.ssh:
        told = wording.portal_remote(), wording.portal_remote_advice()
    elif not surroundings.display:
        told = wording.portal_no_display(), wording.portal_no_display_advice()
    else:
        return []
    return [Finding("browser", "doubtful", *told)]
