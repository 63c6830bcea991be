"""Questions that are pushed from a branch of the tool: they are taken back with the call, however it ends."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar
from typing import Any, Literal

import anyio
import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import ElicitRequestParams, ElicitResult

from midcall import TimedOut, ask, ask_all, from_thread
from midcall.client.transport.target import ConnectOptions, reach
from midcall.core.question import Question
from midcall.protocol import DECIDED
from midcall.server.call import current_call
from midcall.server.channels import push
from midcall.stores.memory import Memory
from tests.garbage import collected
from tests.kinds import Kind, server_with
from tests.loops import Factory, on_every_loop
from tests.rounds import text
from tests.server.channels.test_required import served

SECONDS = 20
KEYS = "k key of the tests: 0123456789abcdef"

Where = Literal["memory", "http"]
Tool = Callable[[], Awaitable[str]]

on_every_server = pytest.mark.parametrize("kind", ["mcpserver", "fastmcp"])
over_every_transport = pytest.mark.parametrize("where", ["memory", "http"])
in_every_way = pytest.mark.parametrize("timeout", [None, 60.0], ids=["waits", "timeout"])


@pytest.fixture(autouse=True)
def nothing_is_logged(no_complaints: None) -> Iterator[None]:
    with collected():
        yield


class User:
    """Declines what says No, when the other form is there; thinks about all else until it is taken back."""

    def __init__(self) -> None:
        self.shown: dict[str, anyio.Event] = defaultdict(anyio.Event)
        self.closed: dict[str, anyio.Event] = defaultdict(anyio.Event)
        self.closings: list[str] = []

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        self.shown[params.message].set()
        if params.message == "No?":
            await self.shown["1?"].wait()
            return ElicitResult(action="decline", _meta={DECIDED: True})
        try:
            await anyio.sleep_forever()
        finally:
            self.closings.append(params.message)
            self.closed[params.message].set()
        raise AssertionError


class Branch:
    """A branch that asks, and how it ended: with an answer, or with an error."""

    def __init__(self, message: str = "1?", **options: Any) -> None:
        self._message, self._options = message, options
        self.ended = anyio.Event()
        self.how: object = None

    async def __call__(self) -> str:
        try:
            answer = await ask(self._message, str, **self._options)
        except BaseException as exc:
            self._end(type(exc))
            raise
        self._end(answer)
        return answer

    def _end(self, how: object) -> None:
        self.how = how
        self.ended.set()


@asynccontextmanager
async def connected(
    user: User, *tools: Callable[..., Any], kind: Kind = "mcpserver", where: Where = "memory", **options: Any
) -> AsyncIterator[Client]:
    server = server_with(*tools, kind=kind, keys=KEYS, **options)
    with anyio.fail_after(SECONDS):
        if where == "memory":
            async with Client(
                reach(server, ConnectOptions()).transport, mode="legacy", elicitation_callback=user
            ) as client:
                yield client
            return
        async with (
            served(server, stateless=False) as url,
            Client(url, mode="legacy", elicitation_callback=user) as client,
        ):
            yield client


async def cancelled(client: Client, user: User, *messages: str, **options: Any) -> None:
    """Call the tool, and give up on it once these forms are there. All of them are closed."""
    calling = asyncio.create_task(client.call_tool("tool", **options))
    for message in messages:
        await user.shown[message].wait()
    calling.cancel()
    for message in messages:
        await user.closed[message].wait()


# --- the client cancels the call ---------------------------------------------------------------


@on_every_server
@over_every_transport
@in_every_way
async def test_cancelling_a_call_closes_the_forms_that_it_has_gathered(
    kind: Kind, where: Where, timeout: float | None
) -> None:
    user, branches = User(), [Branch("1?", timeout=timeout), Branch("2?", timeout=timeout)]

    async def tool() -> str:
        return "".join(await asyncio.gather(*(branch() for branch in branches)))

    async with connected(user, tool, kind=kind, where=where) as client:
        await cancelled(client, user, "1?", "2?")
        for branch in branches:
            await branch.ended.wait()
            assert branch.how is asyncio.CancelledError
    assert sorted(user.closings) == ["1?", "2?"]


async def awaits_a_task() -> str:
    return await asyncio.create_task(ask("1?", str))


async def awaits_a_task_of_a_task() -> str:
    return await asyncio.create_task(awaits_a_task())


async def shields() -> str:
    return await asyncio.shield(ask("1?", str))


async def waits_for() -> str:
    return await asyncio.wait_for(ask("1?", str), SECONDS)


async def gathers_failures() -> str:
    return str(await asyncio.gather(ask("1?", str), return_exceptions=True))


async def waits() -> str:
    done, _ = await asyncio.wait([asyncio.create_task(ask("1?", str))])
    return done.pop().result()


async def opens_a_group() -> str:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(ask("1?", str))
    return task.result()


async def opens_a_group_of_anyio() -> str:
    async def branch() -> None:
        await ask("1?", str)

    async with anyio.create_task_group() as group:
        group.start_soon(branch)
    return "asked"


async def asks_all_in_a_task() -> str:
    return str(await asyncio.create_task(ask_all(Question("1?", str), Question("2?", str))))


async def asks_in_a_thread() -> str:
    return await asyncio.create_task(asyncio.to_thread(from_thread.ask, "1?", str))


async def asks_plainly() -> str:
    return await ask("1?", str)


WAYS: list[Callable[[], Coroutine[Any, Any, str]]] = [
    awaits_a_task,
    awaits_a_task_of_a_task,
    shields,
    waits_for,
    gathers_failures,
    waits,
    opens_a_group,
    opens_a_group_of_anyio,
    asks_all_in_a_task,
    asks_in_a_thread,
    asks_plainly,
]


@pytest.mark.parametrize("store", [False, True], ids=["alone", "store"])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_cancelling_a_call_closes_its_form_in_every_branch(way: Tool, store: bool) -> None:
    user = User()

    async def tool() -> str:
        return await way()

    async with connected(user, tool, store=Memory() if store else None) as client:
        await cancelled(client, user, "1?")


async def test_cancelling_a_call_with_a_progress_token_closes_its_forms() -> None:
    user = User()

    async def tool() -> str:
        return "".join(await asyncio.gather(ask("1?", str), ask("2?", str, timeout=SECONDS)))

    async def heard(progress: float, total: float | None, message: str | None) -> None: ...

    async with connected(user, tool) as client:
        await cancelled(client, user, "1?", "2?", progress_callback=heard)


@on_every_loop
def test_the_forms_of_branches_are_closed_on_every_loop(loop: Factory) -> None:
    async def tool() -> str:
        return "".join(await asyncio.gather(ask("1?", str), ask("2?", str)))

    async def main() -> None:
        user = User()
        async with connected(user, tool) as client:
            await cancelled(client, user, "1?", "2?")

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(main())


# --- the call ends -----------------------------------------------------------------------------

Ending = Literal["declined", "raised", "detached", "shielded"]
TEXTS: dict[Ending, str] = {"declined": "declined", "raised": "disk", "detached": "done", "shielded": "done"}


def tool_that_ends(how: Ending, user: User, branch: Branch, tasks: set[asyncio.Task[Any]]) -> Tool:
    """A tool that ends in this way while the branch waits for its answer."""

    async def fails() -> str:
        await user.shown["1?"].wait()
        raise OSError("disk")

    async def tool() -> str:
        if how == "declined":
            return "".join(await asyncio.gather(branch(), ask("No?", str)))
        if how == "raised":
            try:
                return "".join(await asyncio.gather(branch(), fails()))
            except OSError as exc:
                return str(exc)
        task = asyncio.create_task(branch())
        tasks.add(task)
        if how == "shielded":
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(task), 0.05)
        await user.shown["1?"].wait()
        return "done"

    return tool


@on_every_server
@over_every_transport
@in_every_way
@pytest.mark.parametrize("how", TEXTS)
async def test_a_call_that_ends_takes_back_what_its_branches_still_ask(
    how: Ending, kind: Kind, where: Where, timeout: float | None
) -> None:
    user, branch = User(), Branch(timeout=timeout)
    tool = tool_that_ends(how, user, branch, tasks := set())
    async with connected(user, tool, kind=kind, where=where) as client:
        assert TEXTS[how] in text(await client.call_tool("tool"))
        await user.closed["1?"].wait()
        await branch.ended.wait()
    assert branch.how is asyncio.CancelledError
    assert user.closings == ["1?"]
    assert all(task.done() for task in tasks)


@pytest.mark.parametrize("how", TEXTS)
async def test_a_call_that_could_resume_later_withdraws_its_questions_too(how: Ending) -> None:
    user, branch = User(), Branch()
    tool = tool_that_ends(how, user, branch, set())
    async with connected(user, tool, store=Memory()) as client:
        assert TEXTS[how] in text(await client.call_tool("tool"))
        await user.closed["1?"].wait()
        await branch.ended.wait()
    assert branch.how is asyncio.CancelledError


@over_every_transport
async def test_a_thread_that_nobody_waits_for_is_let_go_with_its_call(where: Where) -> None:
    user, threads = User(), set[asyncio.Task[Any]]()

    async def tool() -> str:
        threads.add(asyncio.create_task(asyncio.to_thread(from_thread.ask, "1?", str)))
        await user.shown["1?"].wait()
        return "done"

    async with connected(user, tool, where=where) as client:
        assert text(await client.call_tool("tool")) == "done"
        await user.closed["1?"].wait()
        [ended] = await asyncio.gather(*threads, return_exceptions=True)
    assert isinstance(ended, asyncio.CancelledError)


async def test_a_question_that_comes_when_its_call_has_ended_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call was there when the verb began, and is over when the form would go out."""
    user, tasks, reached, ended = User(), set[asyncio.Task[Any]](), anyio.Event(), anyio.Event()
    begin = push.send

    async def late(call: Any, params: dict[str, Any]) -> dict[str, Any]:
        reached.set()
        await ended.wait()
        return await begin(call, params)

    monkeypatch.setattr("midcall.server.channels.push.send", late)

    async def tool() -> str:
        tasks.add(asyncio.create_task(ask("1?", str)))
        await reached.wait()
        return "done"

    async with connected(user, tool) as client:
        assert text(await client.call_tool("tool")) == "done"
        ended.set()
        [how] = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(how, asyncio.CancelledError)
    assert not user.shown


async def test_a_client_that_takes_nothing_in_does_not_hold_the_result_up(monkeypatch: pytest.MonkeyPatch) -> None:
    user, branch, asleep = User(), Branch(), anyio.Event()
    tell = JSONRPCDispatcher[Any]._cancel_outbound

    async def slowly(*args: Any) -> None:
        await asleep.wait()
        await tell(*args)

    monkeypatch.setattr(JSONRPCDispatcher, "_cancel_outbound", slowly)
    monkeypatch.setattr(push, "SENDING_SECONDS", 0.05)
    async with connected(user, tool_that_ends("detached", user, branch, set())) as client:
        assert text(await client.call_tool("tool")) == "done"
        assert not branch.ended.is_set()
        asleep.set()
        await user.closed["1?"].wait()
        await branch.ended.wait()


# --- the call continues ------------------------------------------------------------------------


async def test_a_branch_that_times_out_closes_its_form_and_the_call_continues() -> None:
    user = User()

    async def late() -> str:
        try:
            return await ask("1?", str, timeout=0.05)
        except TimedOut:
            return "too late"

    async def tool() -> str:
        [said] = await asyncio.gather(late())
        await user.closed["1?"].wait()
        return said

    async with connected(user, tool) as client:
        assert text(await client.call_tool("tool")) == "too late"


async def test_a_branch_that_the_tool_cancels_has_closed_its_form_when_it_ends() -> None:
    user, sent = User(), list[frozenset[asyncio.Task[Any]]]()

    async def tool() -> str:
        task = asyncio.create_task(ask("1?", str))
        await user.shown["1?"].wait()
        task.cancel()
        await asyncio.wait([task])
        call = current_call.get()
        assert call is not None
        sent.append(call.run.sending)
        await user.closed["1?"].wait()
        return "continued"

    async with connected(user, tool) as client:
        assert text(await client.call_tool("tool")) == "continued"
    assert sent == [frozenset()]


async def test_a_branch_that_a_scope_cancels_over_and_over_has_closed_its_form_when_it_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    user, sent = User(), list[frozenset[asyncio.Task[Any]]]()
    tell = JSONRPCDispatcher[Any]._cancel_outbound

    async def by_and_by(*args: Any) -> None:
        for _ in range(50):
            await asyncio.sleep(0)
        await tell(*args)

    monkeypatch.setattr(JSONRPCDispatcher, "_cancel_outbound", by_and_by)

    async def tool() -> str:
        async with anyio.create_task_group() as group:
            group.start_soon(Branch())
            await user.shown["1?"].wait()
            group.cancel_scope.cancel()
        call = current_call.get()
        assert call is not None
        sent.append(call.run.sending)
        await user.closed["1?"].wait()
        return "continued"

    async with connected(user, tool) as client:
        assert text(await client.call_tool("tool")) == "continued"
    assert sent == [frozenset()]


async def test_a_tool_that_asks_without_branches_needs_no_extra_task() -> None:
    user, seen = User(), list[Any]()

    async def look() -> None:
        await user.shown["1?"].wait()
        call = current_call.get()
        assert call is not None
        seen.append(call.run.sending)

    async def tool() -> str:
        looking = asyncio.create_task(look())
        try:
            return await ask("1?", str, timeout=0.05)
        except TimedOut:
            await looking
            return "asked"

    async with connected(user, tool) as client:
        assert text(await client.call_tool("tool")) == "asked"
    assert seen == [frozenset()]


who: ContextVar[str] = ContextVar("who")


async def test_a_question_of_a_branch_leaves_in_the_context_of_the_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracing and other code that inspects the context sees that of the branch."""
    found: list[str] = []
    send = JSONRPCDispatcher[Any].send_raw_request

    async def look(self: Any, method: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        if method == "elicitation/create":
            found.append(who.get())
        return await send(self, method, *args, **kwargs)

    monkeypatch.setattr(JSONRPCDispatcher, "send_raw_request", look)

    async def branch(name: str) -> str:
        who.set(name)
        return await ask("1?", str, timeout=0.05, default="-")

    async def tool() -> str:
        await asyncio.gather(branch("a"), branch("b"), return_exceptions=True)
        return "asked"

    async with connected(User(), tool) as client:
        assert text(await client.call_tool("tool")) == "asked"
    assert sorted(found) == ["a", "b"]


async def test_a_group_that_outlives_the_call_continues_when_its_question_is_withdrawn() -> None:
    user, branch, went_on = User(), Branch(), False

    async def asks() -> None:
        with suppress(asyncio.CancelledError):
            await branch()

    async with anyio.create_task_group() as outer:

        async def tool() -> str:
            outer.start_soon(asks)
            await user.shown["1?"].wait()
            return "ended"

        async with connected(user, tool) as client:
            assert text(await client.call_tool("tool")) == "ended"
            await user.closed["1?"].wait()
            await branch.ended.wait()
        assert not outer.cancel_scope.cancel_called
        went_on = True
    assert went_on
    assert branch.how is asyncio.CancelledError


@on_every_loop
def test_a_tool_that_swallows_its_cancel_and_returns_leaves_no_cycle(loop: Factory) -> None:
    class Held:
        """What only the collector would free, if there were a cycle."""

    held: list[weakref.ref[Held]] = []
    begun = anyio.Event()

    async def tool() -> str:
        here = Held()
        held.append(weakref.ref(here))
        begun.set()
        with suppress(asyncio.CancelledError):
            await anyio.sleep_forever()
        return "continued"

    async def main() -> None:
        async with connected(User(), tool) as client:
            calling = asyncio.create_task(client.call_tool("tool"))
            await begun.wait()
            calling.cancel()
            await asyncio.wait([calling])
            await client.list_tools()

    gc.disable()
    try:
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(main())
        assert held[0]() is None
    finally:
        gc.enable()
