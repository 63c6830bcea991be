"""Clients that can show less than a form, and what they do with what they get."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import httpx2
from mcp import Client
from mcp_types import CallToolResult

from tests.portal.sites import Visitor
from tests.server.codes import code_of, shown
from tests.server.people import Act

NOTHING: tuple[Any, ...] = ()


def sends(**values: Any) -> Act:
    """Fills the form on the page, by the names of its fields."""

    async def act(visitor: Visitor, id: str) -> None:
        page = (await visitor.open(id)).text
        answer = await visitor.press(id, "accept", posted(page, values))
        assert answer.status_code < 400, answer.text

    return act


def posted(page: str, values: dict[str, Any]) -> dict[str, str]:
    """The controls that carry these values: labels name the fields, in the order of the form."""
    names = list(dict.fromkeys(re.findall(r'name="(f[^"]*?)"', page)))
    assert len(names) == len(values), (names, values)
    return dict(zip(names, map(str, values.values()), strict=True))


def addresses(result: CallToolResult) -> list[str]:
    return re.findall(r"^  (http\S+)$", shown(result), re.MULTILINE)


async def do(result: CallToolResult, *acts: Act) -> None:
    """A person opens the addresses in a result, in order."""
    for url, act in zip(addresses(result), acts, strict=True):
        where = urlsplit(url)
        origin = f"{where.scheme}://{where.netloc}"
        async with httpx2.AsyncClient(base_url=origin) as http:
            await act(Visitor(http, "", origin), where.path.rpartition("/")[2])


async def relayed(client: Client, result: CallToolResult, **answer: Any) -> CallToolResult:
    return await client.call_tool("midcall_answer", {"code": code_of(result), **answer})
