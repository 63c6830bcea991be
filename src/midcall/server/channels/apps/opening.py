"""The questions that a call has open to its App.

The App knows the call's nonce, and nothing else opens them; the store does not have it. They are kept in
steps: what is asked together is one step, and the store has a record for each, so that any replica can
show and take them. The record is completed when an App has come to look: then somebody sees the question.
"""

from __future__ import annotations

import hashlib
import time
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from midcall.core.journal import asking_mark
from midcall.core.question import Visit
from midcall.server.channels.request import asked_again, refilled
from midcall.stores.interactions import Ending, Interaction, Interactions, digest_of

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking
    from midcall.server.resuming.storage import Keeping

__all__ = ["Opened", "Step", "closed", "looked", "nonce_of", "opened", "step_of"]


class Opened(NamedTuple):
    """What was opened for some questions."""

    step: int
    ids: tuple[str, ...]
    until: float
    """When they can no longer be answered."""
    before: bool
    """Whether that was done in an earlier request."""


class Step(NamedTuple):
    """What an App finds under a nonce."""

    number: int
    ids: tuple[str, ...]


def nonce_of(call: Call) -> str:
    """What opens the questions of this call, and of no other."""
    return call.derive("app")


async def opened(call: Call, askings: Sequence[Asking]) -> Opened:
    """Open these questions, if that was not done before."""
    mark = asking_mark("app", askings[0].identity, askings[0].entry.attempt)
    found = call.replay.noted(mark)
    step, until = _next(call) if found is None else found.value
    if found is None:
        call.replay.mark(mark, "app", [step, until])
    nonce, keeping = nonce_of(call), _keeping(call)
    ids = _ids(nonce, step, len(askings))
    interactions = Interactions(await keeping.store())
    for asking, id in zip(askings, ids, strict=True):
        await interactions.begin(id, _interaction(call, asking, until))
    await keeping.create(call, _name(nonce, step), "app", str(len(ids)))
    return Opened(step, ids, until, found is not None)


def _next(call: Call) -> tuple[int, float]:
    """The number of the next step, and when its time is over."""
    return len(call.journal.marks("app")), time.time() + call.installation.state_ttl


def _interaction(call: Call, asking: Asking, until: float) -> Interaction:
    question = asking.question
    assert not isinstance(question, Visit), "an App shows forms"
    about = {"schema": refilled(question.form.schema(), asking.entry)}
    message = asked_again(question, asking.entry)
    title, client = call.installation.server_title, call.client_name
    return Interaction("form", call.owner, title, client, message, time.time(), until, about)


async def looked(call: Call, step: int, seconds: float) -> bool:
    """Whether an App has come to look at this step, now or within this time."""
    store = await _keeping(call).store()
    record = await store.wait(digest_of(_name(nonce_of(call), step)), seconds)
    return record is not None and not record.pending


async def step_of(keeping: Keeping, nonce: str, number: int, owner: str) -> Step | None:
    """The questions of this step, for their owner, and a note that somebody looks at them."""
    store, id = await keeping.store(), digest_of(_name(nonce, number))
    record = await store.read(id)
    if record is None or record.kind != "app" or record.owner != owner:
        return None
    if record.pending:
        await store.complete(id, "{}", owner=owner, now=time.time())
    return Step(number, _ids(nonce, number, int(record.data)))


async def closed(call: Call, ids: Sequence[str]) -> None:
    """These are asked in another way now: an App that comes after all finds them finished."""
    interactions = Interactions(await _keeping(call).store())
    for id in ids:
        await interactions.finish(id, Ending("cancel", time.time()), owner=None)


def _ids(nonce: str, step: int, count: int) -> tuple[str, ...]:
    """What the questions of a step are called. Only who has the nonce can tell."""
    raw = (hashlib.sha256(f"{nonce}\0{step}\0{index}".encode()).digest() for index in range(count))
    return tuple(urlsafe_b64encode(digest[:18]).decode() for digest in raw)


def _name(nonce: str, step: int) -> str:
    return f"app:{nonce}:{step}"


def _keeping(call: Call) -> Keeping:
    keeping = call.installation.keeping
    assert keeping is not None, "the channel is chosen only where there is a store"
    return keeping
