"""`midcall tools`: list the tools of a server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_types import Tool
from rich.console import Group, RenderableType
from rich.text import Text

from midcall.cli.connection import UNUSABLE, ServerLink, list_tools, list_unusable
from midcall.cli.console import columns, heading, indent, print_parts
from midcall.cli.exits import DONE, TOOL_FAILED
from midcall.cli.stdout import print_json
from midcall.cli.tools.schemas import describe, kinds_of, required_of
from midcall.client.automatic.headless import Headless
from midcall.client.connection.incoming import server_of
from midcall.client.lines.excerpt import one_line
from midcall.core.text import plain
from midcall.settings.cli import TOOL_TEXT_CHARACTERS


def run(link: ServerLink, *, as_json: bool) -> int:
    """List the tools."""
    return link.run(_list(link, as_json=as_json))


async def _list(link: ServerLink, *, as_json: bool) -> int:
    # Listing asks nothing, but some servers list tools only for clients that can be asked, as `midcall call` can.
    async with link.connect(Headless()) as client:
        tools, unusable = await list_tools(client), list_unusable(client)
        (title, release), version = server_of(client.session), client.protocol_version
    if as_json:
        listed = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        print_json(listed)
    else:
        about = " · ".join(piece for piece in (one_line(release or "", 30), version) if piece)
        print_parts(
            heading(one_line(title) or "The server", about),
            *(map(_draw_tool, tools) if tools else ["It has no tools."]),
        )
    for name, why in unusable.items():
        link.console.report(UNUSABLE.format(name=one_line(name), why=why))
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
    required = frozenset(required_of(schema))
    for name, kind in kinds_of(schema).items():
        known = schema["properties"][name]
        part: Mapping[str, Any] = cast("Any", known) if isinstance(known, Mapping) else {}  # or true, or false
        notes = [one_line(describe(kind))]
        if name in required:
            notes.append("required")
        elif part.get("default") is not None:
            default = part["default"]
            shown = default if isinstance(default, str) else json.dumps(default, ensure_ascii=False)
            notes.append(f"default {one_line(shown)}")
        about = Text(" · ".join(notes), "dim")
        if description := _shorten(str(part.get("description") or "")):
            about.append_text(Text(f"\n{description}", "not dim"))
        yield Text(f"{one_line(name)}{'*' if name in required else ''}", "bold"), about


def _shorten(text: str) -> str:
    return plain(text[:TOOL_TEXT_CHARACTERS]).strip() + ("…" if len(text) > TOOL_TEXT_CHARACTERS else "")
