"""Line prompts."""

from __future__ import annotations

from midcall.wording.client import addresses, fields, questions

all_cancelled = questions.all_cancelled
asks = questions.asks
asks_to_open = questions.asks_to_open
cancelled = questions.cancelled
declined = questions.declined
not_readable = questions.not_readable
open_it_yourself = questions.open_it_yourself
opened = questions.opened
sent = questions.sent
site = addresses.site
this_field = fields.this_field
turned_away = questions.turned_away
unnamed_server = questions.unnamed_server
unnamed_site = questions.unnamed_site
withdrawn = questions.withdrawn


def how_to_answer(brackets: bool) -> str:
    return f"{'Enter takes what is in [brackets] · ' if brackets else ''}:decline says no · :cancel closes"


def answer_yes_or_no() -> str:
    return "Please answer yes or no."


def no_control_characters() -> str:
    return "Arrow keys and control characters do not work here. Please type it again."


def to_empty_it() -> str:
    return ":clear empties it"


def review() -> str:
    return "Your answers"


def send_all() -> str:
    return "Send? Enter, or change N, decline, cancel"


def send_one(shown: str) -> str:
    return f"Send {shown}? Enter, or change, decline, cancel"


def not_understood(fields: int) -> str:
    change = "change" if fields == 1 else f"change and a number from 1 to {fields}"
    return f"Type send (or just Enter), {change}, decline or cancel."


def nothing_opens() -> str:
    return "Nothing opens unless you say yes · no declines · :cancel closes"


def open_it() -> str:
    return "Open this address in your browser? yes or no"


def version(version: str) -> str:
    return f"version {version}" if version else ""


def answer_by(time: str) -> str:
    return f"answer by {time}"


def question_of(number: int, count: int) -> str:
    return f"question {number} of {count}"


def cancel_all(count: int) -> str:
    return f":cancel all closes all {count:,}" if count > 2 else ":cancel all closes both"


def others_wait(count: int) -> str:
    waits = "1 more question waits" if count == 1 else f"{count:,} more questions wait"
    return f"{waits}. :cancel all closes all of them."


def how_to_agree() -> str:
    return "yes agrees · no declines · :cancel closes"


def agree() -> str:
    return "Do you agree? yes or no"


def text_left_out(characters: int) -> str:
    return f"{characters:,} more characters of this text are not shown."


def characters_left_out(characters: int) -> str:
    return f"({characters:,} more characters)"


def options_left_out(count: int) -> str:
    return f"... and {count:,} more. Type part of a name to search."


def type_empty() -> str:
    return "If it is meant to be empty, type :empty."


def no_terminal(server: str) -> str:
    return f"{server} asked a question, and there is no terminal to answer it at. It was cancelled."


def waiting_for(count: int) -> str:
    return f"Waiting until you are done {'there' if count == 1 else 'with these'}"


def visit_standing(done: bool) -> str:
    return "(done)" if done else "(not done yet)"


def how_to_wait(attempt: int, attempts: int) -> str:
    return f"It goes on by itself. Enter tries again now (attempt {attempt} of {attempts}) · :cancel gives up"


def wait_not_understood() -> str:
    return "Press Enter to try again now, or type :cancel to give up."


def visits_done() -> str:
    return "Done. Going on."


def waiting_given_up() -> str:
    return "Given up."
