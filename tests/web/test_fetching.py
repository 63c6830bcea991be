"""What an issuer publishes is fetched only within reach, only so much, only for so long, and once at a time."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from midcall.portal import Provider
from midcall.settings.portal import PROVIDER_AGAIN_SECONDS, PROVIDER_BYTES, PROVIDER_FRESH_SECONDS
from midcall.web import fetching
from midcall.web.fetching import Cache, Fence, Reach, Unavailable, fetch
from midcall.web.local_server import LocalServer, bind
from tests.certificates import certificate, page_behind

ELSEWHERE = Reach("https://id.example.com")


@asynccontextmanager
async def serving(answer: Callable[[Request], Awaitable[Response]]) -> AsyncIterator[tuple[int, list[str]]]:
    """A server on this machine: its port, and the hosts that requests have asked for."""
    asked: list[str] = []

    async def noted(request: Request) -> Response:
        asked.append(request.headers["host"])
        return await answer(request)

    where = bind("127.0.0.1", 0)
    server = LocalServer(Starlette(routes=[Route("/{path:path}", noted, methods=["GET", "POST"])]), where)
    try:
        yield where.getsockname()[1], asked
    finally:
        await server.close()


async def fine(request: Request) -> Response:
    return JSONResponse({"fine": True})


# --- where -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/token",
        "http://127.0.0.1:8080/token",
        "http://localhost/token",
        "http://x.localhost/token",
        "https://localhost/token",
        "https://[::1]/token",
        "https://[::ffff:7f00:1]/token",
        "https://169.254.169.254/latest/meta-data",
        "https://10.0.0.1/token",
        "https://[fd00:ec2::254]/",
        "http://id.example.com/token",
        "file:///etc/passwd",
        "gopher://id.example.com/",
        "ftp://id.example.com/",
        "//id.example.com/token",
        "https://user@id.example.com/token",
        "https://id.example.com/to\nken",
        "",
        None,
        ["https://id.example.com/token"],
    ],
)
def test_metadata_cannot_name_an_internal_address_or_anything_but_https(url: object) -> None:
    with pytest.raises(Unavailable, match="token_endpoint"):
        ELSEWHERE.check(url, "token_endpoint")


def test_metadata_can_name_public_hosts_and_where_the_issuer_is() -> None:
    assert ELSEWHERE.check("https://keys.example.net/jwks?v=1", "jwks_uri")
    assert Reach("http://127.0.0.1:9000").check("http://127.0.0.1:9001/token", "token_endpoint")
    assert Reach("https://10.0.0.1").check("https://10.0.0.2/token", "token_endpoint")
    assert Reach("https://id.example.com", ["10.0.0.2"]).check("https://10.0.0.2/token", "token_endpoint")


@pytest.mark.parametrize("host", ["169.254.169.254", "127.0.0.1"])
def test_an_issuer_in_a_private_network_cannot_point_to_this_machine_or_to_the_cloud(host: str) -> None:
    with pytest.raises(Unavailable, match="internal="):
        Reach("https://10.0.0.1").check(f"https://{host}/token", "token_endpoint")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0177.0.0.1"])
async def test_a_name_that_leads_to_this_machine_is_refused_when_we_connect(host: str) -> None:
    """The resolver understands more spellings than we do, so what it says is what counts."""
    async with serving(fine) as (port, asked):
        with pytest.raises(Unavailable, match=r"on this machine|not a valid|InvalidURL"):
            await fetch(f"http://{host}:{port}/", ELSEWHERE)
        async with httpx2.AsyncClient(transport=Fence(ELSEWHERE)) as http:
            with pytest.raises((httpx2.TransportError, httpx2.InvalidURL)):
                await http.post(f"http://{host}:{port}/token", data={"code": "x"})
        assert asked == []


async def test_an_issuer_on_this_machine_can_lead_to_this_machine() -> None:
    async with serving(fine) as (port, asked):
        assert await fetch(f"http://localhost:{port}/", Reach("http://127.0.0.1:1")) == {"fine": True}
        assert await fetch(f"http://127.0.0.1:{port}/", Reach("https://id.example.com", ["127.0.0.1"]))
        assert await fetch(f"http://127.0.0.1:{port}/"), "the operator may name any"
        assert len(asked) == 3


async def test_the_connection_goes_to_the_address_that_was_checked_and_the_certificate_is_for_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a name that changes its address in between gains nothing."""
    asked: list[str] = []

    async def resolve(host: str) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.9.9.9"]

    good, bad = certificate(tmp_path / "good.pem", host="id.test"), certificate(tmp_path / "bad.pem", host="other.test")
    monkeypatch.setattr(fetching, "_resolve", resolve)
    for pem, found in ((good, "not JSON"), (bad, "for another host")):
        asked.clear()
        context = ssl.create_default_context(cafile=str(pem))
        monkeypatch.setattr(fetching, "trust", lambda context=context: context)
        with page_behind(pem) as where:
            with pytest.raises(Unavailable, match=found):
                await fetch(f"https://id.test:{where.partition(':')[2]}/", Reach("https://id.test"))
        assert asked == ["id.test"], "it's resolved once"


async def test_a_private_host_is_refused_for_a_public_issuer_and_fine_for_a_private_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    addresses = {"public.test": ["8.8.8.8"], "private.test": ["10.0.0.1"], "both.test": ["10.0.0.1", "9.9.9.9"]}

    async def resolve(host: str) -> list[str]:
        return addresses[host]

    monkeypatch.setattr(fetching, "_resolve", resolve)
    url = httpx2.URL("https://private.test/token")
    with pytest.raises(httpx2.TransportError, match="private network"):
        await Reach("https://public.test").find(url)
    assert await Reach("https://private.test").find(url) == ["10.0.0.1"]
    assert await Reach("https://both.test").find(url) == ["10.0.0.1"]
    assert await Reach("https://public.test", ["private.test"]).find(url) == ["10.0.0.1"]
    assert await Reach("https://public.test").find(httpx2.URL("https://both.test/")) == ["9.9.9.9"]


async def test_a_public_issuer_opens_no_private_network_by_what_its_own_dns_says_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It answered from a public address: it is there, even if its name leads elsewhere now."""

    async def resolve(host: str) -> list[str]:
        return ["10.0.0.1"]

    monkeypatch.setattr(fetching, "_resolve", resolve)
    reach, inside = Reach("https://id.test"), httpx2.URL("https://inside.test/")
    assert await reach.find(inside) == ["10.0.0.1"]
    reach.note(httpx2.URL("https://elsewhere.test/"), "10.0.0.1")
    reach.note(httpx2.URL("https://id.test/.well-known/openid-configuration"), "9.9.9.9")
    with pytest.raises(httpx2.TransportError, match="private network"):
        await reach.find(inside)


async def test_where_an_issuer_is_counts_from_its_first_answer() -> None:
    async with serving(fine) as (port, _):
        reach = Reach(f"http://127.0.0.1:{port}")
        assert await fetch(f"http://127.0.0.1:{port}/", reach) == {"fine": True}
    assert reach.seen == {"this machine"}


def test_a_provider_remembers_where_it_was() -> None:
    provider = Provider.discover("acme", issuer="https://id.test", client_id="client")
    provider.reach.note(httpx2.URL("https://id.test/"), "9.9.9.9")
    assert provider.reach.seen == {"public"}
    assert Provider.discover("acme", issuer="https://id.test", client_id="client") == provider


async def test_a_redirect_is_not_followed() -> None:
    async with serving(fine) as (inner, asked):

        async def away(request: Request) -> Response:
            return RedirectResponse(f"http://127.0.0.1:{inner}/secret", 302)

        async with serving(away) as (outer, _):
            with pytest.raises(Unavailable, match="302"):
                await fetch(f"http://127.0.0.1:{outer}/", Reach("http://127.0.0.1"))
        assert asked == []


async def test_a_host_that_does_not_exist_is_reported() -> None:
    with pytest.raises(Unavailable, match="ConnectError"):
        await fetch("https://nowhere.invalid/", ELSEWHERE)
    assert not socket.has_dualstack_ipv6() or await fetching._resolve("localhost")


# --- how much --------------------------------------------------------------------------------


@pytest.mark.parametrize("announced", [True, False])
async def test_a_body_that_is_too_long_is_refused(announced: bool) -> None:
    async def long(request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            for _ in range(40):
                yield b" " * 50_000
            yield b"{}"

        return Response(b" " * (PROVIDER_BYTES - 1) + b"{}") if announced else StreamingResponse(body())

    async with serving(long) as (port, _):
        with pytest.raises(Unavailable, match="more than 1,000,000 bytes"):
            await fetch(f"http://127.0.0.1:{port}/")


async def test_a_compressed_body_is_refused() -> None:
    async def bomb(request: Request) -> Response:
        assert request.headers["accept-encoding"] == "identity"
        return Response(gzip.compress(b" " * 10_000_000 + b"{}"), headers={"content-encoding": "gzip"})

    async with serving(bomb) as (port, _):
        with pytest.raises(Unavailable, match="compressed"):
            await fetch(f"http://127.0.0.1:{port}/")


async def test_a_body_that_drips_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes within the timeout of a single read."""
    monkeypatch.setattr(fetching, "PROVIDER_TIMEOUT_SECONDS", 0.5)
    done = asyncio.Event()

    async def drip(request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            while not done.is_set():
                yield b" "
                try:
                    await asyncio.wait_for(done.wait(), 0.02)
                except TimeoutError:
                    continue

        return StreamingResponse(body())

    async with serving(drip) as (port, _):
        with pytest.raises(Unavailable, match="TimeoutError"):
            async with asyncio.timeout(30):
                await fetch(f"http://127.0.0.1:{port}/")
        done.set()


@pytest.mark.parametrize("body", [b"[" * 200_000, b"\xff\xfe", b"[]", b"1", b"", b"NaN", b'{"a":'], ids=range(7))
async def test_a_body_that_is_not_a_json_object_is_refused(body: bytes) -> None:
    async def answer(request: Request) -> Response:
        return Response(body)

    async with serving(answer) as (port, _):
        with pytest.raises(Unavailable, match="not"):
            await fetch(f"http://127.0.0.1:{port}/")


# --- how often -------------------------------------------------------------------------------


class Source:
    """Counts how often it's asked, and answers when it's told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.answer: asyncio.Future[int] | None = None
        self.begun = asyncio.Event()
        self.now = 1000.0

    async def load(self) -> int:
        self.asked += 1
        self.answer = asyncio.get_running_loop().create_future()
        self.begun.set()
        return await self.answer

    def fails(self) -> None:
        assert self.answer is not None
        self.answer.set_exception(Unavailable("down"))


async def test_of_many_that_ask_at_once_one_fetches_and_nobody_who_leaves_ends_it() -> None:
    source = Source()
    kept = Cache(source.load, lambda: source.now)
    tasks = [asyncio.create_task(kept.get()) for _ in range(50)]
    await source.begun.wait()
    for task in tasks[:25]:
        task.cancel()
    await asyncio.wait(tasks[:25])
    assert source.answer is not None
    source.answer.set_result(7)
    assert await asyncio.gather(*tasks[25:]) == [7] * 25
    assert await kept.get() == 7
    assert source.asked == 1


async def test_a_failure_is_not_retried_before_its_time() -> None:
    source = Source()
    kept = Cache(source.load, lambda: source.now)
    first = asyncio.create_task(kept.get())
    await source.begun.wait()
    source.fails()
    with pytest.raises(Unavailable):
        await first
    for _ in range(100):
        with pytest.raises(Unavailable, match="down"):
            await kept.get()
    assert source.asked == 1
    source.now += PROVIDER_AGAIN_SECONDS
    source.begun.clear()
    again = asyncio.create_task(kept.get())
    await source.begun.wait()
    assert source.answer is not None
    source.answer.set_result(8)
    assert await again == 8
    assert source.asked == 2


async def test_what_was_fetched_is_kept_for_a_while() -> None:
    loaded: list[float] = []
    now = time.monotonic()

    async def load() -> int:
        loaded.append(now)
        return len(loaded)

    kept = Cache(load, lambda: now)
    assert [await kept.get(), await kept.get(PROVIDER_AGAIN_SECONDS)] == [1, 1]
    now += PROVIDER_AGAIN_SECONDS + 1
    assert [await kept.get(), await kept.get(PROVIDER_AGAIN_SECONDS), await kept.get(PROVIDER_AGAIN_SECONDS)] == [
        1,
        2,
        2,
    ]
    now += PROVIDER_FRESH_SECONDS + 1
    assert await kept.get() == 3
