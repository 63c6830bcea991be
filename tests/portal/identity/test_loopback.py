"""A portal that listens on this machine, and who may open it."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from midcall.errors import InstallError, Misuse
from midcall.portal.identity import Caller, Loopback
from midcall.settings.web import FAILED_OPENS
from midcall.web import peer
from tests.portal.sites import Site, Visitor, site
from tests.web.other_user import ASK, another_user, linux, root


@asynccontextmanager
async def listening(**how: Any) -> AsyncIterator[tuple[Site, Visitor]]:
    at = site(None, identity=None, **how)
    await at.portal.start()
    async with httpx2.AsyncClient(base_url=at.portal.url) as http:
        yield at, Visitor(http, "", at.portal.url)
    await at.portal.close()


def me(at: Site) -> str:
    return at.portal.owner_of(Caller())


async def test_it_listens_on_a_random_port_when_it_is_started_and_stops_when_it_is_closed() -> None:
    async with listening() as (one, _), listening() as (two, _):
        assert urlsplit(one.portal.url).hostname == "127.0.0.1"
        assert one.portal.url != two.portal.url
        before = one.portal.url
        await one.portal.start()
        assert one.portal.url == before
        port = urlsplit(before).port or 0
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), 1):  # noqa: PT011
        pass
    with pytest.raises(Misuse, match="no address before it listens"):
        _ = one.portal.url


async def test_the_user_of_this_machine_is_recognized() -> None:
    async with listening() as (at, visitor):
        id = await at.begin("secret", owner=me(at))
        assert at.portal.why_not("secret", me(at)) is None
        done = await visitor.press(id, "accept", {"s0": "swordfish"})
        assert done.status_code == 200
        assert await at.portal.vault.get(me(at), "github") == {"value": "swordfish"}


async def test_a_caller_with_a_subject_is_not_the_user_of_this_machine() -> None:
    assert Loopback().owner(Caller("https://id.example.com", "ada")) == ""
    async with listening() as (at, _):
        assert at.portal.why_not("secret", "") is not None


@pytest.mark.parametrize("host", ["evil.example:{port}", "localhost:{port}", "127.0.0.1", "127.0.0.1:1"])
async def test_a_rebound_host_is_rejected(host: str) -> None:
    async with listening() as (at, visitor):
        id = await at.begin("approve", owner=me(at))
        port = urlsplit(at.portal.url).port
        answer = await visitor.open(id, headers={"host": host.format(port=port)})
        assert answer.status_code == 421
        assert "ACME" not in answer.text


async def test_a_cross_site_post_is_rejected() -> None:
    async with listening() as (at, visitor):
        id = await at.begin("approve", owner=me(at))
        controls = {**await visitor.controls(id), "do": "accept"}
        for origin in ("https://evil.example", "null", "http://127.0.0.1", "http://localhost:80"):
            assert (await visitor.post(f"/i/{id}", controls, headers={"origin": origin})).status_code == 403
        assert await at.action(id) is None


@pytest.mark.parametrize("header", ["forwarded", "x-forwarded-for", "via"])
async def test_a_proxy_does_not_speak_for_the_user_of_this_machine(header: str) -> None:
    async with listening() as (at, visitor):
        id = await at.begin("approve", owner=me(at))
        assert (await visitor.open(id, headers={header: "1.1 proxy"})).status_code == 403


async def test_a_web_page_cannot_lock_the_user_of_this_machine_out() -> None:
    async with listening() as (at, visitor):
        id = await at.begin("approve", owner=me(at))
        for n in range(FAILED_OPENS + 1):
            last = await visitor.open(f"an-image-of-a-web-page-{n}", headers={"sec-fetch-site": "cross-site"})
        assert last.status_code == 429
        assert (await visitor.press(id, "accept")).status_code == 200


async def test_cookies_are_named_per_instance() -> None:
    names: set[str] = set()
    async with listening() as (one, ada), listening() as (two, bob):
        for at, visitor in ((one, ada), (two, bob)):
            [cookie] = (await visitor.open(await at.begin("form", owner=me(at)))).headers.get_list("set-cookie")
            assert "HttpOnly" in cookie
            assert "SameSite=lax" in cookie
            assert not cookie.startswith("__Host-"), "browsers take those on https only"
            names.add(cookie.partition("=")[0])
    assert len(names) == 2


async def test_its_own_server_logs_no_paths(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with listening() as (at, visitor):
        id = await at.begin("secret", owner=me(at))
        await visitor.press(id, "accept", {"s0": "swordfish"})
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert not [line for line in ours if id in line or "swordfish" in line]


async def test_its_own_server_leaves_the_access_log_of_the_program_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    access, heard = logging.getLogger("uvicorn.access"), logging.NullHandler()
    access.addHandler(heard)
    before = (access.level, access.propagate, [*access.handlers])
    try:
        async with listening() as (at, visitor):
            assert (await visitor.open(await at.begin("form", owner=me(at)))).status_code == 200
            assert (access.level, access.propagate, access.handlers) == before
    finally:
        access.removeHandler(heard)
    assert not [record.getMessage() for record in caplog.records if record.name.startswith("uvicorn")]


LEAVE = """
import encodings.idna, os, socket, sys
from urllib.parse import urlsplit
os.setgroups([]); os.setgid(65534); os.setuid(65534)
there = urlsplit(sys.argv[1])
with socket.create_connection((there.hostname, there.port)) as c:
    c.sendall(f"GET {there.path} HTTP/1.1\\r\\nHost: {there.netloc}\\r\\n\\r\\n".encode())
"""


@linux
@root
@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_another_user_of_this_machine_is_rejected(host: str) -> None:
    async with listening(host=host) as (at, visitor):
        id = await at.begin("approve", owner=me(at))
        open_to_all = await at.begin("form", owner="")
        assert (await visitor.open(id)).status_code == 200
        assert await another_user(ASK, at.portal.address(id), "ACME") == "403 False"
        assert await another_user(ASK, at.portal.address(open_to_all), "ACME") == "403 False"
        assert await another_user(ASK, f"{at.portal.url}/mine", "ACME") == "403 False"


@linux
@root
@pytest.mark.usefixtures("kernel")
async def test_another_user_who_leaves_at_once_is_not_taken_for_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a connection that its program has left, the kernel says that it is root's."""
    seen: list[int | None] = []
    asked = peer.uid_of
    monkeypatch.setattr(peer, "uid_of", lambda *ends: seen.append(asked(*ends)) or seen[-1])
    async with listening() as (at, _):
        id = await at.begin("approve", owner=me(at))
        await another_user(LEAVE, at.portal.address(id))
        async with asyncio.timeout(10):
            while not seen:
                await asyncio.sleep(0.01)
    assert seen[0] in (None, 65534)


@pytest.fixture(params=["asked", "read"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked about the connection; and where it may not be asked, its table is read."""
    if request.param == "read":
        monkeypatch.setattr(peer, "_ask_kernel", lambda request: b"")
    else:
        monkeypatch.setattr(peer, "_TABLES", ())


@linux
@pytest.mark.usefixtures("kernel")
async def test_the_kernel_says_whose_program_is_at_the_other_end() -> None:
    for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with socket.socket(family) as server:
            server.bind((host, 0))
            server.listen()
            with socket.create_connection(server.getsockname()[:2]) as client:
                ends = client.getsockname()[:2], client.getpeername()[:2]
                assert peer.uid_of(*ends) == os.getuid()
            assert peer.uid_of(*ends) is None
    assert peer.uid_of(("127.0.0.1", 1), ("127.0.0.1", 2)) is None


@linux
async def test_a_client_with_an_ipv6_socket_is_found_on_an_ipv4_server() -> None:
    with socket.socket() as server, socket.socket(socket.AF_INET6) as client:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        client.connect(("::ffff:127.0.0.1", port))
        assert peer.uid_of(("127.0.0.1", client.getsockname()[1]), ("127.0.0.1", port)) == os.getuid()


@linux
async def test_a_listener_on_the_port_of_a_gone_client_is_not_taken_for_it() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        assert peer.uid_of(server.getsockname(), ("127.0.0.1", 2)) is None


async def test_if_the_system_does_not_say_the_id_is_the_only_protection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "can_tell", lambda: False)
    monkeypatch.setattr(peer, "uid_of", lambda *ends: 1 / 0)
    async with listening() as (at, visitor):
        assert (await visitor.open(await at.begin("approve", owner=me(at)))).status_code == 200


async def test_it_only_ever_listens_on_loopback() -> None:
    with pytest.raises(InstallError, match="not loopback"):
        site(None, host="0.0.0.0")
    async with listening() as (at, _):
        port = urlsplit(at.portal.url).port or 0
        taken = site(None, identity=None, port=port)
        with pytest.raises(InstallError, match="cannot listen"):
            await taken.portal.start()
