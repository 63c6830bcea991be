"""`midcall call`: call a tool, and answer what it asks."""

from __future__ import annotations

import asyncio
import difflib
import re
import shlex
import sys
from collections.abc import Sequence
from typing import Final

from mcp import Client
from mcp_types import CallToolResult, Tool

from midcall.cli.call.answering import Ways, answering
from midcall.cli.call.arguments import BadArgument, Given, given, read
from midcall.cli.call.results import as_json as json_text
from midcall.cli.call.results import as_text
from midcall.cli.connection import Link, tools_of, unusable_of
from midcall.cli.console import print_out
from midcall.cli.exits import DONE, TOOL_FAILED, UNANSWERED, USAGE, Ends, Lost
from midcall.cli.spinner import spinning
from midcall.client.lines.columns import one_line
from midcall.client.transport.target import is_url
from midcall.core.text import plain, plain_line
from midcall.core.urls import is_loopback
from midcall.errors import NotAnswered
from midcall.protocol import CODE, CONTINUE
from midcall.wording import cli as wording
from midcall.wording.mistakes import model_broken

__all__ = ["run"]

_UNTOLD: Final = re.compile(r"Error executing tool [^\s:]+")
"""All that the SDK says of an exception that nobody expected."""
_HOST: Final = re.compile(r"http://(\[[0-9A-Fa-f:.]+\]|[^\s/:?#@]+)")
_CODE: Final = re.compile(r"[A-Za-z0-9_-]{8,100}")


def run(link: Link, tool: str, arguments: Sequence[str], ways: Ways, *, as_json: bool) -> int:
    """Call the tool, and return the exit code."""
    if ways.answers is not None and ways.browser:
        raise Ends(USAGE, wording.usage("midcall call", "--answers and --browser exclude each other"))
    try:
        typed = given(arguments)
    except BadArgument as error:
        raise Ends(USAGE, wording.usage("midcall call", plain_line(str(error)))) from None
    return link.run(_call(link, tool, typed, ways, as_json=as_json))


async def _call(link: Link, tool: str, typed: Sequence[Given], ways: Ways, *, as_json: bool) -> int:
    async with answering(ways, link.console) as watched:
        try:
            async with link.connected(watched) as client:
                result = await _made(client, link, tool, typed)
        except NotAnswered as error:
            link.failed(plain(str(error)))
            return UNANSWERED
        except Lost:
            raise
        except Ends as end:
            raise Ends(UNANSWERED if watched.unanswered else end.code, end.sentence) from None
    _show(result, link, as_json=as_json)
    if watched.unanswered or _code_of(result) is not None:
        return UNANSWERED
    return TOOL_FAILED if result.is_error else DONE


async def _made(client: Client, link: Link, name: str, typed: Sequence[Given]) -> CallToolResult:
    tools = await tools_of(client)
    if (why := unusable_of(client).get(name)) is not None:
        link.failed(wording.unusable_tool(one_line(name), why))
        raise Ends(TOOL_FAILED)
    tool = _found(tools, name)
    try:
        arguments = read(typed, tool.input_schema)
    except BadArgument as error:
        raise Ends(USAGE, wording.usage("midcall call", plain_line(str(error)))) from None
    try:
        async with asyncio.timeout(link.timeout), spinning(link.console, tool.name) as spinner:
            return await client.call_tool(tool.name, arguments, progress_callback=spinner.progressed)
    except TimeoutError:
        link.failed(wording.no_result_within(link.timeout or 0))
        raise Ends(TOOL_FAILED) from None


def _found(tools: Sequence[Tool], name: str) -> Tool:
    for tool in tools:
        if tool.name == name:
            return tool
    names = [tool.name for tool in tools]
    alike = [each for each in names if name.casefold() in each.casefold()]
    near = next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.5) or alike), None)
    raise Ends(USAGE, wording.usage("midcall call", plain_line(_unknown_tool(name, near, names))))


def _is_mistake(said: str) -> bool:
    """Whether the tool failed by a mistake in its code, which the server tells its log alone."""
    return model_broken() in said or _UNTOLD.fullmatch(said) is not None


def _code_of(result: CallToolResult) -> str | None:
    """The code to go on with, where the tool waits for somebody. It comes from a server, and goes into a shell."""
    code: object = (result.meta or {}).get(CODE) if result.is_error else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


def _show(result: CallToolResult, link: Link, *, as_json: bool) -> None:
    """A result goes to standard output; what a tool says about its failure does not."""
    terminal = sys.stdout.isatty()
    if as_json:
        print_out(json_text(result.model_dump(mode="json", by_alias=True, exclude_none=True), ascii=terminal))
    elif result.is_error:
        said = as_text(result, plain).rstrip("\n")
        code = _code_of(result)
        if code is None:
            link.failed("The tool failed:")
            link.console.say(said)
        else:
            _show_waiting(said, code, link)
        if link.hides_log and _is_mistake(said):
            link.console.say("With -v you see what the server wrote about it.")
    else:
        print_out(as_text(result, plain if terminal else str))


def _show_waiting(said: str, code: str, link: Link) -> None:
    """How to go on, where that is possible: a server that is a command has ended by now, with its own pages."""
    if not is_url(link.target) and _is_here(said):
        lines = (
            (
                "The tool waits for somebody on a page of its own server. This command has started that server, "
                "and ended it, so the page is gone, and nothing more is done. What the tool said, for a model:"
            ),
            said,
            (
                "Start the server over HTTP instead, and call it by its URL. Or take a protocol version on which "
                "you can be asked here: 2025-11-25, or newer."
            ),
        )
    else:
        era = [] if link.era == "auto" else ["--era", link.era]
        command = ["midcall", "call", link.target, CONTINUE, f"code={code}", *era]
        lines = (
            "The tool waits for you: open the address yourself. The rest of what it says is for a model.",
            said,
            f"Then go on with: {shlex.join(command)}",
        )
    for line in lines:
        link.console.say(line)


def _is_here(said: str) -> bool:
    """Whether this leads to a page on this machine."""
    return any(is_loopback(host.strip("[]")) for host in _HOST.findall(said))


def _unknown_tool(name: str, near: str | None, names: list[str]) -> str:
    if near is not None:
        return f"there is no tool {name!r}. Did you mean {near[:100]!r}?"
    if len(names) <= 5:
        return f"there is no tool {name!r}. There are: {', '.join(each[:100] for each in names) or 'none'}."
    return f"there is no tool {name!r}. `midcall tools` lists those that there are ({len(names)})."
