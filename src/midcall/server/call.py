"""One logical `tools/call`, `prompts/get` or `resources/read`, over as many rounds as it takes."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from mcp.server.context import CallNext, ServerRequestContext
from mcp.server.session import ServerSession
from mcp_types import SERVER_INFO_META_KEY, ElicitationCapability
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall.audit import Name, digest
from midcall.core.journal import REQUIRED, Entry, Journal, mark_name
from midcall.core.replay import DOUBT, Replay, unmet_error
from midcall.core.wire import spell
from midcall.errors import MidcallError, Misuse, NoCall, ReplayMismatch, StoreError
from midcall.protocol import ANSWER, CONTINUE, FORMS_SINCE, URLS_SINCE, has_visit_errors
from midcall.server import model_text
from midcall.server.frameworks.context import follow_request, hand_down, with_session
from midcall.server.frameworks.session import AskingSession, is_cancelled
from midcall.server.resuming.pages import Page, Trail
from midcall.server.running.run import ELSEWHERE, Run
from midcall.settings.calls import TOGETHER_SECONDS
from midcall.stores.interactions import Ending, short

if TYPE_CHECKING:
    from midcall.server.installation import Installation
    from midcall.server.running.handover import Claim

logger = logging.getLogger("midcall")

_PAGES: Final = mark_name("pages")
"""The mark in the journal with the pages of the call."""

current_call: ContextVar[Call | None] = ContextVar("midcall_call", default=None)
inside_effect: ContextVar[bool] = ContextVar("midcall_inside_effect", default=False)


class Suspension:
    """How the request that is being served returns before its tool has ended."""

    __slots__ = ("for_programs", "held_until", "later", "pages", "relays", "requires")

    def __init__(self) -> None:
        self.later: str | None = None
        """Why the call continues later, if it does: then its result is a resume code."""
        self.relays = False
        """Whether the model brings the answer together with the code."""
        self.requires: dict[str, dict[str, Any]] = {}
        """Where -32042 sends the client before it makes the call again, by the ids of the visits."""
        self.for_programs: Mapping[str, Any] = {}
        """What the result says to programs, and not to the model."""
        self.held_until: float | None = None
        """Until when the request is held for a person."""
        self.pages: dict[str, Page] = {}
        """What the resume code waits for, by the ids of the visits."""


class Call:
    """What a verb needs to know about the call that it is used in.

    What it has recorded is in its `journal`, which `replay` reads and writes. How it is answered is up to its `run`, as
    long as that lives, and to its `suspension`.
    """

    run: Run
    """The execution of its code; set when that starts."""
    ahead: Mapping[str, Any] | None = None
    """Answers that came before their questions, if the author accepts those."""
    around: Call | None = None
    """The call whose tool is a client of this one, in the same process."""
    claim: Claim | None = None
    """The turn that this process continues, if replicas share a store."""
    failed: MidcallError | None = None
    """The author's mistake that ends the call, even if its tool returns a result."""
    ended = False
    """Whether the run is over, or is being ended."""
    progress: float = 0
    """The most that its tool has reported."""
    is_between_requests = False
    """Whether its request has returned, or is lost, and the next one has not come yet: there is nobody to talk to."""
    is_unattended = False
    """Whether it continues without a request that could be held for a person."""
    size = 0
    """How long the text of its journal was when its last round left."""
    first_size = 0
    """About how many bytes its first request takes, once it has waited."""
    suspension: Suspension | None = None
    """How its request returns before the tool has ended, if it does."""
    trail: Trail | None = None
    """The user's way from page to page, if it waits for pages between two requests."""
    pages: Sequence[str] = ()
    """The pages of the portal that it has sent its user to."""
    _met: asyncio.Event | None = None
    """Set when a replay has asked for all answers of its round, or won't."""

    def __init__(
        self, installation: Installation, ctx: ServerRequestContext[Any, Any], journal: Journal | None = None
    ) -> None:
        # As little as possible: most calls never ask.
        self.installation = installation
        self.ctx = ctx
        """The newest request."""
        self.version = ctx.protocol_version
        self.modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        """Whether this version has rounds, and no pushing."""
        self.lifespan = ctx.lifespan_context
        self.followers: list[Any] = []
        """What the framework holds of the request, to be kept up to date."""
        self.recalls = bool(journal)
        """Whether there is anything in the journal to recall."""
        if journal is not None:
            self.journal = journal
            if (mark := journal.entry(_PAGES)) is not None:
                self.pages = mark.value

    # --- its run ------------------------------------------------------------------------------

    def start(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> None:
        """Run the tool. It sees `ctx`, with a session that asks through us."""
        self._next = call_next
        self.around = current_call.get()
        self.connection = self.ctx.session._connection  # pyright: ignore[reportPrivateUsage]
        name = self.called
        ctx = with_session(ctx, AskingSession(self, self.connection))
        self.followers.append(ctx)
        self.run = run = Run(name, current_call, self)
        run.on_end = self._let_tool_go
        run.start(partial(call_next, ctx))
        if not run.task.done():
            self.installation.runs.running.add(self)

    def _let_tool_go(self) -> None:
        """The tool has ended: hold nothing that holds the call, so that it's freed at once."""
        self.installation.runs.running.discard(self)
        self.followers.clear()

    def again(self) -> Call:
        """The same call, to be run again from what was recorded, within the same request."""
        again = Call(self.installation, self.ctx, self.journal)
        again.claim = self.claim
        again.start(hand_down(self.ctx, self.journal), self._next)
        return again

    def follow(self, ctx: ServerRequestContext[Any, Any]) -> None:
        """A newer request continues the call: everything that the tool holds of the request follows it."""
        self.ctx = ctx
        self.version = ctx.protocol_version
        self.modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        self.suspension = None
        self.is_between_requests = self.is_unattended = False
        for follower in self.followers:
            follow_request(follower, ctx)
        self.run.follow()

    async def is_ours(self) -> bool:
        """Whether no other replica has taken the call over."""
        handover = self.installation.runs.handover
        return handover is None or not self.journal.turn or await handover.has(self.claim, self.name, self.journal.turn)

    async def end(self, why: str) -> None:
        """End the run. Its questions fail, and new ones raise at once."""
        self.is_between_requests = True
        await self.run.end(why)
        self.ended = True
        if self.trail is not None and why != ELSEWHERE:
            await self.trail.end("back")

    def add_page(self, id: str) -> None:
        if id not in self.pages:
            self.pages = [*self.pages, id]
            self.replay.mark(_PAGES, "pages", self.pages)

    async def close_pages(self) -> None:
        """Close the pages that the user has not finished: the call is over, and nothing comes of them."""
        portal = self.installation.portal
        for id in self.pages:
            assert portal is not None, "a page needs a portal"
            try:
                closed = await portal.interactions.finish(id, Ending("closed", time.time()), owner=None)
            except StoreError as exc:
                logger.warning("Could not close the page of a call that is over: %s", exc)
                continue
            if closed == "done":
                self.audit("page.declined", page=short(id), outcome="closed")

    def fail(self, error: MidcallError) -> None:
        """End the call with this mistake of its author's, even if its tool returns a result."""
        self.failed = self.failed or error
        self.run.stop("failed")

    # --- what the client said -----------------------------------------------------------------

    @property
    def session(self) -> ServerSession:
        """The SDK's session of this request."""
        return self.ctx.session

    @property
    def is_being_served(self) -> bool:
        """Whether its newest request waits for it, with a stream to its client."""
        return not (self.ended or self.run.done or self.is_between_requests)

    @property
    def asking_session(self) -> AskingSession:
        """The session that the tool sees. It knows the call and not the other way round: no cycle keeps them alive."""
        return AskingSession(self, self.connection)

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Where the call runs; for threads, which run elsewhere."""
        return self.run.loop

    @property
    def progress_token(self) -> str | int | None:
        """Where the caller wants to hear of progress."""
        return self.ctx.meta.get("progress_token") if self.ctx.meta else None

    @property
    def method(self) -> str:
        return self.ctx.method

    @property
    def params(self) -> Mapping[str, Any] | None:
        return self.ctx.params

    @property
    def over_http(self) -> bool:
        """Whether the newest request came over HTTP, where a broken connection looks like a cancellation."""
        return self.ctx.request is not None

    @property
    def cancel_requested(self) -> bool:
        """Whether the client has given up on the newest request."""
        return is_cancelled(self.ctx.session)

    @property
    def client_title(self) -> str:
        """What the client calls itself to people; its name is for programs."""
        params = self.session.client_params
        return "" if params is None else params.client_info.title or ""

    @property
    def elicitation(self) -> ElicitationCapability | None:
        """What the client declared about being asked."""
        capabilities = self.ctx.session.client_capabilities
        return None if capabilities is None else capabilities.elicitation

    def lacks(self, mode: str) -> str | None:
        """Why this client can't be asked in this mode; None if it can. `{}` means forms only."""
        if self.version < (URLS_SINCE if mode == "url" else FORMS_SINCE):
            return f"protocol {self.version} has no {mode} elicitation"
        declared = self.elicitation
        if declared is None:
            return "the client did not declare elicitation"
        if mode == "url":
            return None if declared.url is not None else "the client did not declare URL elicitation"
        if declared.form is None and declared.url is not None:
            return "the client declared URL elicitation only"
        return None

    def lacks_visit_errors(self) -> str | None:
        """Why the error -32042 would mean nothing to this client; None if it would.

        A stateless server doesn't know what its client declared, and has only this error.
        """
        unknown = has_visit_errors(self.version) and self.session.client_capabilities is None
        return None if unknown else self.lacks("url")

    @property
    def called(self) -> object:
        """The tool, prompt or resource, as the client names it."""
        if "journal" in self.__dict__ and (target := self.journal.target) is not None:  # don't make a journal for this
            return target.name
        params = self.ctx.params or {}
        return params.get("name") or params.get("uri")

    @property
    def has_app_of_its_own(self) -> bool:
        """Whether its tool has an App that isn't ours, or isn't one that a host knows."""
        target = self.journal.target
        tools = {(self.params or {}).get("name"), None if target is None else target.name} - {None}
        return any(self.installation.own_apps.get(str(tool), True) for tool in tools)

    # --- who it is ----------------------------------------------------------------------------

    @cached_property
    def owner(self) -> str:
        """Names the user whose call it is; empty if nobody signed in."""
        owner = self._name(self.installation.owner)
        if not owner and (refused := self.installation.why_not_local(self.ctx)) is not None:
            self.audit("caller.refused", outcome=refused.by)
        return owner

    @cached_property
    def holder(self) -> str:
        """Names who may continue it, with a code or in an App."""
        return self.owner or self._name(self.installation.holder)

    @cached_property
    def user(self) -> str:
        """Names the user who has signed in, even if no page would know them; empty if nobody has."""
        return self._name(self.installation.user)

    @cached_property
    def caller(self) -> str:
        """The key that quotas are counted by: the user, or an address."""
        return self._name(self.installation.caller)

    def _name(self, name: Callable[[ServerRequestContext[Any, Any]], str]) -> str:
        """Look this up in the run's own context: the current one may have no access token, or another user's."""
        return self.run.context.copy().run(name, self.ctx)

    @cached_property
    def name(self) -> str:
        """The call's own name, made with its journal."""
        return self.journal.call

    def derive(self, *names: str) -> str:
        """An unguessable name that never changes for this call: 144 bits from the call's own."""
        raw = hashlib.sha256("\0".join((self.name, *names)).encode("utf-8", "surrogatepass")).digest()
        return spell(raw[:18])

    # --- its part of the audit trail ----------------------------------------------------------

    @property
    def digest(self) -> str:
        """Names the call in the audit trail, on every replica. It opens nothing."""
        return digest("call", self.name)

    def audit(self, event: Name, identity: str = "", /, **facts: Any) -> None:
        """Write an event of this call, and of one of its questions, into the audit trail, if there is one."""
        if self.installation.audit is not None:
            known = self._audit_facts
            self.installation.audit.write(event, **known, question=_question(identity), **facts)

    @cached_property
    def _audit_facts(self) -> dict[str, str]:
        return {**self.installation.audit_facts(self.ctx), "tool": audit_tool(self.called), "call": self.digest}

    @cached_property
    def observed(self) -> set[str]:
        """The questions whose outcome came in this run, or with its request. A replay only reads the others."""
        return set()

    def _observe(self, identity: str, entry: Entry) -> None:
        """A question has an outcome: write it into the audit trail."""
        self.observed.add(identity)
        trail = self.installation.audit
        match entry.kind:
            case "waiting" if entry.via == DOUBT:
                self.audit("question.doubted", identity, attempt=entry.attempt - 1)
            case "waiting":
                self.audit("question.rejected", identity, attempt=entry.attempt - 1)
            case "accept":
                answer = entry.value if trail is not None and trail.answers else None
                facts: dict[str, Any] = {"via": entry.via, "attempt": entry.attempt, "answer": answer}
                self.audit("question.answered", identity, outcome="accept", **facts)
            case outcome:
                self.audit("question.declined", identity, via=entry.via, outcome=outcome, attempt=entry.attempt)

    # --- what it has recorded -----------------------------------------------------------------

    # Made when they are first used: most calls never ask, and need neither.

    @cached_property
    def journal(self) -> Journal:
        return Journal(os.urandom(18).hex())

    @cached_property
    def replay(self) -> Replay:
        return Replay(self.journal, None if self.installation.audit is None else self._observe)

    @property
    def on_line(self) -> bool:
        """Whether what is asked or done now has one order among everything that the tool asks and does.

        The tool's own task and its only thread have one, but not while a branch waits: once that is answered, what the
        others have handed it by then comes in another order.
        """
        return self.run.on_line() and not self.replay.has_waiting_branch

    @property
    def claims(self) -> bool:
        """Whether effects are claimed in the store: if the call may be run again from what it recorded."""
        return self.installation.keeping is not None and (self.modern or self.journal.target is not None)

    async def meet(self, *identities: str) -> None:
        """A replay asks for these: hold their answers until the others of their round were asked for, too.

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
        unused = self.replay.leftover()
        return unmet_error(unused) if unused else None

    def drift(self) -> ReplayMismatch | None:
        """The error of a replay that asks something else every time."""
        unused = self.replay.drift()
        return unmet_error(unused) if unused else None

    # --- how its request returns before the tool has ended ------------------------------------

    def suspend(self) -> Suspension:
        """Say how its request returns."""
        self.suspension = self.suspension or Suspension()
        return self.suspension

    @property
    def can_continue_later(self) -> bool:
        return self.installation.keeping is not None and self.method == "tools/call"

    @property
    def is_held_outside(self) -> bool:
        """Whether its run never holds a request: there is none, or it brings a code and waits before the run does."""
        params = self.params or {}
        return self.is_unattended or (params.get("name") in (CONTINUE, ANSWER) and "requestState" not in params)

    @property
    def can_give_code(self) -> bool:
        """Whether a resume code works: with a store, or if the next request reaches this process."""
        installation = self.installation
        only_here = installation.runs.live or installation.whose_keys == "process"
        return self.method == "tools/call" and (installation.keeping is not None or only_here)

    async def continue_later(self, why: str, *, answers: bool = False, pages: Sequence[Page] = ()) -> None:
        """Let the request return a resume code, and wait for it, or until the user is done on one of these pages.

        With `answers`, the model brings an answer too.
        """
        portal = self.installation.portal
        if pages and portal is not None and self.installation.runs.live:
            self.trail = self.trail or Trail(portal.interactions, self.owner)
            await self.trail.open(pages)
        suspension = self.suspend()
        suspension.later, suspension.relays = why, answers
        suspension.pages.update((page.id, page) for page in pages)
        await self.run.pause()

    def forget_round(self) -> None:
        """The call is continued: how its last request returned doesn't matter any more."""
        self.suspension = None

    # --- its result ---------------------------------------------------------------------------

    def stamp(self, result: dict[str, Any], result_type: str) -> dict[str, Any]:
        """Add what the SDK adds to a handler's result, and not to a middleware's."""
        if self.modern:
            result["resultType"] = result_type
            result["_meta"] = {SERVER_INFO_META_KEY: self.installation.copy_server_info()}
        return result


def audit_tool(called: object) -> str:
    """A tool or prompt by its name. A resource's URI may hold anything, so its digest has to do."""
    named = str(called or "")
    return digest("resource", named) if "://" in named else named


def _question(identity: str) -> str:
    """Names a question in the audit trail. A key is the author's, and the name of a page's visit has its id."""
    if identity.startswith(REQUIRED):
        return identity.rpartition(".")[2]
    if not identity or identity.startswith("?"):
        return identity[1:]
    return digest("question", identity)


def running_call(verb: str) -> Call:
    """The call that this verb is used in.

    Raises:
        NoCall: Not inside a call.
        Misuse: It is inside the function of a `once`, which must not ask.
    """
    if in_background_task():
        raise NoCall(
            f"{verb}() was used in a background task, which can't reach the user.",
            advice="Ask in a tool without task=True and hand the answers to the task, or return an InputRequiredResult "
            "from the tool and read ctx.input_responses when FastMCP runs it again.",
            for_model=model_text.IN_BACKGROUND,
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
        )
    if call.ended and call.run.ending is None:  # an ended run fails anyway: raising at once could spin
        raise call_is_over(verb)
    if inside_effect.get():
        refuse_inside_effect(verb)
    return call


def in_background_task() -> bool:
    """Whether this runs in a worker of FastMCP's tasks extension: its request has been answered long ago."""
    tasks = sys.modules.get("fastmcp_tasks.context")
    return tasks is not None and tasks.get_task_context() is not None


def call_is_over(verb: str) -> NoCall:
    return NoCall(
        f"{verb}() was used after its call had ended.",
        advice="Await the tasks that a tool starts before it returns: they can ask only until then.",
    )


def asks_inside_once(verb: str) -> Misuse:
    return Misuse(f"{verb}() was used inside the function of a once(...). Ask first, and pass the answer to once().")


def refuse_inside_effect(verb: str) -> None:
    if inside_effect.get():
        raise asks_inside_once(verb)
