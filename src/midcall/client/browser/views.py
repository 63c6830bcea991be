"""What the templates are given: a board as words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from midcall.client.asked import Asked
from midcall.client.browser.board import Board, Draft, Held
from midcall.client.browser.gate import Gate
from midcall.client.urls.consent import look
from midcall.core.forms.check import check
from midcall.web.forms import Pages, too_large
from midcall.web.forms import shown as safe
from midcall.wording.client import page as wording

__all__ = ["Views"]

_ENDED = 5


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the list."""

    id: str
    server: str
    says: str


class Views:
    """Draws the page.

    Args:
        overrides: A directory whose templates take the place of ours.
    """

    def __init__(self, overrides: Path | None = None) -> None:
        self._pages = Pages(Path(__file__).parent / "templates", overrides=overrides)

    def page(self, board: Board, gate: Gate, wanted: str | None) -> str:
        """The page, with this question in its middle; by default, the first that is open."""
        ids = board.ids
        id = wanted if wanted is not None else next(iter(ids), None)
        shown = self._shown(board, gate, id)
        others = [_entry(board, other) for other in ids if other != id]
        return self._pages.page(
            "page.html",
            **shown,
            shown=id or "",
            base=gate.base,
            count=len(ids),
            version=board.version,
            others=others,
            ended=[(_server(each.asked), safe.line(each.asked.message, 90), each.how) for each in board.ended[:_ENDED]],
            turned_away=board.pending.turned_away,
            limit=board.pending.limit,
        )

    def _shown(self, board: Board, gate: Gate, id: str | None) -> dict[str, Any]:
        if id is None:
            return {"middle": "empty.html", "key": "empty", "token": "", "id": ""}
        common = {"id": id, "token": gate.token(id), "typed": id in board.drafts}
        if (asked := board.pending.get(id)) is not None:
            return common | self._question(asked, board.drafts.get(id)) | {"key": id}
        if (held := board.held.get(id)) is not None:
            return common | _waits(held)
        how = board.how_ended(id)
        return common | {"middle": "gone.html", "key": f"gone-{id}", "how": how.how if how else None, "id": ""}

    def _question(self, asked: Asked, draft: Draft | None) -> dict[str, Any]:
        said = {"server": _server(asked), "message": asked.message, "until": _until(asked)}
        if asked.url is not None:
            address = look(asked.url)
            shown = [safe.text(part, max(safe.MESSAGE, len(part) * address.openable)) for part in address.parts]
            return said | {"middle": "visit.html", "address": address, "parts": shown}
        if asked.form is None:
            return said | {"middle": "question.html", "fields": None, "size": 0, "needs": False}
        if too_large(asked.form):
            return said | {"middle": "question.html", "fields": None, "size": len(asked.form), "needs": False}
        values = draft.content if draft is not None else None
        problems = check(asked.form, values) if draft is not None and draft.tried else ()
        drawn = self._pages.form(asked.form, values, problems, zone=_zone())
        needs = any(field.required for field in asked.form)
        return said | {"middle": "question.html", "fields": drawn, "size": 0, "needs": needs}

    # --- pages on the way -----------------------------------------------------------------------

    def entering(self, base: str) -> str:
        return self._pages.page("hop.html", base=base, url=f"{base}/", domain=None)

    def leaving(self, base: str, url: str) -> str:
        """Takes the tab to an address that the user agreed to open. A redirect would be blocked: it answers a form."""
        return self._pages.page("hop.html", base=base, url=url, domain=look(url).domain)

    def refused(self, base: str) -> str:
        return self.note(wording.page_refused(), wording.page_refused_hint(), base)

    def note(self, title: str, hint: str, base: str = "") -> str:
        """A page that says one thing. Who does not know where the others are is not told it."""
        return self._pages.page("note.html", title=title, hint=hint, base=base)


def _waits(held: Held) -> dict[str, Any]:
    waiting = held.waiting
    visits = [(safe.line(each.message), look(each.url or ""), waiting.is_done(each)) for each in waiting.asked]
    done = sum(waiting.is_done(each) for each in waiting.asked)
    return {
        "middle": "waiting.html",
        "key": f"{held.id}-{done}",
        "server": _server(waiting.asked[0]),
        "visits": visits,
        "attempt": waiting.attempt,
        "attempts": waiting.attempts,
    }


def _entry(board: Board, id: str) -> Entry:
    asked = board.pending.get(id) or board.held[id].waiting.asked[0]
    return Entry(id, _server(asked), safe.line(asked.message, 120))


def _server(asked: Asked) -> str:
    name = safe.line(asked.server, 80) or wording.unnamed_server()
    return f"{name} {safe.line(asked.server_version, 20)}" if asked.server_version else name


def _until(asked: Asked) -> str:
    return asked.deadline.astimezone().strftime("%H:%M:%S") if asked.deadline is not None else ""


def _zone() -> str:
    """The offset of this machine, which is the user's."""
    offset = datetime.now().astimezone().strftime("%z")
    return f"{offset[:3]}:{offset[3:5]}"
