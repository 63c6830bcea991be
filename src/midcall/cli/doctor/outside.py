"""`midcall doctor` from outside: what a server offers to a client, and what its probe reports."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Any, Final

from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent
from rich.text import Text as Line

from midcall.cli.connection import NO_RESULT, ServerLink, list_tools
from midcall.cli.console import heading, print_parts
from midcall.cli.doctor.daemon_threads import use_daemon_threads
from midcall.cli.doctor.tables import draw_findings
from midcall.cli.exits import DONE, NOT_CONNECTED, TOOL_FAILED, Ends
from midcall.cli.stdout import print_json, print_out
from midcall.client.asked import Asked
from midcall.client.connection.incoming import server_of
from midcall.client.transport.target import is_url
from midcall.core.forms.fields import Text
from midcall.core.outcome import Accepted, Cancelled, Outcome
from midcall.core.text import plain, plain_line
from midcall.doctor.inspection import Finding
from midcall.protocol import CODE, CONTINUE, PROBE
from midcall.server.channels.probe import SAMPLE
from midcall.settings.cli import CHECK_PROBE_SECONDS, CHECK_URL_SECONDS

_WAIT_LONGER: Final = "--timeout SECONDS waits longer."


class _Obliging:
    """Answers the harmless questions of the probe, and no others. It opens no page."""

    async def answer(self, asked: Asked) -> Outcome[Any]:
        if asked.form is None:
            return Accepted(None) if asked.mode == "url" else Cancelled()
        if not {field.name for field in asked.form.fields} <= SAMPLE.keys():
            return Cancelled()
        content = {field.name: SAMPLE[field.name] for field in asked.form.fields}
        for field in asked.form.fields:
            if isinstance(field, Text) and not isinstance(given := SAMPLE[field.name], str):
                content[field.name] = ", ".join(given)  # for versions without multiple choice
        return Accepted(content)


async def check_outside(link: ServerLink, *, as_json: bool) -> int:
    """Connect, list the tools, and call the probe if it's among them."""
    use_daemon_threads()
    async with _connect(link) as client:
        names = await _list_names(client, link)
        probe = await _call_probe(client, link) if PROBE in names else None
        title, version = plain_line(server_of(client.session)[0]), client.protocol_version
    findings = _describe(names, probe)
    result = probe if isinstance(probe, CallToolResult) else None
    if as_json:
        listed = [asdict(finding) for finding in findings]
        data: dict[str, Any] = {"server": title, "protocol": version, "tools": names, "findings": listed}
        print_json(data | ({"probe": result.structured_content} if result is not None else {}))
    else:
        print_parts(heading(title, version), Line(), heading("What the server offers"), draw_findings(findings))
        if result is not None and not (result.is_error or _code_of(result)):
            print_out(f"\n{_text(result)}\n")
    return TOOL_FAILED if any(finding.state == "broken" for finding in findings) else DONE


@asynccontextmanager
async def _connect(link: ServerLink) -> AsyncGenerator[Client]:
    """A client. Give up soon on a silent URL, unless there is a --timeout."""
    hurried = link.timeout is None and is_url(link.target)
    begun = time.monotonic()
    try:
        async with (replace(link, timeout=CHECK_URL_SECONDS) if hurried else link).connect(_Obliging()) as client:
            yield client
    except Ends as end:
        if hurried and end.code == NOT_CONNECTED and time.monotonic() - begun > CHECK_URL_SECONDS:
            link.console.say(f"  {_WAIT_LONGER}")
        raise


async def _list_names(client: Client, link: ServerLink) -> list[str]:
    """A server can connect and then be silent."""
    seconds = link.timeout or CHECK_URL_SECONDS
    try:
        async with asyncio.timeout(seconds):
            return [tool.name for tool in await list_tools(client)]
    except TimeoutError:
        link.console.report(f"It connected, but did not list its tools within {seconds:g} s. {_WAIT_LONGER}")
        raise Ends(TOOL_FAILED) from None


def _code_of(result: CallToolResult) -> Any:
    return (result.meta or {}).get(CODE)


def _text(result: CallToolResult) -> str:
    return plain("\n".join(block.text for block in result.content if isinstance(block, TextContent)))


# --- the probe ---------------------------------------------------------------------------------
async def _call_probe(client: Client, link: ServerLink) -> CallToolResult | str:
    """What the probe found, or a sentence that says why it failed."""
    try:
        async with asyncio.timeout(link.timeout):
            result = await client.call_tool(PROBE, {"timeout": CHECK_PROBE_SECONDS})
            if code := _code_of(result):  # without URL mode, the visit is a link
                result = await client.call_tool(CONTINUE, {"code": code})
            return result
    except TimeoutError:
        return NO_RESULT.format(seconds=link.timeout or 0)
    except MCPError as error:
        return error.message


def _describe(names: Sequence[str], probe: CallToolResult | str | None) -> list[Finding]:
    tools = f"{len(names)}: {', '.join(map(plain_line, names))}" if names else "none"
    if CONTINUE in names:
        later = Finding("later", "ok", "midcall_continue is listed: a suspended call can resume later.")
    else:
        why = "midcall_continue is not listed: the server has no store, or does not use midcall."
        later = Finding("later", "off", why)
    return [Finding("tools", "ok" if names else "off", tools), later, _describe_probe(probe)]


def _describe_probe(probe: CallToolResult | str | None) -> Finding:
    match probe:
        case None:
            return Finding(
                "probe",
                "off",
                "midcall_probe is not listed. With install(..., probe=True), its result appears here.",
            )
        case str():
            return _report_failed(probe)
        case _ if _code_of(probe):
            return Finding(
                "probe",
                "doubtful",
                (
                    "midcall_probe asked by a link, which this command does not open: the server cannot push to this "
                    "client. That is so if it is stateless over HTTP, on versions before 2026-07-28."
                ),
            )
        case _ if probe.is_error:
            return _report_failed(_text(probe))
        case _:
            return Finding(
                "probe",
                "ok",
                "midcall_probe was called, and this command answered it; it agreed to a page without opening it.",
            )


def _report_failed(why: str) -> Finding:
    advice = "The server's log says more; --verbose shows that of a command."
    return Finding("probe", "broken", f"midcall_probe failed: {why}", advice)
