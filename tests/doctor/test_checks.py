"""The doctor: what an installation has, and what is missing."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse

from midcall.doctor.checks import run_checks
from midcall.doctor.checks.channels import check_channels
from midcall.doctor.checks.identity import describe_identity
from midcall.doctor.checks.options import check_runs
from midcall.doctor.checks.portal import _name_callbacks
from midcall.doctor.inspection import Finding, Report, Setup, Surroundings
from midcall.portal.app import Portal
from midcall.portal.identity import Oidc, ProxyJwt
from midcall.portal.oauth import Provider
from midcall.server.channels.table import CHANNELS
from midcall.server.install import install
from midcall.server.installation import Installation, installation_on, installations
from midcall.stores.memory import Memory
from midcall.stores.redis import Redis
from midcall.stores.sqlite import SQLite
from midcall.web.local_server import LocalServer, bind
from tests.kinds import KINDS, Kind, server_with
from tests.portal.identity.issuers import issuing

KEYS = ["k key of the tests: 0123456789abcdef"]
AT_HOME = Surroundings()


def installed(kind: Kind = "mcpserver", **options: Any) -> tuple[Any, Installation]:
    server = server_with(kind=kind, name="travel", **options)
    installation = installation_on(server)
    assert installation is not None
    return server, installation  # the server is kept, since it alone keeps the installation


async def look(where: Surroundings = AT_HOME, **options: Any) -> Report:
    _server, installation = installed(**options)
    try:
        return await run_checks(installation, where)
    finally:
        installations.discard(installation)  # `complete` in later tests would ask its store, too
        await installation.close()


def by_name(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


@pytest.mark.parametrize("kind", KINDS)
async def test_every_channel_is_reported_in_the_order_in_which_they_are_tried(kind: Kind) -> None:
    report = await look(kind=kind)
    assert [finding.name for finding in report.channels] == [channel.via for channel in CHANNELS]
    assert report.server == "travel"
    assert {f.name for f in report.channels if f.state == "off"} == {"page", "required", "app", "link", "relay"}


async def test_what_is_missing_comes_with_how_to_get_it() -> None:
    report = await look()
    found = by_name((*report.channels, *report.installation))
    assert "portal=Portal()" in found["portal"].advice
    assert "store='sqlite://'" in found["app"].advice
    assert "relay=True, store=..." in found["relay"].advice
    assert "MIDCALL_KEYS" in found["keys"].advice
    assert "portal=Portal()" in found["doubt"].advice


async def test_with_everything_installed_every_channel_is_there() -> None:
    report = await look(keys=KEYS, store=Memory(), portal=Portal(), relay=True, doubt=0.25, probe=True)
    assert {finding.state for finding in report.channels} == {"ok"}
    found = by_name(report.installation)
    assert {name: finding.state for name, finding in found.items()} == {
        "keys": "ok",
        "store": "doubtful",
        "quota": "ok",
        "vault": "ok",
        "runs": "ok",
        "portal": "ok",
        "identity": "ok",
        "pages": "off",  # the suite turns it off
        "doubt": "ok",
        "probe": "ok",
    }


async def test_the_redirect_uri_of_each_provider_is_told() -> None:
    crm = Provider.discover("crm", issuer="https://id.crm", client_id="x")
    providers = [Provider.github("id", "hush-of-github"), crm]
    portal = Portal("https://mcp.example.com/midcall", providers=providers)
    _server, _installation = installed(keys=KEYS, store=Memory(), portal=portal)
    [found] = _name_callbacks(portal)
    assert "github: https://mcp.example.com/midcall/callback/github; crm: " in found.text
    assert "hush" not in found.text
    assert _name_callbacks(Portal()) == []


async def test_checking_channels_opens_no_store(tmp_path: Path) -> None:
    _server, installation = installed(keys=KEYS, store=SQLite(tmp_path / "x.db"), portal=Portal(port=1))
    await check_channels(Setup(installation))
    assert os.listdir(tmp_path) == []


async def test_keys_are_shared_or_this_processs_own() -> None:
    assert by_name((await look()).installation)["keys"].state == "doubtful"
    assert by_name((await look(keys=KEYS)).installation)["keys"].state == "ok"


# --- runs --------------------------------------------------------------------------------------


async def runs(**options: Any) -> Finding:
    _server, installation = installed(**options)
    [found] = await check_runs(Setup(installation))
    return found


async def test_a_server_whose_calls_stay_in_memory_says_so_and_why() -> None:
    alone = await runs()
    assert (alone.state, alone.advice) == ("ok", "")
    assert "run once" in alone.text
    assert "Only this process" in alone.text
    replicas = await runs(keys=KEYS, store=Redis("redis://localhost"))
    assert (replicas.state, replicas.advice) == ("ok", "")
    assert "share a store" in replicas.text


async def test_replicas_with_shared_keys_and_no_store_are_told_that_a_state_can_be_continued_twice() -> None:
    found = await runs(keys=KEYS)
    assert found.state == "doubtful"
    assert "replayed" in found.text
    assert "no store" in found.text
    assert "two replicas can each continue the same state" in found.advice
    assert "store='postgresql://...'" in found.advice
    assert "live=True" in found.advice
    assert "once()" in found.advice


async def test_live_runs_that_were_switched_on_or_off_say_so() -> None:
    off = await runs(live=False)
    assert (off.state, "live=False" in off.text, "once()" in off.advice) == ("off", True, True)
    on = await runs(keys=KEYS, live=True)
    assert (on.state, "live=True" in on.text) == ("ok", True)
    assert "the same state" in on.advice


# --- the store ---------------------------------------------------------------------------------


async def test_a_store_that_answers_is_reported_with_its_place(tmp_path: Path) -> None:
    found = by_name((await look(store=SQLite(tmp_path / "here.db"))).installation)["store"]
    assert found.state == "ok"
    assert "here.db" in found.text


async def test_an_unreachable_store_is_broken_and_its_password_is_hidden() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens there
        url = f"redis://ada:hush-hush@127.0.0.1:{taken.getsockname()[1]}/0"
        report = await look(store=Redis(url))
    assert by_name(report.installation)["store"].state == "broken"
    assert report.broken
    assert "hush-hush" not in json.dumps(report.as_data())


# --- the portal --------------------------------------------------------------------------------


async def test_a_portal_of_its_own_is_started_and_asked() -> None:
    found = by_name((await look(keys=KEYS, store=Memory(), portal=Portal())).installation)
    assert found["portal"].state == "ok"
    assert "http://127.0.0.1:" in found["portal"].text
    assert "browser" not in found


@pytest.mark.parametrize(
    ("where", "told"),
    [
        (Surroundings(container=True), "container"),
        (Surroundings(ssh=True), "SSH"),
        (Surroundings(display=False), "no display"),
    ],
)
async def test_a_browser_that_may_not_get_to_loopback_is_called_out(where: Surroundings, told: str) -> None:
    found = by_name((await look(where, keys=KEYS, store=Memory(), portal=Portal())).installation)
    assert found["browser"].state == "doubtful"
    assert told in found["browser"].text


async def test_a_port_in_use_is_reported() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        portal = Portal(port=taken.getsockname()[1])
        report = await look(keys=KEYS, store=Memory(), portal=portal)
    assert by_name(report.installation)["portal"].state == "broken"


@asynccontextmanager
async def answering(status: int) -> AsyncGenerator[str]:
    """An app that is not the portal, at the portal's address."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await PlainTextResponse("?", status)(scope, receive, send)

    where = bind("127.0.0.1", 0)
    listening = LocalServer(app, where)
    try:
        yield f"http://127.0.0.1:{where.getsockname()[1]}/midcall"
    finally:
        await listening.close()


@pytest.mark.parametrize(
    ("status", "state", "told"),
    [
        (404, "broken", "Something else answers"),
        (503, "broken", "its store is away"),
        (200, "doubtful", "not as a portal does"),
    ],
)
async def test_another_server_at_its_address_is_reported(status: int, state: str, told: str) -> None:
    async with answering(status) as url:
        found = by_name((await look(keys=KEYS, store=Memory(), portal=Portal(url))).installation)["portal"]
    assert (found.state, told in found.text) == (state, True)


@pytest.mark.parametrize("status", [302, 401, 403])
async def test_a_proxy_that_vouches_for_users_lets_nobody_else_through(status: int) -> None:
    keys = {"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}
    identity = ProxyJwt("x-assertion", issuer="https://id.example.com", audience="portal", keys=keys)
    async with answering(status) as url:
        portal = Portal(url, identity=identity)
        found = by_name((await look(keys=KEYS, store=Memory(), portal=portal)).installation)["portal"]
    assert (found.state, "The proxy in front" in found.text) == ("doubtful", True)


async def test_an_address_where_nothing_answers_may_be_right() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/midcall"
        report = await look(keys=KEYS, store=Memory(), portal=Portal(url))
    found = by_name(report.installation)["portal"]
    assert (found.state, report.broken) == ("doubtful", False)
    assert "not running now" in found.advice


async def test_a_mounted_portal_answers() -> None:
    where = bind("127.0.0.1", 0)
    portal = Portal(f"http://127.0.0.1:{where.getsockname()[1]}/midcall")
    app = Starlette()
    app.mount("/midcall", portal)
    listening = LocalServer(app, where)
    try:
        found = by_name((await look(keys=KEYS, store=Memory(), portal=portal)).installation)["portal"]
    finally:
        await listening.close()
    assert found.text == f"{portal.url} answers."


def identity_of(installation: Installation) -> Finding:
    """Without asking the issuer."""
    site = Setup(installation)
    assert site.portal is not None
    return describe_identity(site, site.portal)


def test_a_portal_that_knows_nobody_says_what_it_cannot_serve() -> None:
    _server, installation = installed(keys=KEYS, store=Memory(), portal=Portal("https://mcp.example.com/midcall"))
    found = identity_of(installation)
    assert found.state == "doubtful"
    assert "plain forms, but no secrets" in found.text


MOUNTED = "https://mcp.example.com/midcall"


@pytest.mark.parametrize(
    ("how", "state"),
    [
        ({}, "doubtful"),
        ({"principal": lambda ctx: "https://id.example.com ada"}, "ok"),
        ({"identity": None}, "doubtful"),
        ({"at": None, "identity": None}, "ok"),
    ],
)
def test_a_sign_in_is_of_no_use_where_nobody_knows_who_calls(how: dict[str, Any], state: str) -> None:
    how = dict(how)
    identity = how.pop("identity", Oidc("https://id.example.com", "portal"))
    portal = Portal(how.pop("at", MOUNTED), identity=identity)
    _server, installation = installed(keys=KEYS, store=Memory(), portal=portal, **how)
    assert identity_of(installation).state == state


def test_a_server_with_authorization_knows_who_calls() -> None:
    class Tokens:
        async def verify_token(self, token: str) -> None: ...

    auth = AuthSettings(
        issuer_url=AnyHttpUrl("https://id.example.com"),
        resource_server_url=AnyHttpUrl("https://mcp.example.com/mcp"),
        validate_token_resource=False,
    )
    portal = Portal(MOUNTED, identity=Oidc("https://id.example.com", "portal"))
    for where, state in ((portal, "ok"), (Portal(), "doubtful")):
        server = MCPServer("travel", auth=auth, token_verifier=Tokens())
        installation = install(server, keys=KEYS, store=Memory(), portal=where)
        assert identity_of(installation).state == state


async def test_an_issuer_that_does_not_answer_or_has_another_name_is_reported() -> None:
    async with issuing() as issuer:
        for url, broken in ((issuer.url, False), (f"{issuer.url}/", True), ("http://127.0.0.1:9", True)):
            portal = Portal("http://127.0.0.1:9/midcall", identity=Oidc(url, "portal"))
            found = by_name((await look(keys=KEYS, store=Memory(), portal=portal)).installation)["identity"]
            assert (found.state == "broken") is broken
            assert ("issuer" in found.text) is broken


async def test_an_unknown_midcall_variable_is_called_out() -> None:
    here = Surroundings.here({"MIDCALL_KEY": "hush", "MIDCALL_STORE": "x", "midcall_portal_url": "x", "PATH": "/"})
    found = by_name((await look(here)).installation)["settings"]
    assert found.state == "doubtful"
    assert "MIDCALL_KEY (meant MIDCALL_KEYS?), midcall_portal_url (meant MIDCALL_PORTAL_URL?)" in found.text
    assert "hush" not in found.text
    assert "settings" not in by_name((await look()).installation)


# --- surroundings ------------------------------------------------------------------------------


def test_surroundings_are_detected_from_the_environment(tmp_path: Path) -> None:
    assert Surroundings.here({"SSH_CONNECTION": "x", "DISPLAY": ":0"}, tmp_path).ssh
    assert Surroundings.here({"KUBERNETES_SERVICE_HOST": "x"}, tmp_path).container
    assert Surroundings.here({"container": "podman"}, tmp_path).container
    assert not Surroundings.here({"DISPLAY": ":0"}, tmp_path).container
    (tmp_path / ".dockerenv").touch()
    assert Surroundings.here({}, tmp_path).container


async def test_a_report_is_plain_data() -> None:
    report = await look()
    assert json.loads(json.dumps(report.as_data()))["channels"][0]["name"] == "round"
    assert [each for findings in report.sections().values() for each in findings] == [
        *report.channels,
        *report.installation,
    ]


def test_only_servers_with_midcall_have_an_installation() -> None:
    from tests.kinds import bare_server

    assert installation_on(bare_server("mcpserver")) is None
    assert installation_on("no server") is None
