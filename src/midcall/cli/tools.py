"""`midcall tools`: what a server can be asked to do."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from mcp_types import Tool

from midcall.cli.call.results import as_json as json_text
from midcall.cli.call.schemas import described, kinds_of
from midcall.cli.connection import Link, tools_of, unusable_of
from midcall.cli.console import print_out
from midcall.cli.exits import DONE, TOOL_FAILED
from midcall.client.asked import Asked
from midcall.client.lines.colors import Ink
from midcall.client.lines.columns import one_line
from midcall.core.outcome import Cancelled
from midcall.core.text import plain
from midcall.wording import cli as wording
from midcall.wording.client.questions import unnamed_server

__all__ = ["run"]

_WIDEST: Final = 100
_MOST_TEXT: Final = 5_000


class _Nobody:
    """Listing asks nothing. But servers list some tools only for clients that can be asked, as `midcall call` can."""

    async def answer(self, asked: Asked) -> Cancelled:
        return Cancelled()


def run(link: Link, *, as_json: bool) -> int:
    """List the tools."""
    return link.run(_list(link, as_json=as_json))


async def _list(link: Link, *, as_json: bool) -> int:
    async with link.connected(_Nobody()) as client:
        tools, unusable = await tools_of(client), unusable_of(client)
        info, version = client.server_info, client.protocol_version
    if as_json:
        listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        print_out(json_text(listed, ascii=sys.stdout.isatty()))
        return _end(link, unusable)
    ink = Ink.on_stream(sys.stdout)
    name = one_line((info.title or info.name) if info else "") or unnamed_server()
    about = " · ".join(piece for piece in (one_line((info and info.version) or "", 30), version) if piece)
    print_out(f"{ink.bold(name)}  {ink.dim(about)}\n")
    print_out("".join(_told(tool, ink) for tool in tools) if tools else f"{_no_tools()}\n")
    return _end(link, unusable)


def _end(link: Link, unusable: Mapping[str, str]) -> int:
    """A list is not done if a part of it cannot be understood."""
    for name, why in unusable.items():
        link.failed(wording.unusable_tool(one_line(name), why))
    return TOOL_FAILED if unusable else DONE


def _told(tool: Tool, ink: Ink) -> str:
    lines = [f"\n{ink.accent(one_line(tool.name))}\n"]
    lines += [f"  {line}\n" for line in _wrapped(tool.description or tool.title or "", 2)]
    lines += _arguments(tool.input_schema, ink)
    return "".join(lines)


def _arguments(schema: Mapping[str, Any], ink: Ink) -> Iterable[str]:
    """A line for each: its name, what it is, whether it must be there, and what the tool says of it."""
    kinds = kinds_of(schema)
    required = set(cast("Iterable[str]", schema.get("required") or ()))
    names = {name: f"{one_line(name)}{'*' if name in required else ''}" for name in kinds}
    widest = max(map(len, names.values()), default=0)
    for name, kind in kinds.items():
        part = _part(schema["properties"][name])
        notes = [one_line(described(kind))]
        if name in required:
            notes.append("required")
        elif part.get("default") is not None:
            notes.append(f"default {one_line(_value(part['default']))}")
        yield f"  {ink.bold(names[name])}{' ' * (widest - len(names[name]))}  {ink.dim(' · '.join(notes))}\n"
        for line in _wrapped(str(part.get("description") or ""), widest + 4):
            yield f"{' ' * (widest + 4)}{line}\n"


def _part(schema: Any) -> Mapping[str, Any]:
    """A schema may also be a bare yes or no."""
    return cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else {}


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _wrapped(text: str, indent: int) -> list[str]:
    columns = max(30, min(shutil.get_terminal_size().columns, _WIDEST) - indent)
    shown = plain(text[:_MOST_TEXT]).strip() + ("…" if len(text) > _MOST_TEXT else "")
    return [piece for line in shown.splitlines() for piece in (textwrap.wrap(line, columns) or [""])]


def _no_tools() -> str:
    return "It has no tools."
