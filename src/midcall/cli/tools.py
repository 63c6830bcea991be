"""`midcall tools`: list the tools of a server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_types import Tool
from rich.console import Group, RenderableType
from rich.text import Text

from midcall.cli.connection import UNUSABLE, ServerLink, list_tools, list_unusable
from midcall.cli.console import columns, heading, indent, print_json, print_parts
from midcall.cli.exits import DONE, TOOL_FAILED
from midcall.cli.schemas import describe, kinds_of
from midcall.client.asked import Asked
from midcall.client.lines.excerpt import one_line
from midcall.core.outcome import Cancelled
from midcall.core.text import plain
from midcall.settings.cli import TOOL_TEXT_CHARACTERS


class _Nobody:
    """Listing asks nothing, but some servers list tools only for clients that can be asked, as `midcall call` can."""

    async def answer(self, asked: Asked) -> Cancelled:
        return Cancelled()


def run(link: ServerLink, *, as_json: bool) -> int:
    """List the tools."""
    return link.run(_list(link, as_json=as_json))


async def _list(link: ServerLink, *, as_json: bool) -> int:
    async with link.connect(_Nobody()) as client:
        tools, unusable = await list_tools(client), list_unusable(client)
        info, version = client.server_info, client.protocol_version
    if as_json:
        listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        print_json(listed)
    else:
        name = one_line((info.title or info.name) if info else "") or "The server"
        about = " · ".join(piece for piece in (one_line((info and info.version) or "", 30), version) if piece)
        print_parts(heading(name, about), *(map(_draw_tool, tools) if tools else ["It has no tools."]))
    return _end(link, unusable)


def _end(link: ServerLink, unusable: Mapping[str, str]) -> int:
    """Fail if a part of the list can't be understood."""
    for name, why in unusable.items():
        link.report(UNUSABLE.format(name=one_line(name), why=why))
    return TOOL_FAILED if unusable else DONE


def _draw_tool(tool: Tool) -> RenderableType:
    parts: list[RenderableType] = [Text(), Text(one_line(tool.name), "cyan")]
    if description := _shorten(tool.description or tool.title or ""):
        parts.append(indent(Text(description)))
    if arguments := list(_describe_arguments(tool.input_schema)):
        parts.append(indent(columns(arguments)))
    return Group(*parts)


def _describe_arguments(schema: Mapping[str, Any]) -> Iterator[tuple[Text, Text]]:
    """For each argument its name, its type, whether it's required, and its description."""
    listed: Any = schema.get("required")
    names = cast("list[Any]", listed) if isinstance(listed, list) else []
    required = frozenset(name for name in names if isinstance(name, str))
    for name, kind in kinds_of(schema).items():
        part = _part(schema["properties"][name])
        notes = [one_line(describe(kind))]
        if name in required:
            notes.append("required")
        elif part.get("default") is not None:
            notes.append(f"default {one_line(_format_value(part['default']))}")
        about = Text(" · ".join(notes), "dim")
        if description := _shorten(str(part.get("description") or "")):
            about.append_text(Text(f"\n{description}", "not dim"))
        yield Text(f"{one_line(name)}{'*' if name in required else ''}", "bold"), about


def _part(schema: Any) -> Mapping[str, Any]:
    """A schema can also be true or false."""
    return cast("Mapping[str, Any]", schema) if isinstance(schema, Mapping) else {}


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shorten(text: str) -> str:
    return plain(text[:TOOL_TEXT_CHARACTERS]).strip() + ("…" if len(text) > TOOL_TEXT_CHARACTERS else "")
