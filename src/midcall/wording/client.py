"""Every sentence that the person at a client may read, in one place. The server's are in `midcall.wording`."""

from __future__ import annotations

__all__: list[str] = []


# --- a question ------------------------------------------------------------------------------
def asks(server: str) -> str:
    return f"{server} asks"


def unnamed_server() -> str:
    return "A server without a name"


def how_to_answer(brackets: bool) -> str:
    return f"{'Enter takes what is in [brackets] · ' if brackets else ''}:decline says no · :cancel closes"


def answer_yes_or_no() -> str:
    return "Please answer yes or no."


def no_control_characters() -> str:
    return "Arrow keys and control characters do not work here. Please type it again."


def not_readable(server: str, why: str) -> str:
    return f"{server} asked something that cannot be shown: {why}"


def withdrawn() -> str:
    return "The question was withdrawn."


# --- a field ---------------------------------------------------------------------------------
def optional() -> str:
    return "optional"


def this_field() -> str:
    return "This"


def yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


def left_empty() -> str:
    return "(left empty)"


def nothing_chosen() -> str:
    return "(none)"


def to_empty_it() -> str:
    return ":clear empties it"


def says_yes_or_no() -> str:
    return "yes or no"


def a_format(format: str) -> str:
    return {
        "email": "an email address",
        "uri": "a web address such as https://example.com",
        "date": "a date such as 2026-07-28",
        "date-time": "a date and time such as 2026-07-28T09:30:00Z",
    }[format]


def characters(least: int | None, most: int | None) -> str:
    noun = "character" if (most if most is not None else least) == 1 else "characters"
    return f"{_amount(least, most)} {noun}"


def a_number(integer: bool, least: float | None, most: float | None) -> str:
    kind = "a whole number" if integer else "a number"
    if least is None and most is None:
        return kind if integer else f"{kind} such as 2.5"
    if least is not None and most is not None:
        return f"{kind} from {least} to {most}"
    return f"{kind}, {_amount(least, most)}"


def a_pattern(pattern: str) -> str:
    return f"must match {pattern}"


def choose_one() -> str:
    return "choose one"


def choose_some(least: int | None, most: int | None) -> str:
    amount = _amount(least, most) if least or most is not None else "any number"
    return f"choose {amount}, separated by commas{'' if least else ', or none'}"


def _amount(least: float | None, most: float | None) -> str:
    if least and most is not None:
        return f"{least}" if least == most else f"{least} to {most}"
    return f"at most {most}" if most is not None else f"at least {least}"


# --- the review ------------------------------------------------------------------------------
def review() -> str:
    return "Your answers"


def send_all() -> str:
    return "Send? Enter, or change N, decline, cancel"


def send_one(shown: str) -> str:
    return f"Send {shown}? Enter, or change, decline, cancel"


def not_understood(fields: int) -> str:
    change = "change" if fields == 1 else f"change and a number from 1 to {fields}"
    return f"Type send (or just Enter), {change}, decline or cancel."


def sent() -> str:
    return "Sent."


def declined() -> str:
    return "Declined."


def cancelled() -> str:
    return "Cancelled: nothing was sent."


# --- a visit ---------------------------------------------------------------------------------
def asks_to_open(server: str) -> str:
    return f"{server} asks you to open a web page"


def nothing_opens() -> str:
    return "Nothing opens unless you say yes · no declines · :cancel closes"


def open_it() -> str:
    return "Open this address in your browser? yes or no"


def cannot_be_opened() -> str:
    return "its address is no plain http or https address"


def opened() -> str:
    return "Opened in your browser."


def open_it_yourself() -> str:
    return "No browser could be started here: open the address yourself."
