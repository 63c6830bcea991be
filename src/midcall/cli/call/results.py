"""Format the result of a tool for people."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from typing import Any, cast

from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from midcall.cli.call.arguments import parse


def as_text(result: CallToolResult, safe: Callable[[str], str]) -> str:
    """Format the content. `safe` makes the server's text safe for the place it goes to."""
    lines = [safe(line) for line in _blocks(result)]
    if result.structured_content is not None and not _is_repeated(result.structured_content, result):
        lines.append(safe(json.dumps(result.structured_content, indent=2, ensure_ascii=False)))
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _blocks(result: CallToolResult) -> Iterable[str]:
    for block in result.content:
        match block:
            case TextContent():
                yield block.text
            case ImageContent() | AudioContent():
                yield _describe(block.type, block.mime_type, _size(block.data))
            case ResourceLink():
                yield f"[link: {block.title or block.name}, {block.uri!s}]"
            case EmbeddedResource(resource=TextResourceContents() as resource):
                yield f"[{resource.uri!s}]\n{resource.text}"
            case EmbeddedResource(resource=resource):
                size = _size(getattr(resource, "blob", ""))
                yield _describe(str(resource.uri), resource.mime_type or "", size)
            case _:
                yield f"[{block.type}]"


def _size(data: str) -> int:
    try:
        return len(base64.b64decode(data))
    except ValueError:
        return len(data)


def _is_repeated(structured: Any, result: CallToolResult) -> bool:
    """Whether the content has the same data: servers send both, for clients that only know one."""
    fields = cast("dict[str, Any]", structured) if isinstance(structured, dict) else {}
    value = cast("Any", fields["result"] if set(fields) == {"result"} else structured)
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    spoken = [parse(text) for text in texts]
    blocks = [block.model_dump(mode="json", by_alias=True) for block in result.content]
    same = [texts, spoken, _without_nulls(blocks)]
    return structured in spoken or value in spoken or value in texts or _without_nulls(value) in same


def _without_nulls(value: Any) -> Any:
    match value:
        case dict():
            found = cast("dict[str, Any]", value).items()
            return {name: _without_nulls(part) for name, part in found if part is not None}
        case list():
            return [_without_nulls(part) for part in cast("list[Any]", value)]
        case _:
            return value


def _describe(name: str, kind: str, size: int) -> str:
    shown = f"{size / 1024:.1f} KB" if size >= 1024 else f"{size} bytes"
    return f"[{', '.join(piece for piece in (name, kind, shown) if piece)}]"
