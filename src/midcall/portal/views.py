"""What the pages look like: templates, an author's before ours, and nothing in them that is not escaped."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from starlette.responses import HTMLResponse

from midcall.errors import InstallError
from midcall.web.forms import Pages, shown, stylesheet
from midcall.wording.portal import approve, authorize, hosted, interaction, mine, page, secret, told

__all__ = ["Views", "hour", "icon", "moment", "pages", "style"]

_HERE: Final = Path(__file__).parent
_SAY: Final = SimpleNamespace(
    page=page,
    interaction=interaction,
    secret=secret,
    authorize=authorize,
    approve=approve,
    hosted=hosted,
    told=told,
    mine=mine,
)
"""What templates say, under their own names: `say.secret.title(...)`."""


class Views:
    """Draws the pages of one portal.

    Args:
        path: What comes before the portal's own paths.
        server: The server's name.
        title: What stands at the top of every page; by default, the server's name.
        overrides: A directory whose templates take the place of ours.
    """

    def __init__(self, path: str, server: str, title: str | None = None, overrides: Path | None = None) -> None:
        self._pages = pages(overrides)
        self.server = shown.line(server, 80) or interaction.unnamed_server()
        self._always = {"say": _SAY, "base": path, "brand": shown.line(title or "", 80) or self.server}

    @property
    def pages(self) -> Pages:
        return self._pages

    def page(
        self, template: str, status: int = 200, *, headers: Mapping[str, str] | None = None, who: str = "", **said: Any
    ) -> HTMLResponse:
        """This template. `who` is the name of whoever is signed in."""
        return HTMLResponse(self.html(template, who=who, **said), status, headers)

    def html(self, template: str, *, who: str = "", **said: Any) -> str:
        return self._pages.page(
            template, **{**self._always, "who": shown.line(who, 120), "server": self.server, **said}
        )

    def told(self, what: str, status: int, *, again: str = "", **said: Any) -> HTMLResponse:
        """A page that says one thing, and what to do next. `again` is a path to try again."""
        heading, hint = told.heading_and_hint(what)
        return self.say(heading, hint, status, again=again, **said)

    def say(self, heading: str, hint: str, status: int, **said: Any) -> HTMLResponse:
        usual: dict[str, Any] = {"again": "", "again_text": told.try_again(), "switch": "", "tone": "plain"}
        known: dict[str, Any] = {**usual, "heading": heading, "hint": hint, **said}
        return self.page("told.html", status, **known)


def pages(overrides: Path | None) -> Pages:
    """The templates, with those of this directory first.

    Raises:
        InstallError: There is no such directory.
    """
    if overrides is not None and not overrides.is_dir():
        raise InstallError(f"templates={str(overrides)!r} is no directory.")
    return Pages(_HERE / "templates", overrides=overrides)


def moment(at: float) -> str:
    """A time, for people; pages do not know in which zone they are read."""
    then = datetime.fromtimestamp(at, UTC)
    return f"{then.day} {then:%B %Y, %H:%M}"


def hour(at: float, now: float) -> str:
    """The same for a time that is near, which needs no date."""
    return f"{datetime.fromtimestamp(at, UTC):%H:%M}" if at - now < 12 * 3600 else moment(at)


@cache
def style() -> str:
    return stylesheet() + (_HERE / "static/portal.css").read_text("utf-8")


@cache
def icon() -> str:
    return (_HERE / "static/icon.svg").read_text("utf-8")
