"""Pages from templates, an author's before ours. Everything in them is escaped."""

from __future__ import annotations

import hashlib
import secrets
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup
from starlette.responses import HTMLResponse, RedirectResponse

from midcall.errors import InstallError
from midcall.language import _
from midcall.portal.pages.notices import heading_and_hint
from midcall.settings.portal import CACHED_PAGE_CHARACTERS, MAX_CACHED_PAGES
from midcall.web.forms import Pages, excerpt, stylesheet
from midcall.web.security import HEADERS

_HERE: Final = Path(__file__).parent
_POLICY: Final = "content-security-policy"


class Renderer:
    """Renders the pages of one portal.

    Args:
        path: The portal's path, below which its pages are.
        server: The server's name.
        title: The title of every page; by default, the server's name.
        overrides: A directory whose templates replace ours.
    """

    def __init__(self, path: str, server: str, title: str | None = None, overrides: Path | None = None) -> None:
        self.templates = load_templates(overrides)
        self._path = path
        self._server = excerpt.line(server, 80)
        self._title = excerpt.line(title or "", 80)

    def page(
        self, template: str, status: int = 200, *, headers: Mapping[str, str] | None = None, who: str = "", **more: Any
    ) -> HTMLResponse:
        """A response with this template. `who` is the name of the user who is signed in."""
        return HTMLResponse(self.html(template, who=who, **more), status, headers)

    def lead(self, path: str) -> RedirectResponse:
        """A response that sends the browser to another of our pages."""
        return RedirectResponse(f"{self._path}{path}", 303)

    def html(self, template: str, *, who: str = "", **more: Any) -> str:
        server = self._server or _("An unnamed server")
        always: dict[str, Any] = {
            "base": self._path,
            "brand": self._title or server,
            "server": server,
            "who": excerpt.line(who, 120),
            "script": Markup(script()),
        }
        return self.templates.page(template, **{**always, **more})

    def notice(self, what: str, status: int, *, again: str = "", **more: Any) -> HTMLResponse:
        """A page that says one thing, and what to do next. `again` is a path to try again."""
        heading, hint = heading_and_hint(what)
        return self.say(heading, hint, status, again=again, **more)

    def say(self, heading: str, hint: str, status: int, **more: Any) -> HTMLResponse:
        """A page with this text. `again` is a path for a button, and `refresh` one that it opens automatically."""
        usual: dict[str, Any] = {"again": "", "again_text": "", "switch": "", "tone": "plain", "refresh": ""}
        given: dict[str, Any] = {**usual, "heading": heading, "hint": hint, **more}
        return self.page("notice.html", status, **given)


def load_templates(overrides: Path | None) -> Pages:
    """Our templates, after those of this directory.

    Raises:
        InstallError: The directory doesn't exist.
    """
    if overrides is not None and not overrides.is_dir():
        raise InstallError(f"templates={str(overrides)!r} is not a directory.")
    return Pages(_HERE / "templates", overrides=overrides)


class PageCache:
    """The last pages, without their tokens, which are new each time: an interaction never changes."""

    def __init__(self, size: int = MAX_CACHED_PAGES) -> None:
        self._size = size
        self._pages: OrderedDict[Hashable, str] = OrderedDict()
        self._blank = secrets.token_hex(16)  # what nobody can write into a page

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, key: Hashable, token: str, render: Callable[[str], str]) -> str:
        """The page of this key with this token; `render` makes it with a token that it is given."""
        page = self._pages.get(key)
        if page is None:
            page = render(self._blank)
            if len(page) <= CACHED_PAGE_CHARACTERS:
                self._pages[key] = page
            while len(self._pages) > self._size:
                self._pages.popitem(last=False)
        return page.replace(self._blank, token)


def format_moment(at: float) -> str:
    """A time, in UTC: a page does not know the reader's time zone."""
    then = datetime.fromtimestamp(at, UTC)
    return f"{then.day} {then:%B %Y, %H:%M}"


def format_hour(at: float, now: float) -> str:
    """The same, without the date if it is near."""
    return f"{datetime.fromtimestamp(at, UTC):%H:%M}" if at - now < 12 * 3600 else format_moment(at)


@cache
def style() -> str:
    return stylesheet() + (_HERE / "static/portal.css").read_text("utf-8")


@cache
def icon() -> str:
    return (_HERE / "static/icon.svg").read_text("utf-8")


@cache
def script() -> str:
    """The only script of our pages: it notices a page that was behind another window until just now."""
    return (_HERE / "static/guard.js").read_text("utf-8")


def allow_script(headers: Mapping[str, str]) -> dict[str, str]:
    """These headers, or the usual ones, for a page with our script. No other script runs on it."""
    policy = headers.get(_POLICY, HEADERS[_POLICY])
    digest = b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return {**headers, _POLICY: f"{policy}; script-src 'sha256-{digest}'"}
