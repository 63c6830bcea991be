"""One line, and a tool that asks runs once: on every version, by all means, over every transport."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastmcp import FastMCP
from mcp import Client
from mcp.server.mcpserver import Context
from pydantic import Field

import midcall
from midcall.stores import open_store
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, Script, connect, run
from tests import charging
from tests.calling import MEANS, Elicit, Means, Word, asking, bare_asking, begin, finish, proceed
from tests.every_way import WAYS, Way, end_of
from tests.every_way import asking as every_way
from tests.kinds import KINDS, Kind, bare_server, server_with
from tests.rounds import text
from tests.serving import serving, stdio

SERVER = Path(charging.__file__)
ANSWERS = {"a?": "1", "b?": "2"}
KEYS = ["k key of the tests: 0123456789abcdef"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("means", MEANS)
async def test_an_effect_before_two_questions_happens_once(means: Means, era: Era) -> None:
    effects: list[str] = []

    async def charge(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')} {await elicit('b?')}"

    done = await run(asking(means, charge), "charge", {}, ANSWERS, era=era)
    assert (done.text, effects) == ("1 2", ["charged"])


async def test_it_runs_once_for_a_client_that_is_connected_without_a_transport() -> None:
    effects: list[str] = []

    async def charge(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')} {await elicit('b?')}"

    async with Client(asking("mcpserver", charge), mode="2026-07-28", elicitation_callback=Script(ANSWERS)) as client:
        assert text(await client.call_tool("charge", {})) == "1 2"
    assert effects == ["charged"]


async def test_the_code_between_two_questions_runs_once() -> None:
    trail: list[str] = []

    async def tool(elicit: Elicit) -> str:
        for name in "abc":
            trail.append(name)
            await elicit(f"{name}?")
        return "".join(trail)

    done = await run(asking("mcpserver", tool), "tool", {}, {**ANSWERS, "c?": "3"})
    assert (done.text, done.rounds) == ("abc", 3)


async def test_many_calls_that_wait_at_once_continue_with_their_own_answers() -> None:
    effects: list[str] = []

    async def tool(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')}{await elicit('b?')}"

    async with connect(asking("mcpserver", tool)) as client:
        firsts = [await begin(client, "tool") for _ in range(20)]
        seconds = [await proceed(client, each, {"a?": str(n)}) for n, each in enumerate(firsts)]
        results = [await finish(client, each, {"b?": "!"}) for each in reversed(seconds)]
    assert results == [f"{n}!" for n in reversed(range(20))]
    assert len(effects) == 20


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
async def test_prompts_and_resources_run_once_too(way: Way, kind: Kind, era: Era) -> None:
    effects: list[str] = []

    async def charge() -> str:
        effects.append("charged")
        return f"{await midcall.ask('a?', str)} {await midcall.ask('b?', str)}"

    assert (await end_of(every_way(kind, charge), way, ANSWERS, era=era)).text == "1 2"
    assert effects == ["charged"]


async def test_a_tool_of_a_mounted_server_runs_once() -> None:
    effects: list[str] = []

    async def charge(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')} {await elicit('b?')}"

    outer: FastMCP[Any] = FastMCP("outer")
    outer.mount(bare_asking("fastmcp", charge), namespace="inner")
    midcall.install(outer)
    done = await run(outer, "inner_charge", {}, ANSWERS)
    assert (done.text, effects) == ("1 2", ["charged"])


async def test_a_tool_that_calls_another_which_asks_runs_once_and_so_does_the_other() -> None:
    effects: list[str] = []

    async def inner(ctx: Context) -> str:
        effects.append("inner")
        answer: Any = await ctx.elicit("b?", Word)
        return answer.data.word

    async def outer(ctx: Context) -> str:
        effects.append("outer")
        first: Any = await ctx.elicit("a?", Word)
        second: Any = await ctx.mcp_server.call_tool("inner", {}, ctx)
        return f"{first.data.word} {second.content[0].text}"

    done = await run(server_with(inner, outer), "outer", {}, ANSWERS)
    assert (done.text, effects) == ("1 2", ["outer", "inner"])


async def test_a_tool_that_sends_its_user_to_a_page_runs_once() -> None:
    effects: list[str] = []

    async def visit(ctx: Context) -> str:
        effects.append("charged")
        first = await ctx.elicit_url("Sign in", "https://example.com/sign-in", "one")
        answer: Any = await ctx.elicit("a?", Word)
        return f"{first.action} {answer.data.word}"

    done = await run(server_with(visit), "visit", {}, {"Sign in": True, **ANSWERS})
    assert (done.text, effects) == ("accept 1", ["charged"])


async def test_a_tool_that_words_its_questions_differently_each_time_works() -> None:
    async def tool(elicit: Elicit) -> str:
        asked = [f"{name} {uuid.uuid4()}" for name in "ab"]
        return " ".join([await elicit(message) for message in asked])

    done = await run(asking("mcpserver", tool), "tool", {}, lambda asked: asked.message[0])
    assert (done.text, done.rounds) == ("a b", 2)


async def test_an_answer_that_does_not_fit_is_asked_for_again_in_the_same_run() -> None:
    effects: list[str] = []

    async def tool() -> str:
        effects.append("charged")
        return str(await midcall.ask("Age?", Annotated[int, Field(ge=18)]))

    done = await run(server_with(tool), "tool", {}, {"Age?": [12, 30]})
    assert (done.text, len(done.asked), effects) == ("30", 2, ["charged"])


@pytest.mark.parametrize("store", ["memory://", "sqlite"])
async def test_with_a_store_a_call_runs_once_too(store: str, tmp_path: Path) -> None:
    effects: list[str] = []

    async def charge(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')} {await elicit('b?')}"

    kept = open_store(f"sqlite:///{tmp_path / 'store.db'}" if store == "sqlite" else store)
    done = await run(asking("mcpserver", charge, keys=KEYS, store=kept), "charge", {}, ANSWERS)
    await kept.close()
    assert (done.text, effects) == ("1 2", ["charged"])


# --- other processes -------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_an_effect_before_two_questions_happens_once_over_stdio(kind: Kind, era: Era, tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w") as stderr:
        async with connect(stdio(SERVER, stderr, "--kind", kind), ANSWERS, era=era) as client:
            assert text(await client.call_tool("charge", {})) == "1 2"
            assert text(await client.call_tool("charges", {})) == "1"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_an_effect_before_two_questions_happens_once_over_http(kind: Kind, era: Era, tmp_path: Path) -> None:
    with serving(SERVER, tmp_path / "stderr", "--kind", kind) as url:
        async with connect(url, ANSWERS, era=era) as client:
            assert text(await client.call_tool("charge", {})) == "1 2"
            assert text(await client.call_tool("charges", {})) == "1"


# --- when a run stays alive ------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_without_keys_and_a_store_runs_stay_alive(kind: Kind) -> None:
    installation = midcall.install(bare_server(kind))
    assert installation.live is True
    assert installation.why_live


def test_with_keys_and_no_store_another_replica_may_get_the_retry_and_calls_are_replayed() -> None:
    installation = midcall.install(bare_server("mcpserver"), keys=KEYS)
    assert installation.live is False
    assert "keys" in installation.why_live
    assert "store" in installation.why_live


def test_keys_that_the_environment_names_are_shared_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_KEYS", KEYS[0])
    assert midcall.install(bare_server("mcpserver")).live is False


def test_with_keys_and_a_store_runs_stay_alive() -> None:
    assert midcall.install(bare_server("mcpserver"), keys=KEYS, store=Memory()).live is True


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize("keys", [None, KEYS], ids=["own key", "shared keys"])
def test_live_forces_it(live: bool, keys: list[str] | None) -> None:
    installation = midcall.install(bare_server("mcpserver"), live=live, keys=keys)
    assert installation.live is live
    assert f"live={live}" in installation.why_live


@pytest.mark.parametrize(("said", "live"), [("1", True), ("0", False)])
def test_the_environment_forces_it_too_and_is_named_as_the_reason(
    monkeypatch: pytest.MonkeyPatch, said: str, live: bool
) -> None:
    monkeypatch.setenv("MIDCALL_LIVE", said)
    installation = midcall.install(bare_server("mcpserver"), keys=KEYS if live else None)
    assert installation.live is live
    assert "MIDCALL_LIVE" in installation.why_live


def test_the_argument_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_LIVE", "1")
    assert midcall.install(bare_server("mcpserver"), live=False).live is False


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "many"])
def test_an_invalid_number_of_live_runs_is_refused(wrong: object) -> None:
    with pytest.raises(midcall.InstallError, match="max_live"):
        midcall.install(bare_server("mcpserver"), max_live=wrong)  # type: ignore[arg-type]


async def test_with_keys_of_several_replicas_and_live_forced_a_call_runs_once() -> None:
    effects: list[str] = []

    async def charge(elicit: Elicit) -> str:
        effects.append("charged")
        return f"{await elicit('a?')} {await elicit('b?')}"

    done = await run(asking("mcpserver", charge, keys=KEYS, live=True), "charge", {}, ANSWERS)
    assert (done.text, effects) == ("1 2", ["charged"])
