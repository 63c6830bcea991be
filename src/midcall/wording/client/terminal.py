"""The terminal's forms."""

from __future__ import annotations

from midcall.wording.client import addresses, fields, questions

all_cancelled = questions.all_cancelled
asks = questions.asks
asks_to_open = questions.asks_to_open
cancelled = questions.cancelled
declined = questions.declined
left_empty = fields.left_empty
open_it_yourself = questions.open_it_yourself
opened = questions.opened
optional = fields.optional
sent = questions.sent
site = addresses.site
turned_away = questions.turned_away
unnamed_server = questions.unnamed_server
withdrawn = questions.withdrawn
yes_or_no = fields.yes_or_no


def needs_terminal_extra() -> str:
    return 'Terminal() shows its forms with Textual, which is not installed: pip install "midcall[terminal]"'


def nobody_at_a_terminal() -> str:
    return "there is no terminal to ask at, so the question was cancelled."


def form_failed(error: str) -> str:
    return f"the form failed with {error}; its questions are asked line by line"


def about_server(version: str | None, protocol: str | None, via: str) -> str:
    ways = {"push": "pushed", "round": "in a round", "required": "required"}
    pieces = (version and f"version {version}", protocol and f"MCP {protocol}", ways.get(via, via))
    return " · ".join(piece for piece in pieces if piece)


def must_be_answered() -> str:
    return "* must be answered"


def if_left_empty(shown: str) -> str:
    return f"if left empty: {shown}"


def pick_some(least: int | None, most: int | None) -> str:
    amount = fields.amount(least, most) if least or most is not None else "any"
    return f"choose {amount}{'' if least else ', or none'}"


def type_to_find(options: int) -> str:
    return f"type to find among {options:,}"


def found(shown: int, matching: int) -> str:
    if shown == matching:
        return f"{matching:,} found" if matching else "nothing found"
    return f"the first {shown:,} of {matching:,} are shown: type more to find others"


def chosen(shown: str) -> str:
    return f"chosen: {shown}"


def and_more(count: int) -> str:
    return f"and {count:,} more"


def not_all_shown(characters: int) -> str:
    return f"… {characters:,} more characters are not shown."


def step(number: int, steps: int) -> str:
    return f"{number} of {steps}"


def more_waiting(count: int) -> str:
    return f"{count:,} more {'waits' if count == 1 else 'wait'}"


def some_fields(first: int, last: int, fields: int) -> str:
    return f"Fields {first:,} to {last:,} of {fields:,}"


def problems_left(count: int) -> str:
    return "One answer does not fit yet." if count == 1 else f"{count:,} answers do not fit yet."


def nothing_to_fill() -> str:
    return "There is nothing to fill in: only your yes or no is asked."


def review_title(count: int) -> str:
    return f"Your answers to {count:,} questions"


def review_advice() -> str:
    return "Nothing has been sent yet. Choose a line to change it."


def review_declined() -> str:
    return "declined"


def review_cancelled() -> str:
    return "cancelled"


def review_agreed() -> str:
    return "agreed"


def review_open(url: str) -> str:
    return f"open {url}"


def again_cancels_all(count: int) -> str:
    return f"Once more cancels all {count:,} questions. Nothing has been sent yet."


def withdrawn_meanwhile(server: str) -> str:
    return f"{server} has withdrawn a question."


def will_open_when_sent() -> str:
    return "It opens in your browser when the answers are sent, and not before."


def will_open_now() -> str:
    return "It opens in your browser when you say so, and not before."


def cannot_open(why: str) -> str:
    return f"This cannot be opened: {why}."


def address_copied() -> str:
    return "The address was handed to the clipboard."


def account(server: str, what: str) -> str:
    return f"{server}: {what}"


def output_left_out(size: int) -> str:
    return f"… {size:,} bytes that were written before this were left out."


def goes_on_after_visits(count: int) -> str:
    return "The call goes on when this page is done." if count == 1 else "The call goes on when these pages are done."


def attempt(number: int, attempts: int) -> str:
    return f"attempt {number} of {attempts}"


def seconds_passed(seconds: int) -> str:
    return f"waiting for {seconds} s" if seconds < 120 else f"waiting for {seconds // 60} min"


def visit_state(done: bool) -> str:
    return "done" if done else "not done yet"


def key(name: str) -> str:
    return f"^{name[-1].upper()}" if name.startswith("ctrl+") else {"escape": "Esc"}.get(name, name)


def button(name: str) -> str:
    return {
        "send": "Send",
        "next": "Next",
        "yes": "Accept",
        "open": "Open",
        "agree": "Agree",
        "copy": "Copy",
        "decline": "Decline",
        "cancel": "Cancel",
        "cancel_all": "Cancel all",
        "back": "Back",
        "more": "More",
        "less": "Before",
        "again": "Try again",
        "give_up": "Give up",
    }[name]
