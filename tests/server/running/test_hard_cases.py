"""Tools that cling to life: each of these once hung, lost its cleanup, or did something twice."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import ElicitResult, InputRequiredResult

from midcall import NoCall, Question, ask, ask_all, from_thread, once, suspending
from midcall.errors import InvalidQuestion
from midcall.server.once.effects import _digest_of
from midcall.server.running import run as running
from midcall.testing import connect, replayed, run
from tests.kinds import server_with
from tests.mistakes import mistake_in
from tests.rounds import asked, text

pytestmark = pytest.mark.usefixtures("both_modes")
in_live_runs = pytest.mark.parametrize("both_modes", ["live"], indirect=True)
in_replays = pytest.mark.parametrize("both_modes", ["replay"], indirect=True)

ABC: dict[str, Any] = {"a?": "1", "b?": "2", "Name?": "Ada", "Nick?": "Ad"}


KEPT: set[asyncio.Task[Any]] = set()
"""Tasks kept outside the tool's local variables, where a round would find them."""


async def same_everywhere(tool: Callable[..., Any], expected: str) -> None:
    with anyio.fail_after(60):
        done = await replayed(server_with(tool), tool.__name__, {}, ABC)
    assert (done.text, done.failed) == (expected, False)


async def turns(count: int) -> None:
    """Let others run."""
    for _ in range(count):
        await asyncio.sleep(0)


async def release() -> None: ...


async def asks_and_releases() -> str:
    try:
        return await ask("Name?", str)
    finally:
        await once("release", release)


@pytest.mark.parametrize("how", ["group", "gather", "task", "wait"])
async def test_a_verb_in_the_cleanup_of_a_branch_does_not_hang(how: str) -> None:
    async def tool() -> str:
        if how == "group":
            async with asyncio.TaskGroup() as group:
                task = group.create_task(asks_and_releases())
            return task.result()
        if how == "gather":
            [answer] = await asyncio.gather(asks_and_releases())
            return answer
        task = asyncio.create_task(asks_and_releases())
        if how == "wait":
            await asyncio.wait([task])
        return await task

    await same_everywhere(tool, "Ada")


async def test_asking_again_in_a_bare_except_of_a_branch_does_not_hang() -> None:
    async def branch() -> str:
        try:
            return await ask("Name?", str)
        except:
            return await ask("Nick?", str)

    async def tool() -> str:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(branch())
        return task.result()

    await same_everywhere(tool, "Ada")


async def test_many_sync_tools_with_effects_do_not_starve_each_other() -> None:
    def charge(n: int) -> int:
        return n

    def pay(n: int) -> str:
        from_thread.ask("a?", str)
        return str(from_thread.once("charge", charge, n))

    for era in ("2025-11-25", "2026-07-28"):
        async with connect(server_with(pay), ABC, era=era) as client:
            with anyio.fail_after(60):
                results = await asyncio.gather(*(client.call_tool("pay", {"n": n}) for n in range(60)))
        assert [text(result) for result in results] == [str(n) for n in range(60)]


async def test_a_cancel_that_is_swallowed_is_sent_again() -> None:
    async def tool() -> str:
        task = asyncio.create_task(ask("a?", str))
        try:
            await asyncio.wait([task], timeout=30)
        except asyncio.CancelledError:
            pass
        return await task

    await same_everywhere(tool, "1")


async def test_an_effect_under_wait_for_beside_a_question_does_not_hang() -> None:
    async def quote() -> int:
        await asyncio.sleep(0.02)
        return 7

    async def tool() -> str:
        got: list[str] = []

        async def name() -> None:
            got.append(await ask("Name?", str))

        async with asyncio.TaskGroup() as group:
            group.create_task(name())
            price = await asyncio.wait_for(once("quote", quote), 30)
        return f"{got[0]} {price}"

    await same_everywhere(tool, "Ada 7")


@in_replays
async def test_verbs_in_the_cleanup_of_many_branches_are_not_taken_for_a_loop_that_catches_everything() -> None:
    cleaned: list[int] = []

    async def branch(number: int) -> str:
        try:
            return await ask(f"{number}?", str)
        finally:
            try:
                await once("release", release)
            finally:
                cleaned.append(number)

    async def tool() -> str:
        return "".join(await asyncio.gather(*map(branch, range(30))))

    async with connect(server_with(tool)) as client:
        with anyio.fail_after(20):
            first = await client.session.call_tool("tool", {}, allow_input_required=True)
    assert isinstance(first, InputRequiredResult)
    assert len(asked(first)) == 30
    assert sorted(cleaned) == [*range(30)]


async def test_questions_that_cleanup_asks_together_do_not_leave_with_the_round() -> None:
    async def tool() -> str:
        try:
            answer = await ask("a?", str)
        finally:
            others = await ask_all(Question("b?", str), Question("Name?", str))
        return answer + "".join(others)

    async with connect(server_with(tool), ABC) as client:
        first = await client.session.call_tool("tool", {}, allow_input_required=True)
        assert isinstance(first, InputRequiredResult)
        assert list(asked(first).values()) == ["a?"]
        assert text(await client.call_tool("tool", {})) == "12Ada"


async def test_questions_asked_together_leave_together_even_with_work_between_them() -> None:
    async def tool() -> str:
        return " ".join(
            await ask_all(
                Question("a?", str),
                Question("b?", str, default="9", via={"default"}),
                Question("Name?", str),
            )
        )

    async with connect(server_with(tool), ABC) as client:
        first = await client.session.call_tool("tool", {}, allow_input_required=True)
        assert isinstance(first, InputRequiredResult)
        assert sorted(asked(first).values()) == ["Name?", "a?"]
        assert text(await client.call_tool("tool", {})) == "1 9 Ada"


@in_replays
def test_a_tool_that_ends_the_process_while_a_round_leaves_ends_it() -> None:
    async def tool() -> str:
        try:
            return await ask("a?", str)
        finally:
            if suspending():
                sys.exit(17)

    async def main() -> None:
        await run(server_with(tool), "tool", {}, ABC)

    with pytest.raises(SystemExit) as ended, asyncio.Runner() as runner:
        runner.run(main())
    assert ended.value.code == 17
    del ended
    gc.collect()  # asyncio reports the task of a loop that stopped: here, and not in the test that collects it next


async def test_an_effect_beside_a_question_of_the_tool_itself_ends_before_its_cleanup_begins() -> None:
    seen: list[str] = []

    async def tool() -> str:
        state = "open"

        async def effect() -> str:
            await turns(20)
            seen.append(state)
            return state

        task = asyncio.create_task(once("effect", effect))
        try:
            await turns(3)  # it has begun
            return await ask("a?", str) + await task
        finally:
            state = "closed"

    done = await run(server_with(tool), "tool", {}, ABC)
    assert (done.text, seen) == ("1open", ["open"])


async def test_an_effect_beside_a_question_of_a_branch_ends_before_the_cleanup_of_the_tool_begins() -> None:
    seen: list[str] = []

    async def tool() -> str:
        state = "open"

        async def effect() -> str:
            await turns(40)
            seen.append(state)
            return state

        try:
            return "".join(await asyncio.gather(ask("a?", str), once("effect", effect)))
        finally:
            state = "closed"

    done = await run(server_with(tool), "tool", {}, ABC)
    assert (done.text, seen) == ("1open", ["open"])


@pytest.mark.parametrize("swallows", [False, True])
async def test_an_effect_that_waits_for_what_the_tool_itself_holds_runs_once(
    swallows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It can only end when the tool is unwound, or has ended; the round waits for that."""
    monkeypatch.setattr(running, "EFFECT_SECONDS", 0.01)
    ran: list[str] = []

    async def tool() -> str:
        lock = asyncio.Lock()

        async def write() -> int:
            async with lock:
                await turns(20)
                ran.append("written")
                return len(ran)

        async with lock:
            KEPT.add(asyncio.create_task(once("write", write)))
            await turns(3)
            try:
                answer = await ask("a?", str)
            except:
                if not swallows:
                    raise
                return "nothing"
        await asyncio.wait(KEPT)
        return answer

    with anyio.fail_after(20):
        done = await run(server_with(tool), "tool", {}, ABC)
    KEPT.clear()
    assert (done.text, ran) == ("1", ["written"])


async def test_cleanup_of_the_tool_that_began_while_a_round_waits_for_an_effect_is_not_cut_off() -> None:
    begun: list[str] = []
    cleaned: list[str] = []

    async def effect() -> int:
        await turns(20)
        return 3

    async def tool() -> str:
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(ask("a?", str))
            written = group.create_task(once("effect", effect))
            await turns(10)  # the round is leaving, and waits
            try:
                answer = await ask("b?", str)
            finally:
                begun.append("cleanup")
                await turns(40)
                cleaned.append("whole")
        return asked.result() + answer + str(written.result())

    with anyio.fail_after(20):
        done = await run(server_with(tool), "tool", {}, ABC)
    assert done.text == "123"
    assert len(cleaned) == len(begun)


async def test_cleanup_below_a_branch_that_holds_a_group_is_not_cut_off() -> None:
    cleaned: list[str] = []

    async def child() -> None:
        try:
            await ask("b?", str)
        finally:
            await turns(20)
            cleaned.append("whole")

    async def holder() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(child())

    async def tool() -> str:
        KEPT.add(asyncio.create_task(holder()))
        await turns(3)
        return await ask("a?", str)

    async with connect(server_with(tool)) as client:
        with anyio.fail_after(20):
            await client.session.call_tool("tool", {}, allow_input_required=True)
    KEPT.clear()
    assert cleaned == ["whole"]


async def test_cleanup_of_a_tool_that_asks_beside_a_branch_may_take_its_time() -> None:
    begun: list[str] = []
    cleaned: list[str] = []

    async def tool() -> str:
        task = asyncio.create_task(ask("b?", str))
        await asyncio.sleep(0)
        try:
            answer = await ask("a?", str)
        finally:
            begun.append("cleanup")
            await turns(60)
            cleaned.append("whole")
        return answer + await task

    with anyio.fail_after(20):
        assert (await run(server_with(tool), "tool", {}, ABC)).text == "12"
    assert len(cleaned) == len(begun)


@in_replays
async def test_a_round_leaves_after_the_cleanup_of_a_branch_that_the_tools_own_cleanup_started() -> None:
    cleaned: list[str] = []

    async def branch() -> None:
        try:
            await ask("b?", str)
        finally:
            await turns(20)
            cleaned.append("whole")

    async def tool() -> str:
        try:
            return await ask("a?", str)
        finally:
            KEPT.add(asyncio.create_task(branch()))
            await turns(3)

    async with connect(server_with(tool), max_rounds=1) as client:
        with anyio.fail_after(20):
            await client.session.call_tool("tool", {}, allow_input_required=True)
            KEPT.clear()
            assert cleaned == ["whole"]


async def test_an_effect_that_waits_for_a_branch_that_asks_does_not_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "EFFECT_SECONDS", 0.05)

    async def tool() -> str:
        lock = asyncio.Lock()

        async def write() -> int:
            async with lock:
                return 1

        async def branch() -> str:
            async with lock:
                return await ask("a?", str)

        return str(await asyncio.gather(branch(), once("write", write)))

    await same_everywhere(tool, "['1', 1]")


async def test_cleanup_that_awaits_is_not_cut_off(both_modes: str) -> None:
    trail: list[str] = []

    async def branch(name: str, seconds: float) -> str:
        try:
            return await ask(name, str)
        finally:
            trail.append(f"begin {name}")
            await asyncio.sleep(seconds)
            trail.append(f"end {name}")

    async def tool() -> str:
        return " ".join(await asyncio.gather(branch("a?", 0), branch("b?", 0.05)))

    done = await run(server_with(tool), "tool", {}, ABC)
    assert done.text == "1 2"
    for name in ("a?", "b?"):
        assert trail.count(f"begin {name}") == trail.count(f"end {name}") == (1 if both_modes == "live" else 2)


@pytest.mark.parametrize("one_by_one", [False, True])
async def test_another_effect_may_replace_one_that_failed(one_by_one: bool) -> None:
    ran: list[str] = []

    async def primary() -> int:
        ran.append("primary")
        raise ConnectionError

    async def backup() -> int:
        ran.append("backup")
        return 7

    async def tool() -> str:
        try:
            found = await once("primary", primary)
        except ConnectionError:
            found = await once("backup", backup)
        return f"{found} {await ask('a?', str)} {await ask('b?', str)}"

    done = await run(server_with(tool), "tool", {}, ABC, one_by_one=one_by_one)
    assert done.text == "7 1 2"
    assert ran.count("backup") == 1


@in_replays
async def test_a_sync_tool_that_went_past_a_recorded_effect_is_a_mismatch() -> None:
    paid: list[int] = []
    runs = 0

    def tool() -> str:
        nonlocal runs
        runs += 1

        def pay(n: int) -> int:
            paid.append(n)
            return n

        from_thread.once("pay", pay, runs)
        from_thread.ask("a?", str)
        return from_thread.ask("b?", str)

    assert (await run(server_with(tool), "tool", {}, ABC)).failed
    assert paid == [1]


DIGEST = """
from midcall.server.once.effects import _digest_of
from midcall.server.running import run as running
print(_digest_of(({"ada", "bo", "cem"}, {"x": 1}), {"y": b"\\xff"}))
"""


@in_live_runs
def test_arguments_name_an_effect_alike_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {_digest_of(({"ada", "bo", "cem"}, {"x": 1}), {"y": b"\xff"})}


async def test_an_argument_that_is_not_data_is_left_unchanged() -> None:
    def total(numbers: Any) -> int:
        return sum(numbers)

    async def tool() -> str:
        return f"{await once('sum', total, (n for n in (1, 2, 3)))} {await ask('a?', str)}"

    assert (await run(server_with(tool), "tool", {}, ABC)).text == "6 1"


async def test_an_effect_is_not_skipped_for_an_equal_one_that_failed() -> None:
    ran: list[int] = []

    async def tool() -> str:
        async def effect() -> int:
            ran.append(number := len(ran) + 1)
            if number == 1:
                await asyncio.sleep(0.01)
                raise ValueError
            return number

        await asyncio.gather(once("e", effect), once("e", effect), return_exceptions=True)
        return str(await once("e", effect))

    assert (await run(server_with(tool), "tool")).text == "3"


async def test_generators_are_closed_when_the_run_ends(both_modes: str) -> None:
    ends: list[str] = []

    async def rows() -> AsyncIterator[int]:
        try:
            for number in range(2):
                yield number
        finally:
            ends.append("closed")

    async def tool() -> str:
        cursor = rows()
        return " ".join([await ask(f"{'ab'[number]}?", str) async for number in cursor])

    assert (await run(server_with(tool), "tool", {}, ABC)).text == "1 2"
    gc.collect()
    await turns(5)
    assert ends == ["closed"] * (1 if both_modes == "live" else 3)


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_task_that_outlives_its_call_learns_that_the_call_is_over(era: Any) -> None:
    told: list[str] = []
    heard = asyncio.Event()

    async def tool() -> str:
        async def later() -> None:
            await asyncio.sleep(0.02)
            try:
                await ask("a?", str)
            except NoCall as exc:
                told.append(str(exc))
            heard.set()

        keep.append(asyncio.create_task(later()))
        return "done"

    keep: list[asyncio.Task[None]] = []
    async with connect(server_with(tool), era=era) as client:
        assert text(await client.call_tool("tool")) == "done"
        with anyio.fail_after(5):
            await heard.wait()
    assert "after its call had ended" in told[0]


async def test_effects_do_not_keep_what_their_functions_close_over() -> None:
    import weakref

    class Data:
        pass

    seen: list[weakref.ref[Data]] = []

    async def tool() -> str:
        data = Data()
        seen.append(weakref.ref(data))
        return await once("use", lambda: type(data).__name__)

    assert (await run(server_with(tool), "tool")).text == "Data"
    gc.collect()
    assert seen[0]() is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Question("?", str, key=3),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", str, timeout="5"),  # pyright: ignore[reportArgumentType]
        lambda: Question("?", str, via={"pigeon"}),  # pyright: ignore[reportArgumentType]
    ],
)
def test_options_of_the_wrong_kind_are_refused_in_words(make: Callable[[], Any]) -> None:
    with pytest.raises(InvalidQuestion):
        make()


async def test_a_misspelt_option_is_refused_in_words(caplog: pytest.LogCaptureFixture) -> None:
    async def misspelt() -> str:
        return await ask("?", str, timeuot=3)  # pyright: ignore[reportCallIssue]

    assert "timeuot" in await mistake_in(misspelt, caplog)


async def test_a_stray_argument_is_refused_in_words(caplog: pytest.LogCaptureFixture) -> None:
    async def stray() -> str:
        return str(await ask_all("a?", "b?"))  # pyright: ignore[reportCallIssue, reportArgumentType]

    assert "Question(...)" in await mistake_in(stray, caplog)


def test_one_channel_may_be_named_without_a_collection() -> None:
    assert Question("?", str, via="push").via == {"push"}  # pyright: ignore[reportArgumentType]


async def _named() -> str:
    return await ask("Name?", str)


async def _with_options() -> str:
    first, second = await asyncio.gather(ask("Name?", str, timeout=60), ask("Name?", str))
    return f"{first} {second}"


async def _gathered() -> str:
    first, second = await asyncio.gather(_named(), ask("Name?", str))
    return f"{first} {second}"


async def _made_ahead() -> str:
    later = ask("Name?", str)
    first = await ask("Name?", str)
    return f"{first} {await later}"


async def _made_and_not_used() -> str:
    ask("Name?", str).close()
    return f"{await ask('Name?', str)} {await ask('Name?', str)}"


@pytest.mark.filterwarnings("ignore:coroutine 'ask':RuntimeWarning")  # of a run that is ended before it awaits that
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("way", [{"era": "2025-11-25"}, {}, {"one_by_one": True}], ids=str)
@pytest.mark.parametrize("tool", [_with_options, _gathered, _made_ahead, _made_and_not_used])
async def test_of_equal_questions_the_one_that_is_awaited_first_is_the_first(
    tool: Callable[[], Awaitable[str]], way: dict[str, Any]
) -> None:
    async def named() -> str:
        return await tool()

    done = await run(server_with(named), "named", {}, ["first", "second"], **way)
    assert done.text == "first second"
    assert len(done.asked) == 2


async def test_a_verb_that_is_not_awaited_cannot_slip_into_a_text(caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        return f"hello {ask('Name?', str)}"

    assert "await ask" in await mistake_in(tool, caplog)


# --- branches that nobody cancels ---------------------------------------------------------------

Holder = Callable[[], Any]


async def hold_in_an_anyio_group(found: list[str]) -> None:
    async def asks() -> None:
        found.append(await ask("a?", str))

    async with anyio.create_task_group() as group:
        group.start_soon(asks)


async def hold_in_a_task_group(found: list[str]) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(_asks())
    found.append(task.result())


async def _asks() -> str:
    return await ask("a?", str)


async def hold_in_a_gather(found: list[str]) -> None:
    found += await asyncio.gather(_asks(), return_exceptions=True)  # pyright: ignore[reportArgumentType]


async def hold_in_a_wait(found: list[str]) -> None:
    [task], _ = await asyncio.wait([asyncio.create_task(_asks())])
    found.append(task.result())


async def hold_twice(found: list[str]) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(hold_in_an_anyio_group(found))


HOLDS = [hold_in_an_anyio_group, hold_in_a_task_group, hold_in_a_gather, hold_in_a_wait, hold_twice]


@in_live_runs
@pytest.mark.parametrize("how", ["shield", "as_completed", "left alone"])
@pytest.mark.parametrize("hold", HOLDS)
async def test_a_branch_never_runs_on_past_a_question_that_was_not_answered(
    hold: Callable[..., Any], how: str, caplog: pytest.LogCaptureFixture
) -> None:
    past: list[str] = []

    async def branch() -> str:
        found: list[str] = []
        try:
            await hold(found)
        finally:
            if suspending():
                await asyncio.sleep(0)  # cleanup may take its time
        past.append(found[0])
        return found[0]

    async def tool() -> str:
        task = asyncio.create_task(branch())
        if how == "shield":
            return await asyncio.shield(task)
        if how == "as_completed":
            return "".join([await each for each in asyncio.as_completed([task])])
        while not task.done():
            await asyncio.sleep(0.001)
        return task.result()

    with anyio.fail_after(30):
        done = await run(server_with(tool), "tool", {}, ABC)
    gc.collect()
    assert (done.text, past) == ("1", ["1"])
    assert not [record for record in caplog.records if record.levelname in ("ERROR", "WARNING")]


async def test_a_task_that_serves_others_is_not_cancelled_with_the_branch_that_it_holds() -> None:
    """A server's own task group outlives its calls, even if a tool starts a branch in it."""
    async with anyio.create_task_group() as group:

        async def tool() -> str:
            answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

            async def branch() -> None:
                answer.set_result(await ask("a?", str))

            group.start_soon(branch)
            return await answer

        assert (await run(server_with(tool), "tool", {}, ABC)).text == "1"
        await asyncio.sleep(0)
        assert not group.cancel_scope.cancel_called


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_tool_that_is_a_client_of_another_server_here_hands_its_questions_on(era: Any, mode: Any) -> None:
    async def book() -> str:
        first, second = await asyncio.gather(ask("Seat?", str), ask("Meal?", str))
        return f"{first} {second} {await ask('Card?', str)}"

    inner = server_with(book)
    seen: list[str] = []

    async def hand_on(context: Any, params: Any) -> ElicitResult:
        seen.append(params.message)
        assert len(seen) < 50, "the inner call asks itself"
        return ElicitResult(action="accept", content={"answer": await ask(f"Inside: {params.message}", str)})

    async def trip() -> str:
        async with Client(inner, mode=mode, elicitation_callback=hand_on) as client:
            return text(await client.call_tool("book", {}))

    done = await run(server_with(trip), "trip", {}, lambda asked: asked.message.split()[1][0], era=era)
    assert done.text == "S M C"
    assert len(done.asked) == 3


@pytest.mark.parametrize("store", [None, "memory://"])
async def test_an_effect_that_waited_for_what_somebody_cancelled_may_run_again(
    store: str | None, both_modes: str
) -> None:
    ran: list[int] = []

    async def effect() -> str:
        ran.append(1)
        if len(ran) == 1:
            somebody = asyncio.create_task(asyncio.sleep(60))
            asyncio.get_running_loop().call_soon(somebody.cancel)
            await somebody
        return "done"

    async def tool() -> str:
        try:
            await once("effect", effect)
        except asyncio.CancelledError:
            return f"cancelled {await ask('Go on?', str)}"
        return f"done {await ask('Go on?', str)}"

    with anyio.fail_after(10):
        done = await run(server_with(tool, store=store), "tool", {}, ["yes"])
    assert (done.text, len(ran)) == (("cancelled yes", 1) if both_modes == "live" else ("done yes", 2))
