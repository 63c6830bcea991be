"""People who are sent to pages: they open an address, sign in if necessary, and press a button."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2

from midcall.client import Asked
from midcall.client.answerer import Waiting
from midcall.core.outcome import Accepted, Declined, Outcome

WITHIN = 30.0


@dataclass
class Sheet:
    """A form of a page: where it goes, what it would post, and the buttons that it has."""

    action: str
    values: dict[str, str] = field(default_factory=dict)
    buttons: dict[str, str] = field(default_factory=dict)
    """From the text that a button sends to the name that it sends it under."""


class _Sheets(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[Sheet] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.found.append(Sheet(given.get("action", "")))
        elif tag == "input" and self.found and given.get("name"):
            self.found[-1].values[given["name"]] = given.get("value", "")
        elif tag == "button" and self.found:
            self.found[-1].buttons[given.get("value", "")] = given.get("name", "")


class Surfer:
    """A browser without JavaScript, and the name that its user signs in with."""

    def __init__(self, http: httpx2.AsyncClient, sub: str) -> None:
        self.http = http
        self.sub = sub
        self.page: httpx2.Response
        self.been: list[str] = []

    async def open(self, url: str) -> httpx2.Response:
        """Go there, and sign in if that is asked for."""
        await self._show(await self.http.get(url))
        return await self.sign_in()

    async def sign_in(self) -> httpx2.Response:
        """Do what an issuer wants, if it is one that has the page."""
        while self.is_at_sign_in:
            await self._sign_in()
        return self.page

    @property
    def is_at_sign_in(self) -> bool:
        where = self.page.url.path
        return where.startswith(("/oauth2/authorize", "/interaction/")) and self.page.status_code == 200

    async def press(self, button: str, **values: str) -> httpx2.Response:
        """Fill in, and press the button that sends this."""
        [sheet, *_] = [each for each in self.sheets if button in each.buttons]
        name = sheet.buttons[button]
        where = urlsplit(str(self.page.url))
        return await self._show(
            await self.http.post(
                urljoin(str(self.page.url), sheet.action),
                data={**sheet.values, **values, **({name: button} if name else {})},
                headers={"origin": f"{where.scheme}://{where.netloc}"},
            )
        )

    @property
    def sheets(self) -> list[Sheet]:
        return _Sheets(self.page.text).found

    async def _sign_in(self) -> None:
        """Either issuer has a form with one button that sends nothing, and asks for little or nothing."""
        sheet = next(each for each in self.sheets if "" in each.buttons)
        names = {"sub", "login", "password"} & set(sheet.values)
        await self.press("", **dict.fromkeys(names, self.sub))

    async def _show(self, answer: httpx2.Response) -> httpx2.Response:
        self.page = answer
        self.been += [str(each.url) for each in (*answer.history, answer)]
        return answer


class Refused(AssertionError):
    """A page that should have come did not."""

    def __init__(self, answer: httpx2.Response) -> None:
        super().__init__(f"{answer.status_code} from {answer.url.path}: {answer.text}")
        self.status = answer.status_code


Act = Callable[[Surfer], Awaitable[None]]


def presses(button: str, **values: str) -> Act:
    """Does this on the page that comes up."""

    async def act(surfer: Surfer) -> None:
        if (answer := await surfer.press(button, **values)).status_code >= 400:
            raise Refused(answer)

    return act


ENTERS = presses("accept", s0="ghp_0123456789")
APPROVES = presses("accept")


async def connects(surfer: Surfer) -> None:
    """Goes on to the toy tracker, and allows it."""
    await APPROVES(surfer)
    if "/tracker/authorize" not in str(surfer.page.url):
        raise Refused(surfer.page)
    await presses("allow")(surfer)


class Person:
    """Agrees to every address, goes there, and does something. An answerer for a client.

    Args:
        act: What they do on the page.
        sub: Who they are.
        ready: They do not begin before this is set.
    """

    modes = ("form", "url")

    def __init__(self, act: Act, *, sub: str = "ada", agrees: bool = True, ready: asyncio.Event | None = None) -> None:
        self.act = act
        self._sub = sub
        self._agrees = agrees
        self._ready = ready
        self.asked: list[str] = []
        self.surfer: Surfer | None = None
        self.visits: list[asyncio.Task[None]] = []

    async def answer(self, asked: Asked) -> Outcome[Any]:
        self.asked.append(asked.message)
        if not self._agrees:
            return Declined()
        self.go(asked.url or "")
        return Accepted(None)

    def go(self, url: str) -> None:
        """Leave for this address in the background."""
        self.visits.append(asyncio.get_running_loop().create_task(self._visit(url)))

    async def done(self) -> None:
        """Everything was done, and nothing went wrong."""
        await asyncio.gather(*self.visits)

    async def _visit(self, url: str) -> None:
        if self._ready is not None:
            await self._ready.wait()
        async with asyncio.timeout(WITHIN), httpx2.AsyncClient(follow_redirects=True, timeout=WITHIN) as http:
            surfer = self.surfer = Surfer(http, self._sub)
            if (answer := await surfer.open(url)).status_code != 200:
                raise Refused(answer)
            await self.act(surfer)


class Attentive(Person):
    """Calls again after finishing the page: nothing else may tell the client."""

    async def wait(self, waiting: Waiting) -> bool:
        await self.done()
        return True
