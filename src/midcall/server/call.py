"""One logical `tools/call`, `prompts/get` or `resources/read`, over as many rounds as it takes."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cached_property
from threading import get_ident
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.session import ServerSession
from mcp_types import ElicitationCapability, RequestId
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall.core.journal import Foreign, Journal
from midcall.core.replay import Replay, unused_answers
from midcall.errors import MidcallError, Misuse, NoCall, ReplayMismatch
from midcall.server.frameworks.session import AskingSession
from midcall.server.running.following import follow_request, with_params, with_session
from midcall.server.running.run import Run
from midcall.wording import mistakes as wording

if TYPE_CHECKING:
    from midcall.server.installation import Installation
    from midcall.server.running.handover import Claim

__all__ = [
    "Call",
    "aside",
    "current_call",
    "handed_down",
    "in_background_task",
    "input_of",
    "inside_effect",
    "refuse_inside_effect",
    "running_call",
]

current_call: ContextVar[Call | None] = ContextVar("midcall_call", default=None)
inside_effect: ContextVar[bool] = ContextVar("midcall_inside_effect", default=False)
aside: ContextVar[bool] = ContextVar("midcall_aside", default=False)
"""Whether a verb runs for a thread of the author's own: such threads have no order among them."""

TOGETHER_SECONDS: Final = 0.5
"""How long an answer of a replay waits for branches that are still on their way to the others of its round. Less than
a round waits for them that is about to leave."""


class Call:
    """What a verb needs to know about the call that it is used in."""

    run: Run
    """The execution of its code; set when that starts."""
    later: str | None = None
    """Why the call is to go on later, if it is."""
    requires: dict[str, dict[str, Any]] | None = None
    """Where the client is sent by -32042 before it makes the call again, by the ids of the visits."""
    relays = False
    """Whether it goes on with an answer that the model brings."""
    for_programs: Mapping[str, Any] | None = None
    """What its result tells programs, and no model, where it goes on later."""
    held_until: float | None = None
    """Until when this request is held for a person, once it is."""
    ahead: Mapping[str, Any] | None = None
    """Answers that came before their questions, where the author takes them."""
    around: Call | None = None
    """The call whose tool is a client of this one, in the same process."""
    claim: Claim | None = None
    """The turn that this process continues, where replicas share a store."""
    failed: MidcallError | None = None
    """The author's mistake that ends the call, whatever its tool returns."""
    ended = False
    recalls = False
    """Whether there is anything in the journal to recall: most calls ask nothing."""
    foreign: Foreign | None = None
    """What the handler sees as its own state and answers."""
    _met: asyncio.Event | None = None
    """Set when a replay has asked for all answers of its round, or won't."""

    def __init__(
        self, installation: Installation, ctx: ServerRequestContext[Any, Any], journal: Journal | None = None
    ) -> None:
        # As little as can be: most calls ask nothing.
        self.installation = installation
        self._ctx = ctx
        self.version = ctx.protocol_version
        self.lifespan = ctx.lifespan_context
        self.followers: list[Any] = []
        """What the framework has of the request, to be kept up to date."""
        if journal is not None:
            self.journal = journal
            self.replay = Replay(journal)
            self.foreign = journal.foreign

    # --- its run ------------------------------------------------------------------------------

    def start(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> None:
        """Run the tool. It sees `ctx`, with a session that asks through us."""
        self._next = call_next
        self.run = Run(self.called)
        self.thread = get_ident()
        self.around = current_call.get()
        self.asking_session = AskingSession(self._ctx.session, self)
        ctx = with_session(ctx, self.asking_session)
        self.followers.append(ctx)
        self.run.carry(current_call, self)
        self.run.start(self.run.context.run(call_next, ctx))
        self.installation.runs.add(self)

    def again(self) -> Call:
        """The same call, to be run again from what was recorded, within the same request."""
        again = Call(self.installation, self._ctx, self.journal)
        again.recalls = True
        again.foreign = self.foreign
        again.start(with_params(self._ctx, handed_down(self.params or {}, self.journal)), self._next)
        return again

    def follow(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """A newer request continues the call: whatever the tool holds of the request follows it."""
        self._ctx = ctx
        self.version = ctx.protocol_version
        self.forget_round()
        self.asking_session.follow(ctx.session)
        for follower in self.followers:
            follow_request(follower, ctx)
        self.run.follow()

    def forget_round(self) -> None:
        """The call is continued: how its last request ended doesn't matter any more."""
        self.later = self.requires = self.for_programs = self.held_until = None
        self.relays = False

    def let_go(self) -> None:
        """The request returns, and the run stays: until the next one there is nobody to talk to."""
        self.asking_session.detach()

    async def is_ours(self) -> bool:
        """Whether no other replica has taken the call over."""
        handover = self.installation.runs.handover
        return handover is None or not self.journal.turn or await handover.has(self.claim, self.name, self.journal.turn)

    async def end(self, why: str) -> None:
        """End the run. Its questions fail, and new ones raise at once."""
        self.let_go()
        await self.run.end(why)
        self.ended = True

    @property
    def session(self) -> ServerSession:
        """The SDK's session of this request."""
        return self._ctx.session

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where the call runs; for threads, which run elsewhere."""
        return self.run.loop

    # Made when they are first used: most calls ask nothing, and need none of these.

    @cached_property
    def journal(self) -> Journal:
        return Journal()

    @cached_property
    def replay(self) -> Replay:
        return Replay(self.journal)

    @property
    def progress_token(self) -> str | int | None:
        """Where the caller wants to hear of progress."""
        return self._ctx.meta.get("progress_token") if self._ctx.meta else None

    @property
    def modern(self) -> bool:
        """Whether the version has rounds, and no pushing."""
        return self.version in MODERN_PROTOCOL_VERSIONS

    @property
    def method(self) -> str:
        return self._ctx.method

    @property
    def params(self) -> Mapping[str, Any] | None:
        return self._ctx.params

    @property
    def request_id(self) -> RequestId | None:
        return self._ctx.request_id

    @property
    def over_http(self) -> bool:
        """Whether the newest request came over HTTP, where a broken connection looks like a cancellation."""
        return self._ctx.request is not None

    @property
    def cancel_requested(self) -> bool:
        """Whether the client has said that it gives up on the newest request."""
        event = AskingSession(self._ctx.session, self).cancel_requested
        return event is not None and event.is_set()

    @property
    def client_name(self) -> str:
        """What the client calls itself."""
        params = self.session.client_params
        return "" if params is None else params.client_info.title or params.client_info.name

    @cached_property
    def owner(self) -> str:
        """Names the user whose call it is; empty where nobody signed in."""
        return self.installation.owner(self._ctx)

    async def go_on_later(self, why: str, *, answers: bool = False) -> None:
        """Let the request return a code to resume with, if it `answers` together with an answer. Returns then."""
        self.later = why
        self.relays = answers
        await self.run.pause()

    async def meet(self, *identities: str) -> None:
        """A replay asks for these: hold their answers until all that came with them were asked for, too.

        A live run gets the answers of a round at once. If a replay got them one after the other, a branch that fails at
        its answer could end another one before that has come to its own.
        """
        if not any(map(self.replay.came_with_others, identities)):
            return
        if self._met is None:
            self._met = asyncio.Event()
            self.loop.call_later(TOGETHER_SECONDS, self._met.set)
        if self.replay.has_met_round:
            self._met.set()
            await asyncio.sleep(0)  # those who waited come first
        else:
            await self._met.wait()
        await self.run.check()

    def leftover(self) -> ReplayMismatch | None:
        """The error of a replay that has ended without using an answer of this round."""
        unused = self.replay.leftover() if self.recalls else []
        return unused_answers(unused) if unused else None

    def drift(self) -> ReplayMismatch | None:
        """The error of a replay that asks something else every time."""
        unused = self.replay.drift() if self.recalls else []
        return unused_answers(unused) if unused else None

    @property
    def claims(self) -> bool:
        """Whether effects are claimed in the store: where the call may be run again from what it recorded."""
        return self.installation.keeping is not None and (self.modern or self.journal.target is not None)

    @property
    def can_go_on_later(self) -> bool:
        return self.installation.keeping is not None and self.method == "tools/call"

    @property
    def has_app_of_its_own(self) -> bool:
        """Whether its tool has an App that is not ours, or is none that a host knows."""
        target = self.journal.target
        tools = {(self.params or {}).get("name"), None if target is None else target.name} - {None}
        return any(self.installation.own_apps.get(str(tool), True) for tool in tools)

    @property
    def elicitation(self) -> ElicitationCapability | None:
        """What the client declared about being asked."""
        capabilities = self.session.client_capabilities
        return None if capabilities is None else capabilities.elicitation

    @property
    def name(self) -> str:
        """The call's own name, given when it is first needed."""
        if not self.journal.call:
            self.journal.call = os.urandom(18).hex()
        return self.journal.call

    def derive(self, *names: str) -> str:
        """An unguessable name that never changes for this call: 144 bits from the call's own."""
        raw = hashlib.sha256("\0".join((self.name, *names)).encode()).digest()
        return urlsafe_b64encode(raw[:18]).decode()

    @property
    def called(self) -> object:
        """The tool, prompt or resource, as the client names it."""
        if "journal" in self.__dict__ and (target := self.journal.target) is not None:  # no journal only to look
            return target.name
        params = self.params or {}
        return params.get("name") or params.get("uri")

    @property
    def on_line(self) -> bool:
        """Whether what is asked or done now has one order among all that the tool asks and does.

        That of its own task, or of its one thread, has, but not while a branch waits: what the others have handed it by
        then comes in another order once that one is answered, too.
        """
        return not aside.get() and self.run.on_line() and not self.journal.has_waiting_branch


def handed_down(params: Mapping[str, Any], journal: Journal) -> dict[str, Any]:
    """What the handler is to see: its own state and answers, and the call that a code stands for."""
    handed = {name: value for name, value in params.items() if name not in ("requestState", "inputResponses")}
    if journal.target is not None:
        handed |= journal.target._asdict()
    if (foreign := journal.foreign) is not None:
        if foreign.state is not None:
            handed["requestState"] = foreign.state
        if foreign.responses:
            handed["inputResponses"] = foreign.responses
    return handed


def running_call(verb: str) -> Call:
    """The call that this verb is used in.

    Raises:
        NoCall: There is none.
        Misuse: It is inside the function of a `once`, which must not ask.
    """
    if in_background_task():
        raise NoCall(
            f"{verb}() was used in a background task, which can't reach the user.",
            advice="Ask in a tool without task=True and hand the answers to the task, or return an InputRequiredResult "
            "from the tool and read ctx.input_responses when FastMCP runs it again.",
            for_model="This tool needs input from the user, and can't ask for it while it runs as a background task. "
            "Call it without a task.",
        )
    call = current_call.get()
    if call is None:
        raise NoCall(
            f"{verb}() was used outside an MCP call.",
            advice=(
                "Use it in a tool, prompt or resource of a server that midcall.install(...) was called on, and in "
                "a task that the tool started. Of servers that are mounted in each other, install it on the outer "
                "one, which clients connect to. The server must run on asyncio: on trio, tools cannot ask."
            ),
            for_model=wording.model_broken(),
        )
    if call.ended and call.run.ending is None:  # a run that was ended goes on to fail: raising at once could spin
        raise NoCall(wording.call_is_over(verb), advice=wording.call_is_over_advice(), for_model=wording.model_broken())
    if inside_effect.get():
        refuse_inside_effect(verb)
    return call


def in_background_task() -> bool:
    """Whether this runs in a worker of FastMCP's tasks extension: its request has been answered long ago."""
    tasks = sys.modules.get("fastmcp_tasks.context")
    return tasks is not None and tasks.get_task_context() is not None


def refuse_inside_effect(verb: str) -> None:
    if inside_effect.get():
        raise Misuse(wording.asks_inside_once(verb), for_model=wording.model_broken())


def input_of(params: Mapping[str, Any] | None) -> tuple[str | None, Mapping[str, Any]]:
    """The state and the answers that a retry brings."""
    if not params:
        return None, {}
    responses = params.get("inputResponses")
    return params.get("requestState"), cast("Mapping[str, Any]", responses) if isinstance(responses, Mapping) else {}
