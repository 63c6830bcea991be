"""The questions that a call has open to its App.

Only the call's nonce opens them. The App knows it; the store doesn't. Questions that are asked together are one step,
and the store has a record of each step, so that any replica can show and take them. When an App looks at a step, its
record is completed: then somebody sees the question.
"""

from __future__ import annotations

import hashlib
import time
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from midcall.core.journal import asking_mark
from midcall.server.channels.portal import form_interaction
from midcall.stores.interactions import Ending, Interactions, digest_of

if TYPE_CHECKING:
    from midcall.server.call import Call
    from midcall.server.channels.table import Asking
    from midcall.server.resuming.storage import Keeping


class Opened(NamedTuple):
    """Questions that are open to an App."""

    step: int
    ids: tuple[str, ...]
    expires: float
    before: bool
    """Whether an earlier request opened them."""


class Step(NamedTuple):
    """The questions that an App finds under a nonce."""

    number: int
    ids: tuple[str, ...]


def nonce_of(call: Call) -> str:
    """The secret that opens the questions of this call, and of no other."""
    return call.derive("app")


async def open_questions(call: Call, askings: Sequence[Asking]) -> Opened:
    """Open these questions, unless an earlier run has."""
    mark = asking_mark("app", askings[0].identity, askings[0].entry.attempt)
    found = call.replay.find_mark(mark)
    step, expires = _next(call) if found is None else found.value
    if found is None:
        call.replay.mark(mark, "app", [step, expires])
    nonce, keeping = nonce_of(call), _keeping(call)
    ids = _ids(nonce, step, len(askings))
    interactions = Interactions(await keeping.store())
    for asking, id in zip(askings, ids, strict=True):
        await interactions.begin(id, form_interaction(call, asking, expires))
    await keeping.create(call, _name(nonce, step), "app", str(len(ids)))
    return Opened(step, ids, expires, found is not None)


def _next(call: Call) -> tuple[int, float]:
    """The number of the next step, and when it expires."""
    return len(call.journal.marks("app")), time.time() + call.installation.state_ttl


async def is_seen(call: Call, step: int, seconds: float) -> bool:
    """Whether an App has opened this step, or does within this time."""
    store = await _keeping(call).store()
    record = await store.wait(digest_of(_name(nonce_of(call), step)), seconds)
    return record is not None and not record.pending


async def step_of(keeping: Keeping, nonce: str, number: int, owner: str) -> Step | None:
    """The questions of this step, for their owner. Notes that somebody has seen them."""
    store, id = await keeping.store(), digest_of(_name(nonce, number))
    record = await store.read(id)
    if record is None or record.kind != "app" or record.owner != owner:
        return None
    if record.pending:
        await store.complete(id, "{}", owner=owner, now=time.time())
    return Step(number, _ids(nonce, number, int(record.data)))


async def close(call: Call, ids: Sequence[str]) -> None:
    """Cancel these questions, because another channel asks them: a late App finds them finished."""
    interactions = Interactions(await _keeping(call).store())
    for id in ids:
        await interactions.finish(id, Ending("cancel", time.time()), owner=None)


def _ids(nonce: str, step: int, count: int) -> tuple[str, ...]:
    """The ids of the questions of a step. Nobody can guess them without the nonce."""
    raw = (hashlib.sha256(f"{nonce}\0{step}\0{index}".encode()).digest() for index in range(count))
    return tuple(urlsafe_b64encode(digest[:18]).decode() for digest in raw)


def _name(nonce: str, step: int) -> str:
    return f"app:{nonce}:{step}"


def _keeping(call: Call) -> Keeping:
    keeping = call.installation.keeping
    assert keeping is not None, "the channel needs a store"
    return keeping
