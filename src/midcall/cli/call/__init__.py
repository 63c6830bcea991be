"""`midcall call`: call a tool, and answer its questions."""

from __future__ import annotations

import asyncio
import difflib
import re
import shlex
import socket
import sys
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit

from mcp import Client
from mcp_types import CallToolResult, Tool

from midcall.cli.call.answerers import AnswererOptions, open_answerer
from midcall.cli.call.arguments import Argument, BadArgument, read, split
from midcall.cli.call.results import as_text
from midcall.cli.connection import NO_RESULT, OLDER, UNUSABLE, ServerLink, list_tools, list_unusable
from midcall.cli.console import spin
from midcall.cli.exits import DONE, TOOL_FAILED, UNANSWERED, USAGE, Ends, Lost, usage_error
from midcall.cli.stdout import print_json, print_out
from midcall.client.connection.older import WHY, refuses_push
from midcall.client.lines.excerpt import one_line
from midcall.client.transport.target import is_url
from midcall.core.text import plain, plain_line
from midcall.core.urls import is_loopback
from midcall.errors import MidcallError, NotAnswered
from midcall.protocol import CODE, CONTINUE, NEWEST, VERSIONS
from midcall.settings.cli import CHECK_PAGE_SECONDS

_UNEXPLAINED: Final = re.compile(r"Error executing tool [^\s:]+")
"""All that the SDK says about an unexpected exception."""
_PAGE: Final = re.compile(r"http://[^\s\"<>]+")
_CODE: Final = re.compile(r"[A-Za-z0-9_-]{8,100}")


def run(
    link: ServerLink, tool: str, arguments: Sequence[str], options: AnswererOptions, *, downgrade: bool, as_json: bool
) -> int:
    """Call the tool, and return the exit code."""
    if options.answers is not None and options.browser:
        raise usage_error("midcall call", "use either --answers or --browser")
    if downgrade and link.era not in ("auto", NEWEST):
        raise usage_error("midcall call", f"--downgrade has no effect with --era {link.era}: leave one of them out")
    try:
        typed = split(arguments)
    except BadArgument as error:
        raise usage_error("midcall call", plain_line(str(error))) from None
    return link.run(_call(link, tool, typed, options, downgrade=downgrade, as_json=as_json))


async def _call(
    link: ServerLink, tool: str, typed: Sequence[Argument], options: AnswererOptions, *, downgrade: bool, as_json: bool
) -> int:
    async with open_answerer(options, link.console, verbose=link.verbose) as watched:
        try:
            async with link.connect(watched, downgrade=downgrade) as client:
                result = await _make_call(client, link, tool, typed)
        except NotAnswered as error:
            link.console.report(str(error))
            return UNANSWERED
        except Lost:
            raise
        except Ends as end:
            raise Ends(UNANSWERED if watched.unanswered else end.code, end.sentence) from None
    _show(result, link, as_json=as_json)
    if watched.unanswered or _code_of(result) is not None:
        return UNANSWERED
    return TOOL_FAILED if result.is_error else DONE


async def _make_call(client: Client, link: ServerLink, name: str, typed: Sequence[Argument]) -> CallToolResult:
    tools = await list_tools(client)
    if (why := list_unusable(client).get(name)) is not None:
        link.console.report(UNUSABLE.format(name=one_line(name), why=why))
        raise Ends(TOOL_FAILED)
    try:
        tool = _find_tool(tools, name)
        arguments = read(typed, tool.input_schema)
    except BadArgument as error:
        link.console.refuse(usage_error("midcall call", plain_line(str(error))).sentence)
        raise Ends(USAGE) from None
    try:
        async with asyncio.timeout(link.timeout), spin(link.console, tool.name) as spinner:
            return await client.call_tool(tool.name, arguments, progress_callback=spinner.show_progress)
    except TimeoutError:
        link.console.report(NO_RESULT.format(seconds=link.timeout or 0))
        raise Ends(TOOL_FAILED) from None


def _find_tool(tools: Sequence[Tool], name: str) -> Tool:
    for tool in tools:
        if tool.name == name:
            return tool
    names = [tool.name for tool in tools]
    alike = [each for each in names if name.casefold() in each.casefold()]
    if near := next(iter(difflib.get_close_matches(name, names, n=1, cutoff=0.5) or alike), None):
        hint = f"Did you mean {near[:100]!r}?"
    elif len(names) <= 5:
        hint = f"The server has: {', '.join(each[:100] for each in names) or 'none'}."
    else:
        hint = f"`midcall tools` lists all {len(names)}."
    raise BadArgument(f"there is no tool {name!r}. {hint}")


def _code_of(result: CallToolResult) -> str | None:
    """The resume code, if the call is suspended. It comes from a server and goes into a shell, so check it."""
    code: object = (result.meta or {}).get(CODE)
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


def _show(result: CallToolResult, link: ServerLink, *, as_json: bool) -> None:
    """Print a result to standard output, and a failure to standard error."""
    if as_json:
        print_json(result.model_dump(mode="json", by_alias=True, exclude_none=True))
    elif result.is_error or _code_of(result) is not None:
        said = as_text(result, plain).rstrip("\n")
        code = _code_of(result)
        if code is None:
            link.console.report("The tool failed:")
            link.console.quote(said)
            if refuses_push(result):
                link.console.say(f"  {WHY} {OLDER}")
        else:
            _show_suspended(said, code, link)
        has_bug = MidcallError.for_model in said or _UNEXPLAINED.fullmatch(said)  # only the server's log says which
        if has_bug and not link.verbose and not is_url(link.target):
            link.console.say("-v shows what the server wrote about it.")
    else:
        print_out(as_text(result, plain if sys.stdout.isatty() else str))


def _show_suspended(said: str, code: str, link: ServerLink) -> None:
    """How to resume, if possible: a server that was started by this command has ended, often with its pages."""
    if not is_url(link.target) and (page := _PAGE.search(said)) and _is_gone(page[0]):
        before = (
            "The tool is waiting for someone on a page of its server. This command started that server and "
            "ended it, so the page is gone, and the call cannot resume. This is what the tool told the model:"
        )
        after = "Start the server over HTTP instead, and call it by its URL."
        if link.era == VERSIONS[0]:
            after += " Or use a protocol version that can ask you here: 2025-11-25 or newer."
    else:
        era = [] if link.era == "auto" else ["--era", link.era]
        command = ["midcall", "call", link.target, CONTINUE, f"code={code}", *era]
        before = "The tool is waiting for you: open the address. The other lines behind the bar are for a model."
        after = f"Then continue with: {shlex.join(command)}"
    link.console.say(before)
    link.console.quote(said)
    link.console.say(after)


def _is_gone(page: str) -> bool:
    """Whether this page was on this machine, and nobody serves it any more."""
    try:
        host, port = urlsplit(page).hostname, urlsplit(page).port
        if host is None or not is_loopback(host):
            return False
        socket.create_connection((host, port or 80), CHECK_PAGE_SECONDS).close()
    except (OSError, ValueError):
        return True
    return False
