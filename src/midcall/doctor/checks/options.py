"""Checks of what was passed to `install`, and of the environment. None of them does I/O."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from midcall.doctor.inspection import VARIABLES, Finding, Setup

_TWICE: Final = "Without a store, two replicas can each continue the same state, even with different answers."
_SHARE: Final = (
    "Pass store='postgresql://...' or 'redis://...': then a call is continued once, where its run is. With one "
    "replica, or sticky routing, pass live=True."
)
_EFFECTS: Final = "Wrap effects that come before a question in once()."
_STICKY: Final = f"With several replicas, route all requests of a call to the same one, or add a store. {_TWICE}"


async def check_variables(setup: Setup) -> list[Finding]:
    """Look for misspelled variables: midcall never reads them."""
    if not setup.here.unknown:
        return []
    advice = "`midcall doctor --settings` lists the variables."
    return [Finding("settings", "doubtful", describe_unknown(setup.here.unknown), advice)]


def describe_unknown(names: tuple[str, ...]) -> str:
    """Which variables midcall ignores, and what they were meant to be."""
    meant = {name: next(iter(get_close_matches(name.upper(), VARIABLES, 1)), None) for name in names}
    each = (f"{name} (meant {near}?)" if near else name for name, near in meant.items())
    return f"midcall has no setting named {', '.join(each)}, and ignores it."


async def check_keys(setup: Setup) -> list[Finding]:
    """Whether other replicas and a restarted server can continue a call."""
    match setup.installation.whose_keys:
        case "process":
            text = "Only this process has its key: a restart loses pending calls, and other replicas reject them."
            advice = (
                "For HTTP, set MIDCALL_KEYS to a secret of 32 bytes or more, or pass install(..., keys=[...]), and add "
                "a store; for a single replica, live=True is enough. Stdio needs none of this."
            )
            return [Finding("keys", "doubtful", text, advice)]
        case "machine" if setup.here.container:
            text = "This user's, in this container: another container has others, even one of the same image."
            advice = (
                "Set MIDCALL_KEYS to a secret of 32 bytes or more, or keep the data directory (XDG_DATA_HOME) on a "
                "volume."
            )
            return [Finding("keys", "doubtful", text, advice)]
        case "machine":
            text = "This user's, on this machine: calls resume here after a restart, but on no other machine."
            return [Finding("keys", "ok", text)]
        case "server":
            text = "The server's own, of its RequestStateSecurity: replicas that share them can continue these calls."
            return [Finding("keys", "ok", text)]
        case "author":
            text = "Yours: every replica that has them can continue these calls, even after a restart."
            return [Finding("keys", "ok", text)]


async def check_runs(setup: Setup) -> list[Finding]:
    """Whether a pending call stays in memory, so that its code runs once."""
    installation = setup.installation
    shared = installation.whose_keys != "process" and installation.store is None
    if installation.live:
        text = f"Calls stay in memory while they wait for an answer, and run once. {installation.why_live}"
        return [Finding("runs", "ok", text, _STICKY if shared else "")]
    text = f"Calls are replayed: a tool runs again from the top after each answer. {installation.why_live}"
    if not shared:
        return [Finding("runs", "off", text, _EFFECTS)]
    return [Finding("runs", "doubtful", text, f"{_TWICE} {_SHARE} {_EFFECTS}")]


async def check_doubt(setup: Setup) -> list[Finding]:
    """Whether a decline that came too fast is doubted."""
    if doubt := setup.installation.doubt:
        text = f'A decline within {doubt:g} s counts as "not shown"; then midcall tries a page, an App or a link, once.'
        if setup.installation.portal is not None:
            return [Finding("doubt", "ok", text)]
        text = f'A decline within {doubt:g} s counts as "not shown". There is no portal to ask again on.'
        return [Finding("doubt", "ok", text, "With install(..., portal=Portal()), the user gets a link instead.")]
    text = "midcall believes every decline, even one that comes faster than a person reads."
    advice = "Remove doubt=0 or MIDCALL_DOUBT=0: hosts without a person at them decline on their own."
    return [Finding("doubt", "off", text, advice)]


async def check_probe(setup: Setup) -> list[Finding]:
    """Whether clients can be tried out."""
    if setup.installation.probe:
        text = "midcall_probe is listed: call it from a client to see what really happens there."
        return [Finding("probe", "ok", text)]
    return [Finding("probe", "off", "Off. install(..., probe=True) adds a tool that tries the connected client.")]


async def check_forms(setup: Setup) -> list[Finding]:
    """Look for forms that some hosts refuse, among those that were asked since the server started."""
    hazards = sorted({hazard for hazards in setup.installation.odd_forms.values() for hazard in hazards})
    if not hazards:
        return []
    text = f"Some hosts refuse forms that were asked here. They have {', '.join(hazards)}."
    advice = "Avoid look-ahead in patterns, since hosts in Go run RE2, and give each option a value that is not empty."
    return [Finding("forms", "doubtful", text, advice)]


async def check_secrets(setup: Setup) -> list[Finding]:
    """Look for forms with secrets that existing tools have sent since the server started."""
    names = sorted({name for names in setup.installation.secret_forms.values() for name in names})
    if not names:
        return []
    text = f"Forms of existing tools ask for {', '.join(map(repr, names))}: the answers pass through the client."
    advice = 'Ask with secret() instead, or say why it is not a secret: install(..., not_secret="...").'
    return [Finding("secrets", "doubtful", text, advice)]
