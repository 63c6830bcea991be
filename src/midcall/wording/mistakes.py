"""Verbs that are used where or how they cannot be; and what the log and the model hear of an author's mistake."""

from __future__ import annotations


def call_is_over(verb: str) -> str:
    return f"{verb}() was used after its call had ended."


def call_is_over_advice() -> str:
    return "What a tool has started can ask only until the tool returns: await its tasks before that."


def asks_inside_once(verb: str) -> str:
    return f"{verb}() was used inside the function of a once(...). Ask first, and hand the answer to once()."


def not_awaited(verb: str) -> str:
    return f"{verb}(...) must be awaited: write `await {verb}(...)`."


def only_in_thread(verb: str) -> str:
    return f"midcall.from_thread.{verb}() blocks, and this is the event loop. Here: `await midcall.{verb}(...)`."


def mistake(kind: str, called: object) -> str:
    """The beginning of a line in the log: what, and in which tool."""
    return f"{kind} in {called!r}" if isinstance(called, str) else kind


def model_broken() -> str:
    return "This call failed because of a mistake in the server's own code. Nothing can be done about it from here."


def loop_waits_for_thread() -> str:
    return (
        "The event loop is stopped until this thread ends, so nobody can answer it. Let no async function wait for a "
        "thread by join(), result() or the end of a `with ThreadPoolExecutor()`: await it, as with asyncio.to_thread."
    )
