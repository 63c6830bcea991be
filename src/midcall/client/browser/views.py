"""The board as data for the templates."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from midcall.client.asked import Asked
from midcall.client.browser.board import Board, Draft, End, HeldCall
from midcall.client.browser.gate import Gate
from midcall.client.urls import look
from midcall.core.forms.check import check
from midcall.language import _
from midcall.settings.web import PAGE_CONFIRM_SECONDS, PAGE_MESSAGE_CHARACTERS
from midcall.web.forms import Pages, too_large
from midcall.web.forms import excerpt as safe

_ENDED = 5


class Views:
    """Draws the page.

    Args:
        overrides: A directory whose templates replace the built-in ones.
    """

    def __init__(self, overrides: Path | None = None) -> None:
        self._pages = Pages(Path(__file__).parent / "templates", overrides=overrides)

    def page(self, board: Board, gate: Gate, wanted: str | None, *, too_soon: bool = False) -> str:
        """The page with this question on it; by default, the first open one.

        `too_soon` says that the last click came too soon to be meant for it.
        """
        ids = board.ids
        id = wanted if wanted is not None else next(iter(ids), None)
        shown = self._describe(board, gate, id)
        others: list[dict[str, str]] = []
        for other in ids:
            if other != id:
                asked = board.pending.get(other) or board.held[other].waiting.asked[0]
                others.append({"id": other, "server": _server(asked), "says": safe.line(asked.message, 120)})
        return self._pages.page(
            "page.html",
            **shown,
            shown=id or "",
            too_soon=too_soon,
            base=gate.base,
            count=len(ids),
            version=board.version,
            pause=round(1000 * PAGE_CONFIRM_SECONDS),
            others=others,
            ended=[
                (_server(each.asked), safe.line(each.asked.message, 90), _describe_end(each.how)[0])
                for each in board.ended[:_ENDED]
            ],
            notes=[safe.line(note) for note in board.notes],
            turned_away=board.pending.turned_away,
            limit=board.pending.limit,
        )

    def _describe(self, board: Board, gate: Gate, id: str | None) -> dict[str, Any]:
        if id is None:
            return {"middle": "empty.html", "key": "empty", "token": "", "id": ""}
        common = {"id": id, "token": gate.token(id, PAGE_CONFIRM_SECONDS), "typed": id in board.drafts}
        if (asked := board.pending.get(id)) is not None:
            return common | self._question(asked, board.drafts.get(id)) | {"key": id}
        if (held := board.held.get(id)) is not None:
            return common | _waits(held)
        ended = board.how_ended(id)
        how = _describe_end(ended.how)[1] if ended else _("This question is not open any more.")
        return common | {"middle": "gone.html", "key": f"gone-{id}", "how": how, "id": ""}

    def _question(self, asked: Asked, draft: Draft | None) -> dict[str, Any]:
        until = asked.deadline.astimezone().strftime("%H:%M:%S") if asked.deadline is not None else ""
        said = {"server": _server(asked), "message": asked.shown_message, "until": until}
        if asked.url is not None:
            address = look(asked.url)
            shown = [
                safe.text(part, max(PAGE_MESSAGE_CHARACTERS, len(part) * address.openable)) for part in address.parts
            ]
            return said | {"middle": "visit.html", "address": address, "parts": shown}
        if asked.form is None or too_large(asked.form):
            size = 0 if asked.form is None else len(asked.form)
            return said | {"middle": "question.html", "fields": None, "size": size, "needs": False}
        values = draft.content if draft is not None else None
        problems = check(asked.form, values) if draft is not None and draft.tried else ()
        zone = datetime.now().astimezone().isoformat()[-6:]  # the offset of this machine, which is the user's
        drawn = self._pages.form(asked.form, values, problems, zone=zone)
        needs = any(field.required for field in asked.form)
        return said | {"middle": "question.html", "fields": drawn, "size": 0, "needs": needs}

    # --- pages on the way -----------------------------------------------------------------------

    def entering(self, base: str) -> str:
        return self._pages.page("hop.html", base=base, url=f"{base}/", domain=None)

    def leaving(self, base: str, url: str) -> str:
        """Take the tab to an address that the user agreed to open. CSP would block a redirect after a form."""
        return self._pages.page("hop.html", base=base, url=url, domain=look(url).domain)

    def refuse(self, base: str) -> str:
        hint = _("The address works once, and only in the browser that opened it first.")
        return self.note(_("This page is not for this browser"), hint, base)

    def note(self, title: str, hint: str, base: str = "") -> str:
        """A page with one message. It links to the other pages only if `base` is given."""
        return self._pages.page("note.html", title=title, hint=hint, base=base)


def _describe_end(how: End) -> tuple[str, str]:
    """In a word, for the list, and in a sentence."""
    return {
        "accepted": (_("Sent"), _("Your answer was sent.")),
        "agreed": (_("Agreed"), _("You agreed, and the address was opened in a new tab.")),
        "declined": (_("Declined"), _("You declined this question.")),
        "cancelled": (_("Cancelled"), _("This question was cancelled: nothing was sent.")),
        "closed": (_("Cancelled"), _("This question was cancelled, because its page was closed.")),
        "withdrawn": (_("Withdrawn"), _("The question was withdrawn. What you typed was not sent.")),
        "again": (_("Tried again"), _("The call is being retried.")),
        "given up": (_("Given up"), _("You stopped waiting.")),
        "finished": (_("Finished"), _("Everything is done, and the call continues.")),
    }[how]


def _waits(held: HeldCall) -> dict[str, Any]:
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


def _server(asked: Asked) -> str:
    name = safe.line(asked.server, 80) or _("An unnamed server")
    return f"{name} {safe.line(asked.server_version, 20)}" if asked.server_version else name
