"""Check what answers at the address of the portal, or why nothing does; and whether the user's browser can reach it."""

from __future__ import annotations

import asyncio
import socket
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from midcall.core.urls import is_loopback
from midcall.doctor.inspection import Finding, Setup, Surroundings, address_of
from midcall.errors import InstallError
from midcall.settings.cli import CHECK_PORTAL_SECONDS, CHECK_SECONDS
from midcall.web.certificates import Fault, advise, describe_fault, fault_of

if TYPE_CHECKING:
    import httpx2

    from midcall.portal.app import Portal

_POLICY: Final = "content-security-policy"
_SIGN_IN: Final = (302, 303, 307, 401, 403)
_SUGGESTED: Final = 8765
_USUAL: Final = {"http": 80, "https": 443}
_MAY_BE_TRUSTED: Final = ("self-signed", "unknown authority")
"""A browser may know an authority that this machine doesn't."""

Trouble: TypeAlias = Fault | Literal["nobody", "no answer", "unknown host"]
"""Why nothing answered: no listener, a timeout, a name that doesn't resolve, or a TLS error."""


async def check_portal(setup: Setup) -> list[Finding]:
    """Start the portal if it listens on its own, request its health, and think of the user's browser."""
    portal = setup.portal
    if portal is None:
        text = "None: no pages, so no secrets, authorizations, approvals or links."
        return [Finding("portal", "off", text, _advise_adding(setup.here))]
    alone = address_of(portal) is None
    try:
        await portal.start()
    except InstallError as error:
        advice = "Choose another port, Portal(port=...) or MIDCALL_PORTAL_PORT; without one, it takes any free port."
        return [Finding("portal", "broken", f"It cannot start. {error!s}", advice)]
    answer = await request(f"{portal.url}/health")
    if isinstance(answer, str):
        found = _describe_trouble(portal.url, answer, setup.here)
    else:
        found = _describe_sign_in(portal, answer) or _describe_answer(portal.url, alone, answer)
    more = [] if found.state == "broken" else _check_browser(setup, portal, alone)
    return [found, *_name_callbacks(portal), *_check_page_process(portal, alone), *more]


def _name_callbacks(portal: Portal) -> list[Finding]:
    """What has to be registered at each provider. Nobody but the provider knows whether it is."""
    where = [f"{each.name}: {portal.redirect_uri(each.name)}" for each in portal.providers]
    text = f"Register exactly these redirect URIs, one at each provider. {'; '.join(where)}."
    return [Finding("providers", "ok", text)] if where else []


def _check_page_process(portal: Portal, alone: bool) -> list[Finding]:
    """Whether pages outlive a stdio server, and whether the process that serves them then runs."""
    from midcall.portal.detached.files import Folder, NoPageProcess

    if not alone:
        return []
    why, life = portal.why_not_detached(), None
    try:
        life = Folder.find().find_running() if why is None else None
    except NoPageProcess as exc:
        why = str(exc)
    if why is not None:
        text = f"Pages end with their server: {why}."
        return [Finding("pages", "off", text, "Hosts that end a stdio server with their turn lose open pages.")]
    text = "Over stdio, with SQLite, open pages work after the server has ended."
    now = "It doesn't run now." if life is None else f"It runs now, at port {life.port}: see `midcall pages`."
    return [Finding("pages", "ok", f"{text} {now}")]


def _advise_adding(here: Surroundings) -> str:
    first = "pip install 'midcall[portal]', and then " if find_spec("itsdangerous") is None else ""
    add = f"Add one: {first}install(..., portal=Portal())"
    if here.near:
        return f"{add} for the user of this machine; or, over HTTP, Portal('https://...'), mounted in the server's app."
    then = "" if here.container else ": then forward its port, ssh -L"
    return (
        f"{add}, mounted in your HTTP app, with MIDCALL_PORTAL_URL set to the address that users know. Without an "
        f"address it listens on loopback here, where the user's browser is not{then}."
    )


def _describe_sign_in(portal: Portal, answer: httpx2.Response) -> Finding | None:
    """A proxy that identifies users lets nobody else through, and that's right."""
    from midcall.portal.identity.proxy import ProxyJwt

    if not isinstance(portal.identity, ProxyJwt) or answer.status_code not in _SIGN_IN:
        return None
    wants = f"The proxy in front of {portal.url} wants a sign-in ({answer.status_code})"
    text = f"{wants}, so the portal behind it was not seen."
    advice = f"Sign in with a browser and open {portal.url}/health; or let that path through, which reveals nothing."
    return Finding("portal", "doubtful", text, advice)


def _describe_answer(url: str, alone: bool, answer: httpx2.Response) -> Finding:
    from midcall.web.security import HEADERS

    path = urlsplit(url).path
    where = f"app.mount({path!r}, portal)" if path else "app.mount('/', portal), behind all other routes"
    mount = (
        f"Mount the portal where its address says: {where}. A proxy in front must pass this path on; if it strips a "
        "prefix, mount the portal at the rest."
    )
    match answer.status_code:
        case 200 if answer.headers.get(_POLICY) == HEADERS[_POLICY]:
            text = f"It starts on loopback when it is first needed; {url} answered." if alone else f"{url} answers."
            return Finding("portal", "ok", text)
        case 200:
            text = f"{url}/health answers, but not as a portal does: it may be something else."
            return Finding("portal", "doubtful", text, mount)
        case 503:
            text = f"{url} answers, and reports that its store is away."
            advice = "See the store." if alone else "The running server has another store, or lost it: see its log."
            return Finding("portal", "broken", text, advice)
        case status:
            return Finding("portal", "broken", f"Something else answers at {url} ({status}).", mount)


def _describe_trouble(url: str, trouble: Trouble, here: Surroundings) -> Finding:
    """Only doubtful if the server may not be running now, or users may be on another network."""
    host = urlsplit(url).hostname or ""
    match trouble:
        case "nobody":
            text = f"Nothing answers at {url}."
            advice = "Fine if the server is not running now. Otherwise check its address, and the proxy in front."
        case "no answer":
            text = f"No answer from {url} within a few seconds: something drops packets on the way, or hangs."
            advice = "Check firewalls, cloud security groups, and whether the proxy in front reaches the server."
        case "unknown host":
            text = f"{host} does not resolve here."
            advice = "Correct the portal's address, or its DNS record. A private name may only resolve elsewhere."
        case fault:
            text = f"{url} was not opened: {describe_fault(fault)}."
            state = "doubtful" if fault in _MAY_BE_TRUSTED else "broken"
            return Finding("portal", state, text, advise(fault))
    if trouble != "unknown host" and here.container and not is_loopback(host):
        advice = f"{advice} A container may not reach its own public address: open {url}/health where a user is."
    return Finding("portal", "doubtful", text, advice)


# --- the request ---------------------------------------------------------------------------------


async def request(url: str) -> httpx2.Response | Trouble:
    """Get this URL, within a few seconds. httpx counts its timeout per step, so there's one around it."""
    import httpx2

    steps = httpx2.Timeout(CHECK_SECONDS, read=CHECK_PORTAL_SECONDS)
    # A proxy from the environment can't reach our own loopback.
    transport = httpx2.AsyncHTTPTransport() if is_loopback(urlsplit(url).hostname or "") else None
    try:
        async with (
            asyncio.timeout(CHECK_PORTAL_SECONDS),
            httpx2.AsyncClient(transport=transport, timeout=steps) as http,
        ):
            return await http.get(url)
    except (TimeoutError, httpx2.TimeoutException):
        return "no answer"
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return fault_of(error) or ("unknown host" if _is_unknown(error) else "nobody")


def _is_unknown(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None


# --- the user's browser --------------------------------------------------------------------------


def _check_browser(setup: Setup, portal: Portal, alone: bool) -> list[Finding]:
    """Nothing to report for a public address. `alone` means that the portal listens on its own."""
    parts = urlsplit(portal.url)
    host = parts.hostname or ""
    if setup.here.near or not is_loopback(host):
        return []
    port = parts.port or _USUAL[parts.scheme]
    if setup.here.container:
        text = "This is a container: its loopback is not the user's."
        return [Finding("browser", "doubtful", text, _advise_in_container(port, alone, portal.local))]
    text = (
        "This server was reached over SSH, so the user's browser may be on another machine, with another loopback."
        if setup.here.ssh
        else "This machine has no display, so the user's browser is on another machine, with another loopback."
    )
    fix = ""
    if alone and portal.any_port:
        port = _SUGGESTED
        fix = f"Give it a fixed port, MIDCALL_PORTAL_PORT={port}. "
    host = f"[{host}]" if ":" in host else host  # as ssh takes it
    advice = (
        f"{fix}Forward its port from the machine with the browser: ssh -L {port}:{host}:{port} HOST, as the user that "
        "the server runs as."
    )
    return [Finding("browser", "doubtful", text, advice)]


def _advise_in_container(port: int, alone: bool, local: bool) -> str:
    if alone:
        return (
            "Publishing a port (-p) does not help: it does not lead to loopback. On the user's own Linux, run it with "
            '--network=host --user "$(id -u)". Otherwise mount the portal in your HTTP app, and set MIDCALL_PORTAL_URL '
            "to the address that users know."
        )
    publish = (
        f"Publish the port of its app under the same number, -p 127.0.0.1:{port}:{port}, and let the app listen on "
        "0.0.0.0 in here."
    )
    outside = (
        " But visitors then come from outside the container, and do not count as its user: for secrets, accounts and "
        "approvals, identify them with Portal(..., identity=...)."
    )
    return f"{publish}{outside if local else ''}"
