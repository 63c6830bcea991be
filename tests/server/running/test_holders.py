"""A code, or an App, continues a call only for the caller that made it, even if no page of the portal knows callers."""

from __future__ import annotations

import time
from typing import Any

import pytest
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp_types import CallToolResult
from pydantic import AnyHttpUrl

import midcall
from midcall.portal import Portal
from midcall.stores.memory import Memory
from tests.auditing import Trail
from tests.calling import Round, begin, finish, retry, send
from tests.rounds import text
from tests.server.codes import KEYS, code_of
from tests.server.running.test_over_http import client_with
from tests.serving import served


class Tokens:
    """A token names its user and its client, as in "ada@laptop"; one without a user names the client alone."""

    async def verify_token(self, token: str) -> AccessToken:
        user, _, client = token.partition("@")
        return AccessToken(
            token=token, client_id=client, scopes=[], subject=user or None, expires_at=int(time.time()) + 60
        )


def signed_in(**options: Any) -> MCPServer[Any]:
    auth = AuthSettings(
        issuer_url=AnyHttpUrl("https://id.example.com"),
        resource_server_url=AnyHttpUrl("https://mcp.example.com/mcp"),
        validate_token_resource=False,
    )
    server: MCPServer[Any] = MCPServer("test", auth=auth, token_verifier=Tokens())
    server.add_tool(tell)
    midcall.install(server, max_rounds=1, **options)
    return server


async def tell() -> str:
    """The answers of one user."""
    return f"{await midcall.ask('a?', str)} {await midcall.ask('b?', str)}"


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


USERS = ("ada@app", "bob@app")
CLIENTS = ("@app", "@other")
NOBODY = "https://mcp.example.com"
"""The address of a portal that recognizes nobody."""


@pytest.mark.parametrize(
    ("options", "mine", "theirs"),
    [
        ({}, *USERS),
        ({}, *CLIENTS),
        ({}, "ada@app", "@app"),
        ({"store": True}, *USERS),
        ({"store": True}, *CLIENTS),
        ({"store": True, "portal": NOBODY}, *USERS),
        ({"store": True, "portal": NOBODY}, *CLIENTS),
        ({"store": True, "portal": None}, *USERS),
    ],
)
async def test_a_code_that_somebody_else_has_read_does_not_work_for_them(
    options: dict[str, Any], mine: str, theirs: str
) -> None:
    settings: dict[str, Any] = {"keys": KEYS, "store": Memory()} if "store" in options else {}
    if "portal" in options:
        settings["portal"] = Portal(options["portal"])
    async with (
        served(signed_in(**settings)) as url,
        client_with(url, bearer(mine)) as ada,
        client_with(url, bearer(theirs)) as bob,
    ):
        ended = await retry(ada, await begin(ada, "tell"), {"a?": "private"})
        assert isinstance(ended, CallToolResult)
        code = {"code": code_of(ended)}
        stolen = await send(bob, "midcall_continue", code)
        assert isinstance(stolen, CallToolResult)
        assert "This code does not work" in text(stolen)
        resumed = await send(ada, "midcall_continue", code)
        assert isinstance(resumed, Round)
        assert await finish(ada, resumed, {"b?": "2"}) == "private 2"


async def test_a_user_continues_with_another_client() -> None:
    async with (
        served(signed_in(keys=KEYS, store=Memory(), portal=Portal(NOBODY))) as url,
        client_with(url, bearer("ada@laptop")) as laptop,
        client_with(url, bearer("ada@phone")) as phone,
    ):
        ended = await retry(laptop, await begin(laptop, "tell"), {"a?": "1"})
        assert isinstance(ended, CallToolResult)
        resumed = await send(phone, "midcall_continue", {"code": code_of(ended)})
        assert isinstance(resumed, Round)
        assert await finish(phone, resumed, {"b?": "2"}) == "1 2"


async def test_a_code_is_its_users_even_if_the_call_was_continued_for_another_replica() -> None:
    """There the call continues without a request, and so without an access token."""
    store = Memory()
    here, there = (signed_in(keys=KEYS, store=store, portal=Portal(NOBODY)) for _ in range(2))
    async with (
        served(here) as one,
        served(there) as other,
        client_with(one, bearer("ada@app")) as ada,
        client_with(other, bearer("ada@app")) as again,
        client_with(other, bearer("bob@app")) as bob,
    ):
        ended = await retry(again, await begin(ada, "tell"), {"a?": "private"})
        assert isinstance(ended, CallToolResult)
        stolen = await send(bob, "midcall_continue", {"code": code_of(ended)})
        assert isinstance(stolen, CallToolResult)
        resumed = await send(again, "midcall_continue", {"code": code_of(ended)})
        assert isinstance(resumed, Round)
        assert await finish(again, resumed, {"b?": "2"}) == "private 2"


async def test_the_audit_trail_names_a_user_whom_no_page_knows() -> None:
    trail = Trail()
    server = signed_in(keys=KEYS, store=Memory(), portal=Portal(NOBODY), audit=trail.audit)
    async with served(server) as url, client_with(url, bearer("ada@app")) as client:
        await begin(client, "tell")
    assert [(event.name, event.user) for event in await trail.events()] == [("question.asked", "␣ada")]
