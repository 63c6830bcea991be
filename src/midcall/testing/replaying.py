"""Call a tool in every way that midcall has, and compare the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Final

from mcp_types import CallToolResult

from midcall.server.installation import installation_on
from midcall.testing.running import NotReplayable, Run, ScriptedCall, connect, run
from midcall.testing.script import Answers, Script
from midcall.testing.serving import is_name, load_server, start_commands

_ADVICE: Final = "Wrap what changes between runs (time, random numbers, reads, the order of a set) in once()."


async def replayed(
    server: object,
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    answers: Answers = (),
    *,
    before: Callable[[], object] | None = None,
    hash_seeds: Sequence[int] = (),
    **options: Any,
) -> Run:
    """Call a tool pushed, in live rounds, in replayed rounds, and in replayed rounds that bring one answer each.

    All must ask the same questions and end with the same result. For a URL, a command or a transport, the server
    decides how it keeps its runs: it's called pushed, in rounds, and in rounds that bring one answer each.

    Args:
        server: As in `connect`.
        tool: Its name.
        arguments: Its arguments.
        answers: As in `run`.
        before: Called before each call, to reset shared state such as a random seed or a database.
        hash_seeds: Also start a process for each of these values of `PYTHONHASHSEED`, and let them serve the rounds of
            one call in turns: sets are iterated in another order in each. The server must be given by its name, as in
            `"package.module:mcp"`.
        options: As in `connect`.

    Raises:
        NotReplayable: The results differ.
        AssertionError: A question had no answer, or the tool doesn't exist.
    """
    if hash_seeds and not is_name(server):
        raise ValueError(
            "hash_seeds= starts the server in separate processes, which have to import it: "
            'name it as in replayed("package.module:mcp", ..., hash_seeds=(0, 1)).'
        )
    before = before or (lambda: None)
    before()
    pushed = await run(server, tool, arguments, answers, era="2025-11-25", **options)
    if pushed.failed and not pushed.asked:
        await _check_tool(server, tool, **options)
    for how, settings in _ways(server).items():
        before()
        _compare(tool, pushed, await run(server, tool, arguments, answers, **settings, **options), how)
    if hash_seeds:
        before()
        made = await _in_processes(str(server), hash_seeds, tool, arguments, answers, options)
        _compare(tool, pushed, made, f"processes with the hash seeds {', '.join(map(str, hash_seeds))}")
    return pushed


def _ways(server: object) -> dict[str, dict[str, bool]]:
    """Settings for each way to run in rounds, by its name in failures."""
    if installation_on(load_server(server)) is None:
        return {"rounds": {}, "rounds with one answer each": {"one_by_one": True}}
    return {
        "live rounds": {"live": True},
        "replayed rounds": {"live": False},
        "replayed rounds with one answer each": {"live": False, "one_by_one": True},
    }


async def _in_processes(
    server: str,
    hash_seeds: Sequence[int],
    tool: str,
    arguments: Mapping[str, Any] | None,
    answers: Answers,
    options: Mapping[str, Any],
) -> Run:
    """One call whose rounds are served by several processes in turn."""
    script = Script(answers)
    async with AsyncExitStack() as stack:
        started = [connect(each, script, **options) for each in start_commands(server, hash_seeds)]
        clients = [await stack.enter_async_context(each) for each in started]
        return await ScriptedCall(clients, script, one_by_one=True).call(tool, arguments)


async def _check_tool(server: object, tool: str, **options: Any) -> None:
    """An unknown tool fails the same way everywhere, so check its name."""
    async with connect(server, **options) as client:
        listed = await client.list_tools()
    names = [each.name for each in listed.tools]
    if tool not in names and not listed.next_cursor:
        raise AssertionError(f"The server has no tool {tool!r}; it has: {', '.join(sorted(names)) or 'none'}")


def _compare(tool: str, pushed: Run, other: Run, how: str) -> None:
    here, there = ([asked.message for asked in run.asked] for run in (pushed, other))
    if _differ(here, there, other):
        raise NotReplayable(f"{tool!r} asked {sorted(there)} in {how}, and {sorted(here)} when pushed. {_ADVICE}")
    if _content(pushed.result) != _content(other.result):
        raise NotReplayable(
            f"{tool!r} ended differently in {how}: {other.text!r} instead of {pushed.text!r}. {_ADVICE}"
        )


def _differ(here: Sequence[str], there: Sequence[str], other: Run) -> bool:
    """Whether the tool asked something else. After a decline, branches may have got further in one run."""
    missing, extra = Counter(here) - Counter(there), Counter(there) - Counter(here)
    if other.stopped:
        branches = next((i for i, message in enumerate(here) if message in other.together), len(here))
        missing -= Counter(here[branches:])
        extra -= Counter(message for message in there if message in other.together)
    return bool(missing or extra)


def _content(result: CallToolResult) -> object:
    return result.content, result.structured_content, bool(result.is_error)
