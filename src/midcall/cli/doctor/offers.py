"""`midcall doctor` from outside: what a server offers to a client, and what its probe says."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Any, Final

from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent

from midcall.cli.call.results import as_json as json_text
from midcall.cli.connection import Link, tools_of
from midcall.cli.console import print_out
from midcall.cli.doctor.findings import told
from midcall.cli.doctor.impatient import hurry
from midcall.cli.exits import DONE, NOT_CONNECTED, TOOL_FAILED, Ends
from midcall.client.asked import Asked
from midcall.client.lines.colors import Ink
from midcall.client.transport.target import is_url
from midcall.core.forms.fields import Field, Text
from midcall.core.outcome import Accepted, Cancelled, Outcome
from midcall.core.text import plain, plain_line
from midcall.doctor.checks import Finding
from midcall.protocol import CODE, CONTINUE, PROBE
from midcall.server.probe import SAMPLE
from midcall.wording import cli as usage
from midcall.wording.doctor import offers as wording

__all__ = ["visit"]

_PROBE_SECONDS: Final = 2.0
"""For each question: they are answered here, at once, and nobody opens a page."""
_URL_SECONDS: Final = 4.0
"""For an address to answer. A command may have to be downloaded first, and has its usual time."""


class _Obliging:
    """Answers the probe's questions, which ask for nothing in particular, and no others. It opens no page."""

    async def answer(self, asked: Asked) -> Outcome[Any]:
        if asked.form is None:
            return Accepted(None) if asked.mode == "url" else Cancelled()
        if not {field.name for field in asked.form.fields} <= SAMPLE.keys():
            return Cancelled()
        return Accepted({field.name: _sample(field) for field in asked.form.fields})


def _sample(field: Field) -> Any:
    """A version without multiple choice has a line of text for it."""
    given: Any = SAMPLE[field.name]
    return ", ".join(given) if isinstance(field, Text) and not isinstance(given, str) else given


async def visit(link: Link, *, as_json: bool) -> int:
    """Connect, see which tools there are, and call the probe if it is among them."""
    hurry()
    async with _connected(link) as client:
        names = await _names(client, link)
        probe = await _probed(client, link) if PROBE in names else None
        info, version = client.server_info, client.protocol_version
    title = plain_line((info.title or info.name) if info else "")
    findings = _offers(names, probe)
    if as_json:
        data = _data(title, version, names, [asdict(finding) for finding in findings], probe)
        print_out(json_text(data, ascii=sys.stdout.isatty()))
    else:
        _print(title, version, findings, probe)
    return TOOL_FAILED if any(finding.state == "broken" for finding in findings) else DONE


@asynccontextmanager
async def _connected(link: Link) -> AsyncGenerator[Client]:
    """A client. An address that is silent is not waited for long, unless that is asked for."""
    hurried = link.timeout is None and is_url(link.target)
    begun = time.monotonic()
    try:
        async with (replace(link, timeout=_URL_SECONDS) if hurried else link).connected(_Obliging()) as client:
            yield client
    except Ends as end:
        if hurried and end.code == NOT_CONNECTED and time.monotonic() - begun > _URL_SECONDS:
            link.console.say(f"  {wording.waits_longer()}")
        raise


async def _names(client: Client, link: Link) -> list[str]:
    """A server can connect, and then be silent."""
    seconds = link.timeout or _URL_SECONDS
    try:
        async with asyncio.timeout(seconds):
            return [tool.name for tool in await tools_of(client)]
    except TimeoutError:
        link.failed(wording.no_tools_within(seconds))
        raise Ends(TOOL_FAILED) from None


def _print(title: str, version: str, findings: Sequence[Finding], probe: CallToolResult | str | None) -> None:
    ink = Ink.on_stream(sys.stdout)
    print_out(f"{ink.bold(title)}  {ink.dim(version)}\n\n{ink.bold(_heading())}\n{told(findings, ink)}")
    if isinstance(probe, CallToolResult) and not probe.is_error:
        print_out(f"\n{_text(probe)}\n")


def _data(title: str, version: str, names: list[str], findings: list[Any], probe: CallToolResult | str | None) -> Any:
    data: dict[str, Any] = {"server": title, "protocol": version, "tools": names, "findings": findings}
    if isinstance(probe, CallToolResult):
        data["probe"] = probe.structured_content
    return data


def _text(result: CallToolResult) -> str:
    return plain("\n".join(block.text for block in result.content if isinstance(block, TextContent)))


# --- the probe ---------------------------------------------------------------------------------
async def _probed(client: Client, link: Link) -> CallToolResult | str:
    """What the probe found; a sentence where it failed."""
    try:
        async with asyncio.timeout(link.timeout):
            result = await client.call_tool(PROBE, {"timeout": _PROBE_SECONDS})
            if code := (result.meta or {}).get(CODE):  # a version without URL mode: the visit is shown as a link
                result = await client.call_tool(CONTINUE, {"code": code})
            return result
    except TimeoutError:
        return usage.no_result_within(link.timeout or 0)
    except MCPError as error:
        return error.message


def _offers(names: Sequence[str], probe: CallToolResult | str | None) -> list[Finding]:
    own = [plain_line(name) for name in names]
    goes_on = CONTINUE in names
    return [
        Finding("tools", "ok" if names else "off", _tools(own)),
        Finding(
            "later",
            *(
                ("ok", "midcall_continue is listed: a call that could not be finished goes on later.")
                if goes_on
                else ("off", "midcall_continue is not listed: the server has no store, or does not use midcall.")
            ),
        ),
        _of_probe(probe),
    ]


def _of_probe(probe: CallToolResult | str | None) -> Finding:
    match probe:
        case None:
            return Finding(
                "probe",
                "off",
                "midcall_probe is not listed. With install(..., probe=True) its result would stand here.",
            )
        case str():
            return Finding("probe", "broken", _probe_failed(probe), _probe_failed_advice())
        case _ if (probe.meta or {}).get(CODE):
            return Finding(
                "probe",
                "doubtful",
                (
                    "midcall_probe asked by a link, which this command does not open: nothing can be pushed to "
                    "this client. Over HTTP that is so where the server is stateless, on versions before "
                    "2026-07-28."
                ),
            )
        case _ if probe.is_error:
            return Finding("probe", "broken", _probe_failed(_text(probe)), _probe_failed_advice())
        case _:
            return Finding(
                "probe",
                "ok",
                "midcall_probe was called, and answered by this command; a page was agreed to and not opened.",
            )


def _heading() -> str:
    return "What the server offers"


def _tools(names: Sequence[str]) -> str:
    return f"{len(names)}: {', '.join(names)}" if names else "none"


def _probe_failed(why: str) -> str:
    return f"midcall_probe failed: {why}"


def _probe_failed_advice() -> str:
    return "The log of the server says more; --verbose shows that of a command."
