"""The blocking verbs work in every thread that knows its call, and `complete` in every thread at all."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import Context, copy_context
from typing import Any

import anyio
import anyio.to_thread
import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp_types import ElicitRequestParams, ElicitResult

import midcall
from midcall import Misuse, NoCall, UserDeclined, ask, from_thread, once, suspending, visit
from midcall.core.outcome import Declined
from midcall.server import install
from midcall.server.call import current_call
from midcall.server.running import threads
from midcall.stores.memory import Memory
from midcall.testing import ERAS, Era, Script, connect, replayed, run
from tests.garbage import collected
from tests.kinds import Kind, server_with
from tests.mistakes import BROKEN, logged_mistake, mistake_in
from tests.rounds import text

SECONDS = 20
ABC: dict[str, Any] = {"a?": "1", "b?": "2", "c?": "3"}


pytestmark = pytest.mark.usefixtures("both_modes")
in_live_runs = pytest.mark.parametrize("both_modes", ["live"], indirect=True)
"""What a replay can't promise: a detached task that never asked is not ended when a round leaves."""


TOLD = ("outside an MCP call", "Misuse in", "Future finished exception=CancelledError()")
"""Mistakes, and asyncio's own word on a future of the tool's that nobody awaits any more."""


@pytest.fixture(autouse=True)
def no_complaints(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Ending a thread is nothing that a log hears of."""
    with collected():
        yield
    loud = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.ERROR]
    assert [line for line in loud if not any(told in line for told in TOLD)] == []


@pytest.fixture
def soon_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped loop is noticed after the shortest time."""
    monkeypatch.setattr(threads, "THREAD_POLL_SECONDS", 0.05)
    monkeypatch.setattr(threads, "BLOCKED_SECONDS", 0.2)


def in_a_thread(work: Callable[[], Any]) -> Any:
    """What this gives, or raises, in a thread that nobody prepared."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(SECONDS)


# --- tools as people write them --------------------------------------------------------------


async def to_thread() -> str:
    return await asyncio.to_thread(from_thread.ask, "a?", str)


async def one_after_the_other() -> str:
    return " ".join([await asyncio.to_thread(from_thread.ask, f"{name}?", str) for name in "abc"])


async def whole_function() -> str:
    def work() -> str:
        return f"{from_thread.ask('a?', str)} {from_thread.confirm('Sure?')} {from_thread.choose('b?', ['1', '2'])}"

    return await asyncio.to_thread(work)


async def pool_of_an_async_tool() -> str:
    with ThreadPoolExecutor(1) as pool:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(pool, copy_context().run, from_thread.ask, "a?", str)


def pool_of_a_def_tool() -> str:
    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(copy_context().run, from_thread.ask, f"{name}?", str) for name in "ab"]
        return f"{from_thread.ask('c?', str)} " + " ".join(each.result() for each in asked)


async def gathered() -> str:
    return " ".join(await asyncio.gather(*(asyncio.to_thread(from_thread.ask, f"{name}?", str) for name in "abc")))


async def gathered_by_anyio() -> str:
    return " ".join(await asyncio.gather(*(anyio.to_thread.run_sync(from_thread.ask, f"{n}?", str) for n in "abc")))


async def grouped() -> str:
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(asyncio.to_thread(from_thread.ask, f"{name}?", str)) for name in "ab"]
    return " ".join(each.result() for each in asked)


async def beside_the_task() -> str:
    asked = asyncio.create_task(asyncio.to_thread(from_thread.ask, "a?", str))
    return f"{await ask('b?', str)} {await asked}"


async def anyio_beside_the_task() -> str:
    asked = asyncio.create_task(anyio.to_thread.run_sync(from_thread.ask, "a?", str))
    return f"{await ask('b?', str)} {await asked}"


async def pool_around_a_question() -> str:
    """Where the tool is unwound, the end of the pool stops the loop until its threads have ended."""
    with ThreadPoolExecutor() as pool:
        asked = pool.submit(copy_context().run, from_thread.ask, "a?", str)
        return f"{await ask('b?', str)} {await asyncio.wrap_future(asked)}"


async def executor_around_a_question() -> str:
    with ThreadPoolExecutor() as pool:
        loop = asyncio.get_running_loop()
        asked = loop.run_in_executor(pool, copy_context().run, from_thread.ask, "a?", str)
        return f"{await ask('b?', str)} {await asked}"


def loop_of_its_own() -> str:
    """It blocks a loop that is not the call's: that is the author's own business, and works."""

    async def inner() -> str:
        return from_thread.ask("a?", str)

    return asyncio.run(inner())


def thread_of_a_loop_of_its_own() -> str:
    async def inner() -> str:
        return await anyio.to_thread.run_sync(from_thread.ask, "a?", str)

    return asyncio.run(inner())


TOOLS = {
    to_thread: "1",
    one_after_the_other: "1 2 3",
    whole_function: "1 True 2",
    pool_of_an_async_tool: "1",
    pool_of_a_def_tool: "3 1 2",
    gathered: "1 2 3",
    gathered_by_anyio: "1 2 3",
    grouped: "1 2",
    beside_the_task: "2 1",
    anyio_beside_the_task: "2 1",
    pool_around_a_question: "2 1",
    executor_around_a_question: "2 1",
    loop_of_its_own: "1",
    thread_of_a_loop_of_its_own: "1",
}


@pytest.mark.timeout(2 * SECONDS)  # a loop that is stopped keeps no time
@pytest.mark.usefixtures("soon_blocked")
@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__)
async def test_a_tool_asks_from_its_own_threads(tool: Callable[..., Any], kind: Kind) -> None:
    with anyio.fail_after(SECONDS):
        done = await replayed(server_with(tool, kind=kind), tool.__name__, {}, {**ABC, "Sure?": True})
    assert (done.text, done.failed) == (TOOLS[tool], False)


@pytest.mark.parametrize("era", ERAS)
async def test_a_decline_is_raised_in_the_thread(era: Era) -> None:
    async def tool() -> str:
        try:
            return await asyncio.to_thread(from_thread.ask, "a?", str)
        except UserDeclined:
            return "declined"

    assert (await run(server_with(tool), "tool", {}, {"a?": Declined()}, era=era)).text == "declined"


@pytest.mark.parametrize("era", ERAS)
async def test_an_effect_in_such_a_thread_may_block_and_runs_once(era: Era) -> None:
    ran: list[str] = []

    def effect() -> str:
        ran.append(threading.current_thread().name)
        return "done"

    def work() -> str:
        return f"{from_thread.once('effect', effect)} {from_thread.ask('a?', str)} {from_thread.once.retry('two', str)}"

    async def tool() -> str:
        return await asyncio.to_thread(work)

    assert (await run(server_with(tool), "tool", {}, ABC, era=era)).text == "done 1 "
    assert len(ran) == 1
    assert ran[0] != threading.current_thread().name


async def test_a_thread_of_a_run_that_is_replayed_can_tell_in_its_cleanup(both_modes: str) -> None:
    ends: asyncio.Queue[bool] = asyncio.Queue()
    loop = asyncio.get_running_loop()

    def work() -> str:
        try:
            return from_thread.ask("a?", str)
        finally:
            loop.call_soon_threadsafe(ends.put_nowait, suspending())

    async def tool() -> str:
        return await asyncio.to_thread(work)

    assert (await run(server_with(tool), "tool", {}, ABC)).text == "1"
    expected = [False] if both_modes == "live" else [False, True]
    async with asyncio.timeout(20):  # nobody waits for a thread of `asyncio.to_thread`
        assert sorted([await ends.get() for _ in expected]) == expected
    assert ends.empty()


@pytest.mark.parametrize("how", ["wait", "gather", "group"])
async def test_code_after_a_branch_with_a_thread_waits_for_the_answer(how: str) -> None:
    """Each of these takes a branch that was stopped for one that has ended."""
    behind: list[str] = []

    async def branch() -> str:
        return await asyncio.to_thread(from_thread.ask, "a?", str)

    async def tool() -> str:
        if how == "gather":
            await asyncio.gather(branch(), return_exceptions=True)
        elif how == "wait":
            await asyncio.wait([asyncio.create_task(branch())])
        else:
            async with asyncio.TaskGroup() as group:
                group.create_task(branch())
        behind.append("deleted")
        return "done"

    with anyio.fail_after(SECONDS):
        assert (await run(server_with(tool), "tool", {}, ABC)).text == "done"
    assert behind == ["deleted"]


THREADS = pytest.mark.parametrize("to_thread", [asyncio.to_thread, anyio.to_thread.run_sync], ids=["asyncio", "anyio"])


@THREADS
@pytest.mark.parametrize(
    ("both_modes", "turns"),
    [("live", 0), ("live", 1), ("live", 200), ("replay", 0), ("replay", 1)],
    indirect=["both_modes"],
)
async def test_a_branch_does_not_continue_past_its_own_thread(to_thread: Callable[..., Any], turns: int) -> None:
    """Whatever the tool itself is at: it waits for the branch, or turns with the loop."""
    behind: list[str] = []

    async def branch() -> str:
        asked = asyncio.create_task(to_thread(from_thread.ask, "a?", str))
        await asyncio.wait([asked])
        behind.append("deleted")
        return asked.result()

    async def tool() -> str:
        task = asyncio.create_task(branch())
        for _ in range(turns):
            await asyncio.sleep(0)
        return await task

    with anyio.fail_after(SECONDS):
        assert (await run(server_with(tool), "tool", {}, ABC)).text == "1"
    assert behind == ["deleted"]


@in_live_runs
@THREADS
@pytest.mark.parametrize("turns", [0, 1, 2, 3, 4, 6, 10])
async def test_a_branch_does_not_continue_past_a_thread_while_the_tool_asks(
    to_thread: Callable[..., Any], turns: int
) -> None:
    behind: list[str] = []

    async def branch() -> str:
        for _ in range(turns):
            await asyncio.sleep(0)
        [answer] = await asyncio.gather(to_thread(from_thread.ask, "a?", str), return_exceptions=True)
        behind.append("deleted")
        return str(answer)

    async def tool() -> str:
        task = asyncio.create_task(branch())
        return await ask("b?", str) + await task

    with anyio.fail_after(SECONDS):
        assert (await run(server_with(tool), "tool", {}, ABC)).text == "21"
    assert behind == ["deleted"]


@THREADS
async def test_branches_with_threads_have_no_order_among_them(to_thread: Callable[..., Any]) -> None:
    """Whichever of them is first in a run: what the others recorded in the one before is not given up."""
    runs = 0

    async def tool() -> str:
        nonlocal runs
        runs += 1
        asked, first = threading.Event(), "a?" if runs == 1 else "b?"

        def work(message: str) -> str:
            if message != first:
                assert asked.wait(SECONDS)
            try:
                return from_thread.ask(message, str)
            finally:
                asked.set()

        return " ".join(await asyncio.gather(to_thread(work, "a?"), to_thread(work, "b?")))

    with anyio.fail_after(SECONDS):
        done = await run(server_with(tool), "tool", {}, ABC)
    assert (done.text, [asked.message for asked in done.asked]) == ("1 2", ["a?", "b?"])


async def test_threads_have_no_order_so_none_of_them_goes_another_way() -> None:
    """The same where they come one after the other."""
    runs = 0

    async def tool() -> str:
        nonlocal runs
        runs += 1
        first, second = ("a?", "b?") if runs == 1 else ("b?", "a?")
        asked = {first: await asyncio.to_thread(from_thread.ask, first, str)}
        asked[second] = await asyncio.to_thread(from_thread.ask, second, str)
        return f"{asked['a?']} {asked['b?']}"

    done = await run(server_with(tool), "tool", {}, ABC, one_by_one=True)
    assert (done.text, len(done.asked)) == ("1 2", 2)


# --- cancelling ------------------------------------------------------------------------------


async def cancelled_while_asking(tool: Callable[..., Any]) -> None:
    """Call this tool, and give up on it as soon as its question is there; the question is taken back."""
    shown, closed = anyio.Event(), anyio.Event()

    async def ponder(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        shown.set()
        try:
            await anyio.sleep_forever()
        finally:
            closed.set()
        raise AssertionError

    with anyio.fail_after(SECONDS):
        async with Client(server_with(tool), mode="legacy", elicitation_callback=ponder) as client:
            calling = asyncio.create_task(client.call_tool(tool.__name__))
            await shown.wait()
            calling.cancel()
            await closed.wait()


@pytest.mark.parametrize("how", ["to_thread", "def"])
async def test_cancelling_the_call_lets_its_threads_go(how: str) -> None:
    ended: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
    loop = asyncio.get_running_loop()

    def work() -> str:
        try:
            return from_thread.ask("a?", str)
        except BaseException as error:
            loop.call_soon_threadsafe(ended.set_result, error)
            raise

    async def to_thread() -> str:
        return await asyncio.to_thread(work)

    def pool() -> str:
        with ThreadPoolExecutor(1) as pool, suppress(asyncio.CancelledError):
            return pool.submit(copy_context().run, work).result()
        return "given up"

    await cancelled_while_asking(to_thread if how == "to_thread" else pool)
    assert isinstance(await asyncio.wait_for(ended, SECONDS), asyncio.CancelledError)


async def in_executor(work: Callable[[], str]) -> str:
    return await asyncio.get_running_loop().run_in_executor(None, copy_context().run, work)


async def abandoned(work: Callable[[], str]) -> str:
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


WAYS: dict[str, Callable[..., Any]] = {
    "asyncio": asyncio.to_thread,
    "executor": in_executor,
    "anyio": anyio.to_thread.run_sync,
    "abandoned": abandoned,
}


class Ponders:
    """A user who is shown a question, and thinks about it until it is taken back."""

    def __init__(self) -> None:
        self.shown, self.closed = anyio.Event(), anyio.Event()

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.shown.set()
        try:
            await anyio.sleep(SECONDS)
        finally:
            self.closed.set()
        return ElicitResult(action="cancel")


@pytest.mark.parametrize("way", ["anyio", "abandoned"])
@pytest.mark.parametrize("how", ["group", "scope"])
async def test_a_question_of_a_worker_thread_ends_with_the_scope_that_awaits_it(way: str, how: str) -> None:
    """The tool continues, and the user need not answer a question that nobody awaits."""
    user = Ponders()

    def work() -> str:
        return from_thread.ask("a?", str)

    async def cancel(scope: anyio.CancelScope) -> None:
        await user.shown.wait()
        scope.cancel()

    async def tool() -> str:
        async with anyio.create_task_group() as group:
            if how == "group":
                group.start_soon(WAYS[way], work)
                await cancel(group.cancel_scope)
            else:
                with anyio.CancelScope() as scope:
                    group.start_soon(cancel, scope)
                    await WAYS[way](work)
        await user.closed.wait()
        return "continued"

    with anyio.fail_after(SECONDS / 2):
        async with Client(server_with(tool), mode="legacy", elicitation_callback=user) as client:
            assert text(await client.call_tool("tool")) == "continued"


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("how", ["cancel", "group", "timeout"])
async def test_a_question_of_a_thread_whose_waiter_is_gone_stays_until_the_call_ends(way: str, how: str) -> None:
    """asyncio doesn't notify a thread when nobody awaits it any more."""
    user, begun, closed = Ponders(), list[int](), list[bool]()

    def work() -> str:
        begun.append(threading.get_ident())
        return from_thread.ask("a?", str)

    async def fail() -> None:
        await user.shown.wait()
        raise OSError("disk")

    async def tool() -> str:
        if how == "cancel":
            task = asyncio.create_task(WAYS[way](work))
            await user.shown.wait()
            task.cancel()
            await asyncio.wait([task])
        elif how == "timeout":
            with suppress(TimeoutError):
                async with asyncio.timeout(None) as limit:
                    waiting = asyncio.create_task(user.shown.wait())
                    now = asyncio.get_running_loop().time
                    waiting.add_done_callback(lambda _: limit.reschedule(now()))
                    await WAYS[way](work)
        else:
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(WAYS[way](work))
                    await fail()
            except* OSError:
                pass
        closed.append(user.closed.is_set())
        return "continued"

    with anyio.fail_after(SECONDS / 2):
        async with Client(server_with(tool), mode="legacy", elicitation_callback=user) as client:
            assert text(await client.call_tool("tool")) == "continued"
            await user.closed.wait()
    assert (len(begun), closed) == (1, [False])


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("way", ["anyio", "abandoned"])
@pytest.mark.parametrize("how", ["group", "scope"])
async def test_a_thread_that_asks_after_the_end_of_its_scope_ends_too(way: str, how: str, era: Era) -> None:
    """anyio does not cancel what begins in a scope that was cancelled before."""
    ends: list[BaseException] = []

    async def tool() -> str:
        begun, late, over = asyncio.Event(), threading.Event(), asyncio.Event()
        loop = asyncio.get_running_loop()

        def work() -> str:
            loop.call_soon_threadsafe(begun.set)
            assert late.wait(SECONDS)
            try:
                return from_thread.ask("a?", str)
            except BaseException as error:
                ends.append(error)
                raise
            finally:
                loop.call_soon_threadsafe(over.set)

        async def fail() -> None:
            await begun.wait()
            loop.call_later(0.1, late.set)
            raise OSError("disk")

        if how == "group":
            try:
                async with anyio.create_task_group() as group:
                    group.start_soon(WAYS[way], work)
                    await fail()
            except* OSError:
                pass
        else:
            with anyio.CancelScope() as scope, suppress(OSError):
                failing = asyncio.create_task(fail())
                failing.add_done_callback(lambda failed: (failed.exception(), scope.cancel()))
                await WAYS[way](work)
        await over.wait()
        return "continued"

    with anyio.fail_after(SECONDS / 2):
        assert (await run(server_with(tool), "tool", {}, ABC, era=era)).text == "continued"
    assert [type(error).__name__ for error in ends] == ["CancelledError"]


async def test_a_question_of_an_own_thread_ends_with_the_call() -> None:
    user = Ponders()

    async def tool() -> str:
        thread = threading.Thread(target=copy_context().run, args=(in_vain,))
        thread.start()
        await user.shown.wait()
        return "ended"

    def in_vain() -> None:
        with suppress(asyncio.CancelledError):
            from_thread.ask("a?", str)

    with anyio.fail_after(SECONDS / 2):
        async with Client(server_with(tool), mode="legacy", elicitation_callback=user) as client:
            assert text(await client.call_tool("tool")) == "ended"
            await user.closed.wait()


@pytest.mark.parametrize("way", WAYS)
async def test_a_cancelled_call_takes_the_questions_of_all_its_threads_back(way: str) -> None:
    async def tool() -> str:
        return await WAYS[way](lambda: from_thread.ask("a?", str))

    await cancelled_while_asking(tool)


@pytest.mark.timeout(2 * SECONDS)  # a loop that is stopped keeps no time
@pytest.mark.usefixtures("soon_blocked")
@pytest.mark.parametrize("how", ["fails", "is cancelled"])
async def test_a_pool_that_stops_the_loop_ends_the_questions_of_its_threads(
    how: str, caplog: pytest.LogCaptureFixture
) -> None:
    user = Ponders()

    def work() -> None:
        with suppress(asyncio.CancelledError):
            from_thread.ask("a?", str)

    async def tool() -> str:
        with suppress(OSError), ThreadPoolExecutor() as pool:
            asked = pool.submit(copy_context().run, work)
            await user.shown.wait()
            if how == "fails":
                raise OSError("disk")
            await asyncio.wrap_future(asked)
        return "continued"

    async def plain() -> str:
        return "plain"

    with anyio.fail_after(SECONDS):
        async with Client(server_with(tool, plain), mode="legacy", elicitation_callback=user) as client:
            calling = asyncio.create_task(client.call_tool("tool"))
            await user.shown.wait()
            if how == "is cancelled":
                calling.cancel()
            else:
                assert text(await calling) == BROKEN
                assert "The event loop is blocked until this thread ends" in logged_mistake(caplog)
            await user.closed.wait()
            assert text(await client.call_tool("plain")) == "plain"


@contextmanager
def _interruptible() -> Generator[None]:
    """Let Ctrl-C interrupt even if the tests run in the background, where SIGINT is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send a signal to a thread")
def test_an_interrupted_thread_takes_its_question_back() -> None:
    """The main thread blocks in a verb, and the user presses Ctrl-C."""
    contexts: list[Context] = []
    known, ended = threading.Event(), threading.Event()
    closed: list[str] = []

    async def tool() -> str:
        contexts.append(copy_context())
        known.set()
        await asyncio.to_thread(ended.wait, SECONDS)
        return "ended"

    async def interrupt(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await anyio.sleep(SECONDS)
        except asyncio.CancelledError:
            closed.append("closed")
            raise
        return ElicitResult(action="cancel")

    async def serve() -> str:
        async with Client(server_with(tool), mode="legacy", elicitation_callback=interrupt) as client:
            return text(await client.call_tool("tool"))

    with ThreadPoolExecutor(1) as pool, _interruptible():
        serving = pool.submit(asyncio.run, serve())
        assert known.wait(SECONDS)
        with pytest.raises(KeyboardInterrupt):
            contexts[0].run(from_thread.ask, "a?", str)
        ended.set()
        assert serving.result(SECONDS) == "ended"
    assert closed == ["closed"]


# --- where it cannot work --------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_thread_that_does_not_know_its_call_gets_advice(era: Era) -> None:
    def work() -> str:
        try:
            return from_thread.ask("a?", str)
        except NoCall as error:
            return str(error)

    async def tool() -> str:
        return await asyncio.get_running_loop().run_in_executor(None, work)

    told = (await run(server_with(tool), "tool", {}, ABC, era=era)).text
    assert "outside an MCP call" in told
    assert "copy_context" in told
    assert "asyncio.to_thread" in told


async def test_a_thread_that_outlives_its_call_gets_an_error() -> None:
    contexts: list[Context] = []

    async def tool() -> str:
        contexts.append(copy_context())
        return "done"

    async with connect(server_with(tool)) as client:
        await client.call_tool("tool")
        with pytest.raises(NoCall):
            await asyncio.to_thread(contexts[0].run, from_thread.ask, "a?", str)


def test_a_call_whose_loop_is_gone_is_over() -> None:
    contexts: list[Context] = []

    async def serve() -> None:
        async def tool() -> str:
            contexts.append(copy_context())
            return "done"

        async with connect(server_with(tool)) as client:
            await client.call_tool("tool")

    asyncio.run(serve())
    call = contexts[0][current_call]
    assert call is not None
    call.ended = False  # as if it had been cut off
    with pytest.raises(NoCall):
        contexts[0].run(from_thread.ask, "a?", str)


@pytest.mark.parametrize("verb", ["ask", "complete"])
async def test_the_loop_of_the_call_is_not_to_be_blocked(verb: str, caplog: pytest.LogCaptureFixture) -> None:
    async def tool() -> str:
        try:
            return str(from_thread.ask("a?", str) if verb == "ask" else from_thread.complete("id"))
        except Exception:
            return "caught"

    assert f"await midcall.{verb}(" in await mistake_in(tool, caplog)


async def test_a_thread_asks_nothing_inside_once(caplog: pytest.LogCaptureFixture) -> None:
    def effect() -> str:
        try:
            return from_thread.ask("a?", str)
        except Exception:
            return "caught"

    async def tool() -> str:
        return await once("effect", asyncio.to_thread, effect)

    assert "inside the function of a once" in await mistake_in(tool, caplog)


# --- complete --------------------------------------------------------------------------------


async def waits() -> str:
    return await visit("Go", lambda id: f"https://example.com/{id}", id="order-7", wait=True)


class Goes(Script):
    """Says yes to a visit, and that it was asked for."""

    def __init__(self) -> None:
        super().__init__(lambda asked: "go")
        self.gone = asyncio.Event()

    async def __call__(self, context: ClientRequestContext | None, params: ElicitRequestParams) -> ElicitResult:
        answer = await super().__call__(context, params)
        self.gone.set()
        return answer


@pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_plain_thread_completes_a_visit(kind: Kind, era: Era) -> None:
    goes, first = Goes(), threading.Event()

    def webhook() -> bool:
        assert first.wait(SECONDS)
        return from_thread.complete("order-7")

    with ThreadPoolExecutor(1) as pool, anyio.fail_after(SECONDS):
        done = pool.submit(webhook)
        async with connect(server_with(waits, kind=kind, store=Memory()), goes, era=era) as client:
            async with asyncio.TaskGroup() as group:
                calling = group.create_task(client.call_tool("waits"))
                await goes.gone.wait()
                first.set()
            assert text(calling.result()) == "order-7"
            assert await asyncio.wrap_future(done) is True
            assert await asyncio.to_thread(from_thread.complete, "order-7") is False


async def test_a_loop_of_another_thread_completes_a_visit_at_home() -> None:
    """What wakes a waiting call belongs to the loop that serves it."""
    goes = Goes()
    with anyio.fail_after(SECONDS):
        async with connect(server_with(waits), goes, era="2025-11-25") as client, asyncio.TaskGroup() as group:
            calling = group.create_task(client.call_tool("waits"))
            await goes.gone.wait()
            completed = await asyncio.to_thread(lambda: asyncio.run(midcall.complete("order-7")))
    assert (completed, text(calling.result())) == (True, "order-7")


async def test_a_sync_tool_completes_a_visit() -> None:
    def tool() -> str:
        return f"{from_thread.complete('order-8')} {from_thread.complete('order-8')}"

    server = server_with(tool, store=Memory())
    assert (await run(server, "tool")).text == "True False"


def test_without_any_loop_complete_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "installations", set[Any]())
    with pytest.raises(Misuse) as refused:
        in_a_thread(lambda: from_thread.complete("order-9"))
    assert "asyncio.run(midcall.complete(" in str(refused.value)
