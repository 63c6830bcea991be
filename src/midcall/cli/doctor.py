"""`midcall doctor`: what a server has to reach its users, and what is missing."""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent

from midcall.cli.console import print_out
from midcall.cli.exits import DONE, TOOL_FAILED, USAGE, Ends
from midcall.cli.imported import CannotImport, installation_in
from midcall.cli.link import Link, tools_of
from midcall.cli.results import as_json as json_text
from midcall.client.asked import Asked
from midcall.client.ink import Ink
from midcall.client.plain import plain, plain_line
from midcall.core.fields import Field, Text
from midcall.core.outcomes import Accepted, Cancelled, Outcome
from midcall.server.doctor import Finding, State, looked_at
from midcall.server.install import Installation
from midcall.server.later import CODE_META, CONTINUE
from midcall.server.probe import PROBE, SAMPLE
from midcall.wording import cli as usage
from midcall.wording import doctor as wording

__all__ = ["is_source", "run"]

_FILE: Final = re.compile(r"(?P<path>.+\.py)(?::(?P<name>[\w.]+))?")
_MODULE: Final = re.compile(r"(?P<path>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_][\w.]*)")
_WIDEST: Final = 100
_PROBE_SECONDS: Final = 10.0


def run(link: Link, *, as_json: bool) -> int:
    """Look at a server: at its code, if that is named, else at what it offers."""
    if (found := is_source(link.target)) is not None:
        return _examine(*found, as_json=as_json)
    return link.run(_visit(link, as_json=as_json))


def is_source(target: str) -> tuple[str, str | None] | None:
    """The file or module, and the name in it, that this means; None if it is a URL or a command."""
    target = target.strip()
    if "://" in target:
        return None
    found = _FILE.fullmatch(target) or _MODULE.fullmatch(target)
    if found is None or (" " in target and not Path(found["path"]).exists()):
        return None
    return found["path"], found["name"]


# --- the server's side ---------------------------------------------------------------------------
def _examine(path: str, name: str | None, *, as_json: bool) -> int:
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        installation = installation_in(path, name)
    except CannotImport as error:
        raise Ends(USAGE, usage.usage("midcall doctor", plain_line(str(error)))) from None
    report = asyncio.run(_looked_at(installation))
    if as_json:
        print_out(json_text(report.as_data(), ascii=sys.stdout.isatty()))
    else:
        ink = Ink.on_stream(sys.stdout)
        print_out(f"{ink.bold(plain_line(report.server))}\n")
        for heading, findings in report.sections().items():
            print_out(f"\n{ink.bold(heading)}\n{_told(findings, ink)}")
    return TOOL_FAILED if report.broken else DONE


async def _looked_at(installation: Installation) -> Any:
    try:
        return await looked_at(installation)
    finally:
        await installation.close()


def _told(findings: Sequence[Finding], ink: Ink) -> str:
    widest = max((len(finding.name) for finding in findings), default=0)
    return "".join(line for finding in findings for line in _lines(finding, widest, ink))


def _lines(finding: Finding, widest: int, ink: Ink) -> Iterable[str]:
    texts = [*_wrapped(finding.text, widest), *_wrapped(finding.advice and f"→ {finding.advice}", widest)]
    for index, text in enumerate(texts):
        before = f"{_mark(finding.state, ink)} {finding.name:<{widest}}" if index == 0 else " " * (widest + 2)
        yield f"  {before}  {text}\n"


def _mark(state: State, ink: Ink) -> str:
    match state:
        case "ok":
            return ink.good("✓")
        case "off":
            return ink.dim("–")
        case "doubtful":
            return ink.warn("!")
        case "broken":
            return ink.bad("✗")


def _wrapped(text: str, indent: int) -> list[str]:
    columns = max(30, min(shutil.get_terminal_size().columns, _WIDEST) - indent - 6)
    return textwrap.wrap(plain_line(text), columns, break_long_words=False, break_on_hyphens=False)


# --- the client's side ---------------------------------------------------------------------------
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


async def _visit(link: Link, *, as_json: bool) -> int:
    async with link.connected(_Obliging()) as client:
        names = [tool.name for tool in await tools_of(client)]
        probe = await _probed(client, link) if PROBE in names else None
        info, version = client.server_info, client.protocol_version
    title = plain_line((info.title or info.name) if info else "")
    findings = _offers(names, probe)
    if as_json:
        offered = [asdict(finding) for finding in findings]
        print_out(json_text(_data(title, version, names, offered, probe), ascii=sys.stdout.isatty()))
    else:
        ink = Ink.on_stream(sys.stdout)
        print_out(
            f"{ink.bold(title)}  {ink.dim(version)}\n\n{ink.bold(wording.offers_heading())}\n{_told(findings, ink)}"
        )
        if isinstance(probe, CallToolResult) and not probe.is_error:
            print_out(f"\n{_text(probe)}\n")
    return TOOL_FAILED if any(finding.state == "broken" for finding in findings) else DONE


def _data(title: str, version: str, names: list[str], findings: list[Any], probe: CallToolResult | str | None) -> Any:
    data: dict[str, Any] = {"server": title, "protocol": version, "tools": names, "findings": findings}
    if isinstance(probe, CallToolResult):
        data["probe"] = probe.structured_content
    return data


def _text(result: CallToolResult) -> str:
    return plain("\n".join(block.text for block in result.content if isinstance(block, TextContent)))


async def _probed(client: Client, link: Link) -> CallToolResult | str:
    """What the probe found; a sentence where it failed."""
    try:
        async with asyncio.timeout(link.timeout):
            result = await client.call_tool(PROBE, {"timeout": _PROBE_SECONDS})
            if code := (result.meta or {}).get(CODE_META):  # a version without URL mode: the visit is shown as a link
                result = await client.call_tool(CONTINUE, {"code": code})
            return result
    except TimeoutError:
        return usage.no_result_within(link.timeout or 0)
    except MCPError as error:
        return error.message


def _offers(names: Sequence[str], probe: CallToolResult | str | None) -> list[Finding]:
    own = [plain_line(name) for name in names]
    found = [Finding("tools", "ok" if names else "off", wording.tools_listed(own))]
    goes_on = CONTINUE in names
    found.append(Finding("later", *(("ok", wording.goes_on()) if goes_on else ("off", wording.does_not_go_on()))))
    match probe:
        case None:
            found.append(Finding("probe", "off", wording.no_probe_there()))
        case str():
            found.append(Finding("probe", "broken", wording.probe_failed(probe)))
        case _ if (probe.meta or {}).get(CODE_META):
            found.append(Finding("probe", "doubtful", wording.probe_unfinished()))
        case _ if probe.is_error:
            found.append(Finding("probe", "broken", wording.probe_failed(_text(probe))))
        case _:
            found.append(Finding("probe", "ok", wording.probe_was_run()))
    return found
