"""What `midcall doctor` and the probe say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__: list[str] = []


# --- the probe: its tool -----------------------------------------------------------------------
def probe_title() -> str:
    return "Try out how this client asks its user"


def probe_description() -> str:
    return (
        "Asks the user one harmless question of each kind, and reports what came of each: whether this client can "
        "be asked, how the question got there, and how it was answered. Changes nothing. For the author of this server."
    )


def probe_timeout() -> str:
    return "For how many seconds each question may wait"


# --- the probe: its questions, which a person reads -----------------------------------------------
def probe_message(kind: str) -> str:
    return {
        "text": "Test, question 1: type any word.",
        "integer": "Test, question 2: choose any whole number from 1 to 10.",
        "yes/no": "Test, question 3: answer yes or no, as you like.",
        "choice": "Test, question 4: choose any one of these.",
        "choices": "Test, question 5: choose any of these, or none.",
        "defaults": "Test, question 6: this is filled in already. Send it as it is.",
        "visit": "Test, question 7: open a page of this server. It only says that it is there.",
    }[kind]


# --- the probe: its report ------------------------------------------------------------------------
def probe_heading(client: str, version: str) -> str:
    return f"{client or 'A client without a name'}, protocol {version}"


def probe_declared(declared: str) -> str:
    return f"Declared: {declared}"


def probe_channels(mode: str, channels: Sequence[str]) -> str:
    what = "Forms" if mode == "form" else "Visits"
    return f"{what} get there by: {', '.join(channels) or 'nothing'}"


def probe_columns() -> tuple[str, ...]:
    return "question", "asked by", "answer", "seconds", "remarks"


def probe_too_fast() -> str:
    return "faster than a person reads: probably nobody saw it"


def probe_scripted() -> str:
    return "a program answered"


def probe_defaults_lost() -> str:
    return "it was not sent as it was filled in"


def probe_no_answer(seconds: float) -> str:
    return f"nothing came within {seconds:g} s: perhaps nobody saw it"


# --- the doctor: channels ------------------------------------------------------------------------
def channels_heading() -> str:
    return "Channels, in the order in which they are tried"


def has_channel(via: str) -> str:
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


def required_from_all() -> str:
    return "Clients on 2025-11-25 over stateless HTTP get the error -32042: install() says that all call again."


def no_store_for_required() -> str:
    return "There is no store, and without one no call can go on when it is made again."


def no_portal() -> str:
    return "No portal is installed: see below."


def no_portal_advice(extra: bool) -> str:
    first = "pip install 'midcall[portal]', and then " if extra else ""
    return f"Add one: {first}install(..., portal=Portal()) for the user of this machine, or Portal('https://...')."


def no_apps() -> str:
    return "It is switched off."


def no_apps_advice() -> str:
    return "Leave out apps=False: clients that show MCP Apps, and declare no elicitation, then get forms as Apps."


def no_store_for_apps() -> str:
    return "There is no store, and without one no App can answer."


def no_store_advice() -> str:
    return "Use install(..., store='sqlite://'), or 'postgresql://...' or 'redis://...' for several replicas."


def nothing_draws() -> str:
    return "Nothing here can draw the form."


def nothing_draws_advice() -> str:
    return "pip install 'midcall[browser]'"


def no_relay() -> str:
    return "It is switched off."


def no_relay_advice(store: bool) -> str:
    needed = "relay=True" if store else "relay=True, store=..."
    return (
        f"Only if a model may carry answers: install(..., {needed}), and via={{*STRONG, 'relay'}} at each question "
        "that allows it."
    )


# --- the doctor: the installation ------------------------------------------------------------------
def installation_heading() -> str:
    return "Installation"


def keys_given() -> str:
    return "They were given: every replica that has them goes on with these calls, also after a restart."


def keys_of_this_machine() -> str:
    return "Those of this user on this machine: calls go on here after a restart, and on no other machine."


def keys_local() -> str:
    return "Only this process has its key: a call that waits is lost with it, and other replicas refuse it."


def keys_local_advice() -> str:
    return "For HTTP, set MIDCALL_KEYS to a secret of 32 bytes or more, or install(..., keys=[...]). Stdio needs none."


def no_store() -> str:
    return "There is none: a call cannot go on later, and `once` holds within one process."


def store_in_memory() -> str:
    return "In the memory of this process: what waits is gone after a restart, and other replicas do not see it."


def store_on_this_machine(name: str) -> str:
    return f"{name}: for all processes of this machine."


def store_shared(name: str) -> str:
    return f"{name}: for all replicas."


def store_answers(about: str) -> str:
    return f"It answers. {about}"


def store_away(why: str) -> str:
    return f"It cannot be used. {why}"


def store_away_advice() -> str:
    return "`midcall store check URL` looks at a store by itself."


def portal_none() -> str:
    return "There is none: no pages, so no secrets, authorizations, approvals or links."


def portal_there(url: str | None) -> str:
    return "It starts by itself, on loopback, when it is first needed." if url is None else f"At {url}."


def portal_answers(url: str) -> str:
    return f"{url} answers."


def portal_by_itself(url: str) -> str:
    return f"It starts by itself, on loopback, when it is first needed; {url} answered."


def portal_not_started(why: str) -> str:
    return f"It cannot start. {why}"


def portal_silent(url: str) -> str:
    return f"Nothing answers at {url}."


def portal_silent_advice() -> str:
    return "Right if the server is not running now. Else look at its address, its certificate, and at what is in front."


def portal_store_away(url: str) -> str:
    return f"{url} answers, and says that its store is away."


def portal_store_away_advice() -> str:
    return "The running server has another store, or lost it: see its log."


def portal_something_else(url: str, status: int) -> str:
    return f"Something else answers at {url} ({status})."


def portal_not_recognised(url: str) -> str:
    return f"{url}/health answers, and not as a portal does: it may be something else."


def portal_something_else_advice(path: str) -> str:
    where = f"app.mount({path!r}, portal)" if path else "app.mount('/', portal), behind all other routes"
    return (
        f"Mount the portal where its address says: {where}. A proxy in front must hand this path on; if it strips "
        "the front of it, mount the portal at what is left."
    )


def portal_remote() -> str:
    return "This server is reached over SSH, and the user's browser may be on another machine: loopback ends here."


def portal_remote_advice() -> str:
    return "Give it a port of its own, Portal(port=8765), and forward that: ssh -L 8765:127.0.0.1:8765 HOST."


def portal_contained() -> str:
    return "This is a container: its loopback is not that of the user's machine."


def portal_contained_advice() -> str:
    return "Give it an address that the user's browser reaches, Portal('https://...'), and mount it in your app."


def portal_no_display() -> str:
    return "This machine has no display: the user has to open addresses in a browser that runs on this machine."


def portal_no_display_advice() -> str:
    return "Forward a port to where the browser is, or give the portal an address: Portal('https://...')."


def everybody_is_nobody() -> str:
    return "Nobody can be identified there: only plain forms are served, no secrets, authorizations or approvals."


def everybody_is_nobody_advice() -> str:
    return "Portal(..., identity=Oidc(...)) or ProxyJwt(...): see docs/identity.md."


def known_by(identity: str) -> str:
    return f"It tells who is looking by {identity}."


def nobody_calls(known_by: str) -> str:
    return (
        f"{known_by} But nothing tells who makes a call: this server has no MCP authorization, so secrets, "
        "authorizations and approvals have nobody to belong to."
    )


def callers_are_others(known_by: str) -> str:
    return (
        f"{known_by} But callers sign in with an access token, and cannot be compared with the user of this machine: "
        "no secrets, authorizations or approvals."
    )


def nobody_calls_advice() -> str:
    return "Give the server auth= and token_verifier=, or install(..., principal=...): see docs/identity.md."


def issuer_unusable(known_by: str, why: str) -> str:
    return f"{known_by} But {why}."


def misnamed(meant: Mapping[str, str | None]) -> str:
    each = (f"{name} (meant {near}?)" if near else name for name, near in meant.items())
    return f"No setting of midcall is called {', '.join(each)}: it is not read."


def misnamed_advice() -> str:
    return "docs/operations.md lists the variables."


def believes_every_no() -> str:
    return "Every no is believed, also one that comes faster than a person reads."


def believes_every_no_advice() -> str:
    return "install(..., doubt=0.25) asks once more by a page or a link, where there is one."


def doubts(seconds: float) -> str:
    return f'A no within {seconds:g} s is taken for "not shown"; then a page, an App or a link is tried, once.'


def probe_on() -> str:
    return "midcall_probe is listed: call it from a client to see what really happens there."


def probe_off() -> str:
    return "It is switched off. install(..., probe=True) adds a tool that tries a client out."


# --- the doctor: the command -------------------------------------------------------------------------
def no_such_file(path: str) -> str:
    return f"there is no file {path!r}"


def no_such_module(name: str) -> str:
    return f"there is no module {name!r} here, nor in what is installed"


def not_imported(target: str, kind: str, why: str) -> str:
    return f"{target} could not be imported: {kind}{f': {why}' if why else ''}"


def no_such_name(target: str, name: str, near: Sequence[str]) -> str:
    hint = f" Servers there: {', '.join(near)}." if near else ""
    return f"{target} has no {name!r}.{hint}"


def not_installed(target: str) -> str:
    return f"midcall is not installed on a server in {target}: midcall.install(server) does that"


def several(target: str, names: Sequence[str]) -> str:
    return f"{target} has several servers: name one of {', '.join(names)}, as {target}:{names[0]}"


def offers_heading() -> str:
    return "What the server offers"


def tools_listed(names: Sequence[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "none"


def goes_on() -> str:
    return "midcall_continue is listed: a call that could not be finished goes on later."


def does_not_go_on() -> str:
    return "midcall_continue is not listed: the server has no store, or does not use midcall."


def no_probe_there() -> str:
    return "midcall_probe is not listed. With install(..., probe=True) its result would stand here."


def probe_failed(why: str) -> str:
    return f"midcall_probe failed: {why}"


def probe_unfinished() -> str:
    return (
        "midcall_probe asked by a link, which this command does not open: nothing can be pushed to this client. Over "
        "HTTP that is so where the server is stateless, on versions before 2026-07-28."
    )


def probe_was_run() -> str:
    return "midcall_probe was called, and answered by this command; a page was agreed to and not opened."
