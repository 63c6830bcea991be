"""One logical `tools/call`, `prompts/get` or `resources/read`, over as many rounds as it takes."""

from __future__ import annotations

import hashlib
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, cast

from mcp.server.context import ServerRequestContext
from mcp_types import ElicitationCapability
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from midcall import wording
from midcall.core.journal import Foreign, Journal
from midcall.core.replay import Replay
from midcall.errors import Misuse, NoCall
from midcall.server.rounds import Rounds
from midcall.server.session import AskingSession

if TYPE_CHECKING:
    from midcall.server.install import Installation

__all__ = ["Call", "current_call", "input_of", "inside_effect", "refuse_inside_effect", "running_call"]

current_call: ContextVar[Call | None] = ContextVar("midcall_call", default=None)
inside_effect: ContextVar[bool] = ContextVar("midcall_inside_effect", default=False)


class Call:
    """What a verb needs to know about the call that it is used in."""

    rounds: Rounds | None = None
    """How the call leaves for a round; None where questions are pushed."""
    ahead: Mapping[str, Any] | None = None
    """Answers that came before their questions, where the author takes them."""
    ended = False
    recalls = False
    """Whether there is anything in the journal to recall: most calls ask nothing."""

    def __init__(
        self,
        installation: Installation,
        ctx: ServerRequestContext[Any, Any],
        journal: Journal,
        foreign: Foreign | None,
    ) -> None:
        self.installation = installation
        self.method = ctx.method
        self.version = ctx.protocol_version
        self.modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        self.progress_token = ctx.meta.get("progress_token") if ctx.meta else None
        self.journal = journal
        self.foreign = foreign
        self.replay = Replay(journal)
        self.session = AskingSession(ctx.session, self)

    @property
    def elicitation(self) -> ElicitationCapability | None:
        """What the client declared about being asked."""
        capabilities = self.session.client_capabilities
        return None if capabilities is None else capabilities.elicitation

    @property
    def name(self) -> str:
        """The call's own name, given when it is first needed."""
        if not self.journal.call:
            self.journal.call = secrets.token_urlsafe(18)
        return self.journal.call

    def derive(self, *names: str) -> str:
        """An unguessable name that never changes for this call: 144 bits from the call's own."""
        raw = hashlib.sha256("\0".join((self.name, *names)).encode()).digest()
        return urlsafe_b64encode(raw[:18]).decode()

    @property
    def on_line(self) -> bool:
        return self.rounds is None or self.rounds.on_line()


def running_call(verb: str) -> Call:
    """The call that this verb is used in.

    Raises:
        NoCall: There is none.
        Misuse: It is inside the function of a `once`, which must not ask.
    """
    call = current_call.get()
    if call is None or call.ended:
        raise NoCall(wording.no_call(verb), advice=wording.no_call_advice(), for_model=wording.model_cannot_ask())
    refuse_inside_effect(verb)
    return call


def refuse_inside_effect(verb: str) -> None:
    if inside_effect.get():
        raise Misuse(wording.asks_inside_once(verb), for_model=wording.model_broken())


def input_of(params: Mapping[str, Any] | None) -> tuple[str | None, Mapping[str, Any]]:
    """The state and the answers that a retry brings."""
    if not params:
        return None, {}
    responses = params.get("inputResponses")
    return params.get("requestState"), cast("Mapping[str, Any]", responses) if isinstance(responses, Mapping) else {}
