"""A hostile web page, another user, or anyone who reaches the port: requests to the portal and the browser answerer.

In a request, `$ID`, `$TOKEN`, `$DIGEST`, `$COOKIE` and `$BASE` stand for what a page of this browser has: so a request
can be all right but for one thing.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final
from urllib.parse import urlencode

from midcall.client.browser.board import Board
from midcall.client.browser.gate import Gate
from midcall.client.browser.presence import Presence
from midcall.client.browser.site import site as browser_site
from midcall.client.browser.views import Views
from midcall.client.pending import Pending
from midcall.web.local_server import LocalServer, bind
from midcall.web.public_url import local_place
from tests.client.browsing import a_visit, trip
from tests.fuzz.fuzzer import CANARY, REJECTED, Finding, Take, Target, check_output
from tests.fuzz.mutation import mutate_bytes, mutate_text
from tests.fuzz.wire import connection, request
from tests.portal.sites import ADA, BOB, HOME, controls_of, site

KINDS: Final = ("secret", "approve", "form")
FILLED: Final = {"f0": "Ada Lovelace", "f1": "4", "f2": "w", "s0": "swordfish-and-more", "digest": "$DIGEST"}

NOBODY: Final = (("203.0.113.5", 50000), ("192.0.2.1", 443))
"""From elsewhere: this portal recognizes its users by how they signed in."""

Requested = tuple[str, str, list[tuple[str, str]], bytes]
"""Method, path, headers, body."""


def _make_request(random: Random, path: str, paths: tuple[str, ...], fields: dict[str, str], origin: str) -> Requested:
    """A request that the page itself would send, but for a few things."""
    method = "POST" if random.randrange(4) else random.choice(("GET", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "\0"))
    if not random.randrange(4):
        path = mutate_text(random, random.choice((path, *paths)))
    values = {"token": "$TOKEN", "do": random.choice(("accept", "accept", "send", "decline", "cancel", "x")), **fields}
    for name in random.sample(list(values), random.choice((0, 0, 1, 1, 2))):
        values[name] = mutate_text(random, values[name])
    headers = [
        ("host", origin.partition("//")[2]),
        ("origin", origin),
        ("content-type", "application/x-www-form-urlencoded"),
        ("cookie", "$COOKIE"),
        ("x-test-user", ADA),
    ]
    for _ in range(random.choice((0, 0, 1, 2))):
        at = random.randrange(len(headers))
        name, value = headers[at]
        match random.randrange(4):
            case 0:
                headers[at] = (name, mutate_text(random, value))
            case 1:
                headers.insert(at, (name, random.choice(("", "null", "https://evil.example", BOB, "*"))))
            case 2:
                headers[at] = (
                    "content-type",
                    random.choice(("multipart/form-data; boundary=x", "application/json", "")),
                )
            case _:
                headers.append(
                    (random.choice(("sec-fetch-site", "x-forwarded-for", "forwarded", "range")), "cross-site")
                )
    body = urlencode(values, errors="replace").encode()
    if not random.randrange(6):
        body = mutate_bytes(random, body)
    if not random.randrange(20):
        parts = "".join(f'--x\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n' for n, v in values.items())
        body = f"{parts}--x--".encode("utf-8", "replace")
    return method, path, headers, body


# --- the portal --------------------------------------------------------------------------------

PORTAL_PATHS: Final = (
    "/midcall/mine",
    "/midcall/callback/acme?state=a&code=b",
    "/midcall/health",
    "/midcall/static/style.css",
)


def _make_portal_request(random: Random) -> tuple[str, Requested]:
    return random.choice(KINDS), _make_request(random, "/midcall/i/$ID", PORTAL_PATHS, FILLED, HOME)


@asynccontextmanager
async def _open_portal() -> AsyncIterator[Take]:
    at = site(clock=_Clock())
    await at.portal.vault.keep(ADA, "earlier", {"value": CANARY}, now=0.0)
    pages: dict[str, dict[str, str]] = {}

    async def opened(kind: str) -> dict[str, str]:
        """A page of this kind that Ada has open."""
        if kind not in pages:
            id = await at.begin(kind, lasts=1e9)  # pyright: ignore[reportArgumentType]
            headers = [("host", HOME.partition("//")[2]), ("x-test-user", ADA)]
            status, answered, text = await request(at.app, "GET", f"/midcall/i/{id}", headers, b"", NOBODY)
            if status != 200:
                raise Finding(f"the page of a new {kind} can't be opened: {status}")
            cookie = answered["set-cookie"].partition(";")[0]
            hidden = dict(controls_of(text))
            pages[kind] = {"$ID": id, "$TOKEN": hidden["token"], "$DIGEST": hidden["digest"], "$COOKIE": cookie}
        return pages[kind]

    async def take(made: tuple[str, Requested]) -> str:
        kind, asked = made
        page = await opened(kind)
        method, path, headers, body = _fill_in(asked, page)
        status, answered, _ = await request(at.app, method, path, headers, body, NOBODY)
        if re.fullmatch("/midcall/.*", path):  # the rest is the app's around it
            _check_response(status, answered)
        action = await at.action(page["$ID"])
        if action is None:
            return _label(status)
        del pages[kind]
        if not _is_right(method, headers, body, page, HOME):
            raise Finding(f"a request that the page didn't send has {action}ed it")
        return action

    yield take


class _Clock:
    """Minutes pass between requests: nobody is locked out for bad ones."""

    def __init__(self) -> None:
        self._now = time.time()

    def __call__(self) -> float:
        self._now += 120
        return self._now


def _label(status: int) -> str:
    return {200: "shown", 422: "invalid"}.get(status, REJECTED)


def _fill_in(asked: Requested, known: dict[str, str]) -> Requested:
    """The request with the placeholders replaced."""
    method, path, headers, body = asked
    named = list(headers)
    for name, value in known.items():
        path = path.replace(name, value)
        named = [(header, text.replace(name, value)) for header, text in named]
        body = body.replace(name.replace("$", "%24").encode(), value.encode()).replace(name.encode(), value.encode())
    return method, path, named, body


def _check_response(status: int, answered: dict[str, str]) -> None:
    if status >= 500 or status < 200:
        raise Finding(f"status {status}")
    for name in ("content-security-policy", "x-content-type-options", "cache-control"):
        if name not in answered:
            raise Finding(f"status {status} without {name}")


def _is_right(
    method: str, headers: list[tuple[str, str]], body: bytes, page: dict[str, str], origin: str, user: str = ADA
) -> bool:
    """Whether this may be what the page sends: from its origin and its browser, with its token, by its user."""
    given: dict[str, list[str]] = {}
    for name, value in headers:
        given.setdefault(name, []).append(value)
    return (
        method == "POST"
        and origin in map(str.lower, given.get("origin", []))  # names have no case
        and any(page["$COOKIE"] in cookie for cookie in given.get("cookie", []))
        and page["$TOKEN"].encode() in body
        and (not user or user in given.get("x-test-user", []))
        and "cross-site" not in given.get("sec-fetch-site", [])
    )


# --- the browser answerer ----------------------------------------------------------------------

HERE: Final = "http://127.0.0.1:8000"
BROWSER_PATHS: Final = ("$BASE/", "$BASE/?q=$ID", "$BASE/open/x", "$BASE/events", "$BASE/static/page.js", "/")
ANSWER: Final = {"f0": "Ada", "f1": "ada@example.com", "f2": "", "f3": "4", "f4": "0", "f5": "1", "f6": "yes", "to": ""}


def _make_browser_request(random: Random) -> tuple[str, Requested]:
    return random.choice(("form", "visit")), _make_request(random, "$BASE/q/$ID", BROWSER_PATHS, ANSWER, HERE)


@asynccontextmanager
async def _open_browser() -> AsyncIterator[Take]:
    board, gate, views = Board(Pending()), Gate(local_place("127.0.0.1", 8000)), Views(None)
    presence = Presence(1e6, lambda: board.ids, lambda ids: None)
    app = browser_site(board, gate, presence, views, lambda why: None)
    cookie = (gate.admit(gate.address().rpartition("/")[2]) or "").partition(";")[0]
    asking: dict[str, asyncio.Task[Any]] = {}
    count = 0

    async def take(made: tuple[str, Requested]) -> str:
        nonlocal count
        kind, asked = made
        if kind not in asking:
            count += 1
            question = trip(id=f"{kind}{count}") if kind == "form" else a_visit(id=f"{kind}{count}")
            asking[kind] = asyncio.create_task(board.ask(question), name=question.id)
            await asyncio.sleep(0)
        id = asking[kind].get_name()
        page = {"$ID": id, "$TOKEN": gate.token(id, 0), "$COOKIE": cookie, "$BASE": gate.base}
        method, path, headers, body = _fill_in(asked, page)
        status, answered, _ = await request(app, method, path, headers, body, ends)
        _check_response(status, answered)
        for _ in range(3):
            await asyncio.sleep(0)
        if not asking[kind].done():
            return "kept" if status == 303 else _label(status)
        outcome = asking.pop(kind).result()
        if not _is_right(method, headers, body, page, HERE, user=""):
            raise Finding(f"a request that the page didn't send came to {outcome}")
        return type(outcome).__name__

    try:
        with connection() as ends:
            yield take
    finally:
        board.close()
        presence.close()
        if asking:
            await asyncio.wait(asking.values())


# --- over a socket -----------------------------------------------------------------------------


def _make_bytes(random: Random) -> bytes:
    """A whole request, as bytes."""
    method, path, headers, body = _make_request(random, "/midcall/i/abcdefghijklmnopqrstuv", PORTAL_PATHS, FILLED, HERE)
    if not random.randrange(8):
        headers.append(("transfer-encoding", "chunked"))
    headers.append(("content-length", str(len(body)) if random.randrange(6) else mutate_text(random, str(len(body)))))
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n"
    data = head.encode("utf-8", "replace") + body
    return mutate_bytes(random, data) if random.randrange(2) else data


@asynccontextmanager
async def _open_socket() -> AsyncIterator[Take]:
    at = site("http://127.0.0.1:8000/midcall", clock=_Clock())
    await at.portal.vault.keep(ADA, "earlier", {"value": CANARY}, now=0.0)
    where = bind("127.0.0.1", 0)
    port = where.getsockname()[1]
    serving = LocalServer(at.app, where)

    async def take(data: bytes) -> str:
        read, write = await asyncio.open_connection("127.0.0.1", port)
        try:
            write.write(data)
            await write.drain()
            write.write_eof()
            answered = (await read.read()).decode("latin-1")
        except ConnectionError:
            return REJECTED
        finally:
            write.close()
        check_output(answered)
        status = answered[9:12]
        if status.startswith("5"):
            raise Finding(answered[:1000])
        return REJECTED if status in ("400", "") else f"status {status}"

    try:
        yield take
    finally:
        await serving.close()


TARGETS: Final = (
    Target(
        "portal",
        _make_portal_request,
        _open_portal,
        short=500,
        share=80,
        must=("accept", "decline", "cancel", "invalid"),
    ),
    Target(
        "browser",
        _make_browser_request,
        _open_browser,
        short=500,
        share=80,
        must=("Accepted", "Declined", "Cancelled"),
    ),
    Target("socket", _make_bytes, _open_socket, short=300, share=40, must=("status 200", "status 404")),
)
