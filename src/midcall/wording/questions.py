"""Questions that cannot be asked as they are, for their author."""

from __future__ import annotations


def unsendable(what: str, why: str) -> str:
    """`why` goes on where the name of the thing ends."""
    return f"This question cannot be sent: {what} {why}."


def no_value(kind: str) -> str:
    return f"it is {kind}, and neither a value of the type nor an answer"


def type_as_options(named: str) -> str:
    return f"choose() takes the options themselves, and not the type {named}. ask(message, {named}) takes the type."


def not_a_question(kind: str) -> str:
    return f"ask_all() takes Question(...) values, not {kind}."


def bad_address(why: str) -> str:
    return f"This URL cannot be visited: {why}."


def link_in_form(links: tuple[str, ...]) -> str:
    return (
        f"A form question contains a link ({', '.join(links)}). Users cannot tell where it leads: use visit() instead."
    )
