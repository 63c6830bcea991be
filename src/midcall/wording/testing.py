"""What `midcall.testing` says to who writes a test."""

from __future__ import annotations

from collections.abc import Sequence


def no_server(kind: str) -> str:
    return (
        f"a server to test is a server object, a URL, a command, StdioServerParameters or a transport, and not {kind}"
    )


def no_script(kind: str) -> str:
    return f"answers= is a mapping by message or field, a list, or a function of what is asked; and not {kind}."


def no_answer(message: str, fields: Sequence[str]) -> str:
    return f"no answer for {message!r} (fields: {', '.join(fields) or 'none'})"


def no_to_a_visit(message: str) -> str:
    return f"the answer to {message!r} is False; to a visit, Declined() or Cancelled() is a no"


def not_by_field(message: str, fields: Sequence[str], answer: object) -> str:
    return f"the answer to {message!r} has to be a dict of its fields ({', '.join(fields)}), and is {answer!r}"


def no_such_tool(tool: str, tools: Sequence[str]) -> str:
    return f"the server has no tool {tool!r}; it has: {', '.join(sorted(tools)) or 'none'}"


def asks_without_end(tool: str, rounds: int) -> str:
    return f"{tool!r} still asks after {rounds} rounds"


def asked_otherwise(tool: str, how: str, asked: Sequence[str], pushed: Sequence[str]) -> str:
    return f"{tool!r} asked {list(asked)} in {how}, and {list(pushed)} when pushed. {_what_changes()}"


def ended_otherwise(tool: str, how: str, text: str, pushed: str) -> str:
    return f"{tool!r} ended differently in {how}: {text!r} instead of {pushed!r}. {_what_changes()}"


def _what_changes() -> str:
    return "Put what changes between runs (time, random numbers, reads, the order of a set) into once()."


def page_of_a_form() -> str:
    return "there is no page to open: the question is a form"


def page_not_shown(url: str, status: int) -> str:
    return f"the page at {url} was answered with {status}"


def other_fields(there: int, given: int) -> str:
    return f"the page has {there} fields for secrets, and {given} were given"


def page_not_taken(status: int, problems: Sequence[str]) -> str:
    return f"the page did not take it: {status} {' '.join(problems)}".strip()
