"""Verbs that are used where or how they cannot be; and what the log and the model hear of an author's mistake."""

from __future__ import annotations


def no_call(verb: str) -> str:
    return f"{verb}() was used outside an MCP call."


def no_call_advice() -> str:
    return (
        "Use it in a tool, prompt or resource of a server that midcall.install(...) was called on, "
        "and in a task that the tool started. Of servers that are mounted in each other, install it on the outer one, "
        "which clients connect to. The server must run on asyncio: on trio, tools cannot ask."
    )


def call_is_over(verb: str) -> str:
    return f"{verb}() was used after its call had ended."


def call_is_over_advice() -> str:
    return "What a tool has started can ask only until the tool returns: await its tasks before that."


def no_call_in_thread_advice() -> str:
    return (
        "A thread knows its call by its context: use asyncio.to_thread(...), or hand the context to an executor, "
        "pool.submit(contextvars.copy_context().run, ...), while the tool is running. "
        "midcall.install(...) must have been called on the server that clients connect to."
    )


def no_loop() -> str:
    return (
        "midcall.from_thread.complete() found no server that is running in this process, and has sent anybody anywhere."
    )


def no_loop_advice() -> str:
    return (
        "Where no server runs, as in a worker of its own, write asyncio.run(midcall.complete(id)): with a store that "
        "the servers share, they hear of it."
    )


def asks_inside_once(verb: str) -> str:
    return f"{verb}() was used inside the function of a once(...). Ask first, and hand the answer to once()."


def not_awaited(verb: str) -> str:
    return f"{verb}(...) must be awaited: write `await {verb}(...)`."


def needs_from_thread(verb: str) -> str:
    return (
        f"{verb}() is async, and this is a thread. In a `def` tool import it from midcall.from_thread "
        f"(`from midcall.from_thread import {verb}`), or make the tool `async def`."
    )


def only_in_thread(verb: str) -> str:
    return f"midcall.from_thread.{verb}() blocks, and this is the event loop. Here: `await midcall.{verb}(...)`."


def unknown_mode(mode: object) -> str:
    return f"There is no mode {mode!r}: can_ask() takes 'form', 'url' or none."


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
