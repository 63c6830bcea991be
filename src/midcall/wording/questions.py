"""Questions that cannot be asked as they are, for their author."""

from __future__ import annotations


def empty_message() -> str:
    return "A question needs a message: one sentence that tells the user what is asked, and why."


def not_a_message(kind: str) -> str:
    return f"A question begins with its message, a text, and not with {kind}: ask('How many days?', int)."


def bad_key(key: str) -> str:
    return f"{key!r} cannot be a key: use 1 to 64 letters, digits and _ . : - and begin with a letter, digit or _."


def unsendable(what: str, why: str) -> str:
    """`why` goes on where the name of the thing ends."""
    return f"This question cannot be sent: {what} {why}."


def bad_timeout(timeout: float) -> str:
    return f"timeout={timeout!r} must be a positive number of seconds."


def bad_attempts(attempts: int) -> str:
    return f"attempts={attempts!r} must be a whole number, 1 or more."


def bad_default(problems: list[str]) -> str:
    return f"default= does not fit the form: {'; '.join(problems)}."


def not_visits(kind: str) -> str:
    return f"UrlElicitationRequired() takes a list of visits, [Visit(message, url)], and not {kind}."


def no_value(kind: str) -> str:
    return f"it is {kind}, and neither a value of the type nor an answer"


def default_not_an_option() -> str:
    return "default= must be one of the options."


def ambiguous_options() -> str:
    return "Two of these options read the same. Options must differ as text, and so must their titles."


def not_a_visit(kind: str) -> str:
    return (
        f"UrlElicitationRequired() takes visits, Visit(message, url), and not {kind}: a form has no URL to be sent to."
    )


def type_as_options(named: str) -> str:
    return f"choose() takes the options themselves, and not the type {named}. ask(message, {named}) takes the type."


def not_options(kind: str) -> str:
    return (
        f"choose() takes a list of options, a mapping from option to title, or an Enum, and not {kind}: "
        "choose('Which seat?', ['window', 'aisle'])."
    )


def options_without_order() -> str:
    return "The options are a set, which has no order: hand over sorted(...) of it, or a list."


def default_not_a_list(kind: str) -> str:
    return f"With many=True, default= is a list of options, and not {kind}: default=['window']."


def option_without_text(kind: str) -> str:
    return (
        f"An option of the class {kind} has no text of its own: all that could be shown is its address, which is "
        "another one in every run. Give the class a __str__, or let the user choose among names."
    )


def unknown_channels(unknown: list[str], known: list[str]) -> str:
    return f"via= names no channel: {', '.join(unknown)}. The channels are {', '.join(known)}."


def no_channels(known: list[str]) -> str:
    return f"via= names no channel, so nobody could be asked. The channels are {', '.join(known)}."


def options_beside_a_question() -> str:
    return "A Question has its type and its options already: give them to Question(...) when it is made."


def bad_options(why: str) -> str:
    return f"These are not the options of a question: {why}."


def not_a_question(kind: str) -> str:
    return f"ask_all() takes Question(...) values, not {kind}."


def verb_as_a_question(verb: str) -> str:
    return (
        f"ask_all() takes questions, and {verb}(...) asks one by itself: write Question(message, type), and Visit(...) "
        "for a visit."
    )


def bad_address(why: str) -> str:
    return f"This URL cannot be visited: {why}."


def not_an_address(kind: str) -> str:
    return f"A visit leads to a URL, a text, or to what a function makes of its id; {kind} is neither."


def empty_visit_id() -> str:
    return "A visit's id must be a text that is not empty; leave it out to have one minted."


def no_visits() -> str:
    return "UrlElicitationRequired needs at least one visit."


def visit_needs_id() -> str:
    return "Outside a call a visit needs an id of its own: Visit(message, url, id=...)."


def link_in_form(links: tuple[str, ...]) -> str:
    return (
        f"A form question contains a link ({', '.join(links)}). Users cannot tell where it leads: use visit() instead."
    )
