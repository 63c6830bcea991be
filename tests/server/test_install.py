"""install: one line on three kinds of server, and nothing else changes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp import Client, MCPError
from mcp.server.lowlevel.server import Server
from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateSecurity

import midcall
from midcall import Choice, InstallError, ask, visit
from midcall.portal.app import Portal
from midcall.server.install import find_place
from midcall.server.installation import installation_on
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, connect, run
from tests.kinds import KINDS, Kind, bare_server, server_with
from tests.mistakes import mistake_in
from tests.rounds import accept, raw_call


@pytest.mark.parametrize("kind", KINDS)
def test_installing_twice_is_a_clear_error(kind: Kind) -> None:
    server = bare_server(kind)
    midcall.install(server)
    with pytest.raises(InstallError, match="once per server"):
        midcall.install(server)


@pytest.mark.parametrize("thing", [None, object(), "server", MCPServer, 7])
def test_installing_on_something_that_is_not_a_server_is_a_clear_error(thing: Any) -> None:
    with pytest.raises(InstallError, match="MCPServer, a low-level Server or a FastMCP"):
        midcall.install(thing)


@pytest.mark.parametrize("reason", [True, 1, "", "  ", ["password"]])
def test_why_a_field_is_no_secret_is_a_reason_in_words(reason: Any) -> None:
    with pytest.raises(InstallError, match="must be the reason, as text"):
        midcall.install(bare_server("mcpserver"), not_secret=reason)


def test_the_server_inside_another_counts_as_the_same() -> None:
    server: MCPServer[Any] = MCPServer("x")
    midcall.install(server)
    with pytest.raises(InstallError):
        midcall.install(server._lowlevel_server)


@pytest.mark.parametrize(
    "keys",
    [
        ["short"],
        [b"x" * 31],
        ["k key of the tests: 0123456789abcdef", "k key of the tests: 0123456789abcdef"],
        [17],
        "",
    ],
)
def test_keys_that_cannot_be_used_are_refused_without_being_shown(keys: Any) -> None:
    with pytest.raises(InstallError) as caught:
        midcall.install(MCPServer("x"), keys=keys)
    assert str(caught.value).count("secrets.token_hex") == 1
    assert "kkkk" not in str(caught.value)


@pytest.mark.parametrize(
    "options",
    [
        *({"state_ttl": "1h"}, {"state_ttl": float("inf")}, {"max_rounds": 0}),
        *({"portal": True}, {"portal": "https://x.example"}, {"portal": Portal}, {"store": 3}, {"store": Memory}),
        *({"principal": "ada"}, {"relay": True}),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_are_refused_by_their_name(options: dict[str, Any]) -> None:
    server: MCPServer[Any] = MCPServer("x")
    with pytest.raises(InstallError, match=f"{next(iter(options))}="):
        midcall.install(server, **options)
    midcall.install(server)


async def test_a_server_on_which_nobody_installed_midcall_says_so_in_its_log(caplog: pytest.LogCaptureFixture) -> None:
    server: MCPServer[Any] = MCPServer("x")

    @server.tool()
    async def tool() -> str:
        return await ask("Name?", str)

    async with connect(server) as client:
        with pytest.raises(MCPError, match="a problem in the server itself"):
            await client.call_tool("tool", {})
    assert "midcall.install(" in caplog.text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asks_for", [lambda: list, lambda: Choice("seat", [])], ids=["type", "field"])
async def test_the_log_of_a_mistake_names_the_tool_and_shows_its_line(
    asks_for: Callable[[], Any], kind: Kind, caplog: pytest.LogCaptureFixture
) -> None:
    async def tool() -> str:
        return await ask("Name?", asks_for())

    assert (await mistake_in(tool, caplog, kind=kind)).startswith("InvalidForm in 'tool': ")
    assert 'return await ask("Name?", asks_for())' in caplog.text


async def test_why_nobody_could_be_asked_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        return await midcall.secret("github", "A token")

    async with connect(server_with(tool), [], era="2025-11-25") as client:
        for _ in range(3):
            await client.call_tool("tool", {})
    [told] = [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]
    assert "portal" in told


async def test_keys_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    async def tool() -> str:
        return await ask("?", str, key="q")

    first, second = "a key of the tests: 0123456789abcdef", "b key of the tests: 0123456789abcdef"
    monkeypatch.setenv("MIDCALL_KEYS", first)
    here = server_with(tool)
    monkeypatch.setenv("MIDCALL_KEYS", f"{second}, {first}")
    rotated = server_with(tool)
    monkeypatch.setenv("MIDCALL_KEYS", second)
    later = server_with(tool)
    async with connect(here) as one, connect(rotated) as two, connect(later) as three:
        old = (await raw_call(one, "tool", {}))["requestState"]
        new = (await raw_call(two, "tool", {}))["requestState"]
        answers = {"q": accept(answer="x")}
        for client, state in ((two, old), (three, new)):
            assert (await raw_call(client, "tool", {}, state=state, answers=answers))["content"][0]["text"] == "x"
        with pytest.raises(MCPError):
            await raw_call(three, "tool", {}, state=old, answers=answers)


async def test_an_authors_own_policy_is_kept() -> None:
    async def tool() -> str:
        return await ask("?", str, key="q")

    security = RequestStateSecurity(keys=["s key of the tests: 0123456789abcdef"], ttl=77)
    servers: list[Any] = []
    for _ in range(2):
        server: MCPServer[Any] = MCPServer("x", request_state_security=security)
        server.add_tool(tool)
        assert midcall.install(server).state_ttl == 77
        servers.append(server)
    async with connect(servers[0]) as one, connect(servers[1]) as two:
        state = (await raw_call(one, "tool", {}))["requestState"]
        done = await raw_call(two, "tool", {}, state=state, answers={"q": accept(answer="x")})
        assert done["content"][0]["text"] == "x"


def test_states_live_an_hour_by_default() -> None:
    assert midcall.install(MCPServer("x")).state_ttl == 3600
    assert midcall.install(MCPServer("x"), state_ttl=60).state_ttl == 60
    assert midcall.install(Server("x")).state_ttl == 3600


# --- tools that never ask --------------------------------------------------------------------


async def adds(a: int, b: int) -> int:
    return a + b


async def breaks() -> str:
    raise ValueError("inner detail")


def sync(a: str) -> list[str]:
    return [a, a]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("era", ERAS)
async def test_tools_that_never_ask_give_the_same_results_and_the_same_errors(kind: Kind, era: Era) -> None:
    async def outcome(server: Any, tool: str, arguments: dict[str, Any]) -> Any:
        try:
            return (await run(server, tool, arguments, era=era)).result.model_dump(exclude={"meta"})
        except MCPError as exc:
            return exc.code, exc.message, exc.data

    for tool, arguments in (
        ("adds", {"a": 1, "b": 2}),
        ("adds", {"a": "x"}),
        ("breaks", {}),
        ("sync", {"a": "z"}),
        ("unknown", {}),
    ):
        plain = await outcome(bare_server(kind, adds, breaks, sync), tool, arguments)
        with_us = await outcome(server_with(adds, breaks, sync, kind=kind), tool, arguments)
        assert with_us == plain


async def test_the_rest_of_the_protocol_is_untouched() -> None:
    server: MCPServer[Any] = MCPServer("x")

    @server.prompt()
    def hello() -> str:
        return "hello"

    @server.resource("data://x")
    def data() -> str:
        return "data"

    midcall.install(server)
    async with Client(server) as client:
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["hello"]
        assert (await client.get_prompt("hello")).messages
        assert (await client.read_resource("data://x")).contents


# --- the key of this process -----------------------------------------------------------------


async def test_a_process_local_key_over_http_is_warned_about_loudly_and_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    async def over_http(server: Any) -> list[str]:
        caplog.clear()
        app = server.streamable_http_app()
        async with app.router.lifespan_context(app):
            for _ in range(2):
                http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://127.0.0.1:8000")
                transport = streamable_http_client("http://127.0.0.1:8000/mcp", http_client=http)
                await run(transport, "adds", {"a": 1, "b": 2})
        return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]

    [warning] = await over_http(server_with(adds))
    assert "MIDCALL_KEYS" in warning
    assert await over_http(server_with(adds, keys="k key of the tests: 0123456789abcdef")) == []


async def test_in_memory_and_over_stdio_nothing_is_warned_about(caplog: pytest.LogCaptureFixture) -> None:
    await run(server_with(adds), "adds", {"a": 1, "b": 2})
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


# --- the keys of this machine ----------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's directory with nothing in it, and no keyring."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("MIDCALL_KEYS", raising=False)
    monkeypatch.setattr("midcall.stores.keys._from_keyring", lambda: None)
    monkeypatch.setattr("midcall.stores.keys._into_keyring", lambda key: False)
    return tmp_path


async def asks() -> str:
    return await ask("?", str, key="q")


async def waits() -> str:
    return await visit("Go", "https://example.com/x", id="named", wait=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("with_portal", [False, True])
async def test_on_one_machine_a_restarted_server_accepts_its_old_states_and_codes(
    home: Path, kind: Kind, with_portal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("midcall.server.resuming.visits.HOLD_SECONDS", 0.01)

    def started() -> tuple[Any, midcall.Installation]:
        portal = Portal() if with_portal else None
        server = server_with(asks, waits, kind=kind, store=f"sqlite://{home / 'store.db'}", portal=portal)
        installation = installation_on(server)
        assert installation is not None
        return server, installation

    server, installation = started()
    assert installation.whose_keys == "machine"
    async with connect(server) as client, connect(server, ["go"], era="2025-11-25") as other:
        state = (await raw_call(client, "asks", {}))["requestState"]
        code = ((await other.call_tool("waits", {})).meta or {})["midcall/code"]
    await installation.close()
    server, installation = started()
    async with connect(server) as client:
        done = await raw_call(client, "asks", {}, state=state, answers={"q": accept(answer="x")})
        assert done["content"][0]["text"] == "x"
        await installation.complete("named")
        assert "named" in str(await client.call_tool("midcall_continue", {"code": code}))
    await installation.close()


async def test_keys_that_were_given_and_a_policy_of_the_authors_own_come_before_those_of_the_machine(
    home: Path,
) -> None:
    store = f"sqlite://{home / 'store.db'}"
    assert (
        midcall.install(MCPServer("x"), store=store, keys="k key of the tests: 0123456789abcdef").whose_keys == "author"
    )
    own: MCPServer[Any] = MCPServer(
        "x", request_state_security=RequestStateSecurity(keys=["s key of the tests: 0123456789abcdef"], ttl=77)
    )
    assert midcall.install(own, store=store).whose_keys == "server"
    assert midcall.install(MCPServer("x"), store=Memory()).whose_keys == "process"
    assert midcall.install(MCPServer("x")).whose_keys == "process"


class Codec:
    """An author's own codec, which lets anyone read a state."""

    def seal(self, payload: bytes) -> str:
        return payload.hex()

    def unseal(self, token: str) -> bytes:
        return bytes.fromhex(token)


@pytest.mark.parametrize(
    "policy",
    [
        {"keys": ["s key of the tests: 0123456789abcdef"], "audience": "mine"},
        {"keys": ["s key of the tests: 0123456789abcdef"], "bind_principal": str},
        {"codec": Codec()},
    ],
    ids=["audience", "principal", "codec"],
)
async def test_any_setting_of_an_author_for_states_makes_the_policy_the_authors(
    home: Path, policy: dict[str, Any]
) -> None:
    own: MCPServer[Any] = MCPServer("x", request_state_security=RequestStateSecurity(**policy))
    assert midcall.install(own, store=f"sqlite://{home / 'store.db'}").whose_keys == "server"


async def test_a_machine_without_a_place_for_keys_costs_a_store_nothing(home: Path) -> None:
    (home / "midcall").write_text("this is not a directory")
    (home / "Library").write_text("nor is this")
    store = f"sqlite://{home / 'store.db'}"
    assert midcall.install(MCPServer("x"), store=store).whose_keys == "process"
    with pytest.raises(InstallError):
        midcall.install(MCPServer("x"), store=store, portal=Portal())


# --- which server this is ----------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_is_identified_by_its_name_and_its_namespace_on_every_replica(kind: Kind) -> None:
    first, second = (midcall.install(bare_server(kind, name="shop")).identity for _ in range(2))
    assert first == second
    assert first.of_records != midcall.install(bare_server(kind, name="bank")).identity.of_records
    staging = midcall.install(bare_server(kind, name="shop"), namespace="staging").identity
    assert staging.of_records not in (first.of_records, replace(staging, name="bank").of_records)
    assert staging.of_records == replace(staging, place="/elsewhere").of_records


def test_a_local_vault_is_named_by_the_place_of_its_server_too() -> None:
    here = midcall.install(bare_server("mcpserver", name="shop")).identity
    here, elsewhere = (replace(here, place=place) for place in ("/here/server.py", "/elsewhere/server.py"))
    assert here.of_vault(local=True) != elsewhere.of_vault(local=True)
    assert here.of_vault(local=False) == elsewhere.of_vault(local=False)
    shared = [replace(each, namespace="mine").of_vault(local=True) for each in (here, elsewhere)]
    assert shared[0] == shared[1]


def test_the_place_of_a_server_is_its_program_or_what_a_launcher_runs(tmp_path: Path) -> None:
    server, program, launcher = tmp_path / "server.py", tmp_path / "shop-server", tmp_path / "fastmcp"
    for path in (server, program, launcher):
        path.touch()
    for command in ([server], [server, "--fast"], [launcher, "run", server], [launcher, "run", f"{server}:mcp"]):
        assert find_place([str(part) for part in command]) == str(server.resolve())
    assert find_place([str(program), str(server)]) == str(program.resolve()), "its own argument"
    assert find_place(["-c"]) == find_place([]) == ""


def test_a_name_that_fastmcp_made_up_does_not_count() -> None:
    first, second = (midcall.install(FastMCP()).identity for _ in range(2))
    assert first.of_records == second.of_records


def test_the_operator_sets_the_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_NAMESPACE", "staging")
    assert midcall.install(bare_server("mcpserver")).identity.namespace == "staging"
    assert midcall.install(bare_server("mcpserver"), namespace="mine").identity.namespace == "mine"


@pytest.mark.parametrize("wrong", ["", "  ", 7])
def test_a_namespace_is_a_name(wrong: Any) -> None:
    with pytest.raises(InstallError, match="must be a name"):
        midcall.install(bare_server("mcpserver"), namespace=wrong)
