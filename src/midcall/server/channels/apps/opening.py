"""The questions that a call has open to its App, and how an App finds them.

Only the call's nonce opens them. The App knows it; the store doesn't. Questions that are asked together are one step,
and the store has a record of each step, so that any replica can show and take them. When an App looks at a step, its
record is completed: then somebody sees the question.

An App that is shown during its call has to find that call first. The host gives it the arguments of the call, often
the tool, and sometimes the id of the request, but nothing that we could choose. So a call waiting for its App puts a
note into the store, under its arguments and its caller: the user who is signed in, else the connection. Equal calls
have separate notes, and each frame takes another one. The nonce in a note is sealed with the server's keys.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from weakref import WeakKeyDictionary, WeakSet

import anyio
from mcp.server.connection import Connection, NotifyOnlyOutbound
from mcp.server.request_state import InvalidRequestState

from midcall.core.caller import Caller
from midcall.core.journal import asking_mark
from midcall.core.wire import spell
from midcall.protocol import APP_META
from midcall.server.channels.portal import form_interaction
from midcall.settings.resuming import APP_CLEANUP_SECONDS, HOLD_SECONDS, MAX_EQUAL_APPS
from midcall.stores.base import Record, Store
from midcall.stores.interactions import Interactions, digest_of

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from midcall.server.call import Call
    from midcall.server.channels.request import Asking
    from midcall.server.installation import Installation
    from midcall.server.resuming.storage import Keeping

_SAFE: Final = 2**53

_found: WeakSet[Call] = WeakSet()
_names: WeakKeyDictionary[object, str] = WeakKeyDictionary()


class Opened(NamedTuple):
    """Questions that are open to an App."""

    step: int
    ids: tuple[str, ...]
    expires: float
    before: bool
    """Whether an earlier request opened them."""


def nonce_of(call: Call) -> str:
    """The secret that opens the questions of this call, and of no other."""
    return call.derive("app")


def for_app(call: Call, step: int) -> dict[str, Any]:
    """What a result says to the App that is shown with it."""
    return {APP_META: {"nonce": nonce_of(call), "step": step}}


def newest_step(call: Call) -> int:
    """The step that was opened last."""
    return max(entry.value[0] for mark in call.journal.marks("app") if (entry := call.journal.entry(mark)) is not None)


async def open_questions(call: Call, askings: Sequence[Asking]) -> Opened:
    """Open these questions, unless an earlier run has."""
    mark = app_mark(askings)
    found = call.replay.find_mark(mark)
    if found is None:
        step, expires = len(call.journal.marks("app")), time.time() + call.installation.state_ttl
        call.replay.mark(mark, "app", [step, expires])
    else:
        step, expires = found.value
    nonce, keeping = nonce_of(call), _keeping(call)
    ids = _ids(nonce, step, len(askings))
    interactions = Interactions(await keeping.store())
    for asking, id in zip(askings, ids, strict=True):
        await interactions.begin(id, form_interaction(call, asking, expires))
    await keeping.create(call, _name(nonce, step), "app", str(len(ids)))
    return Opened(step, ids, expires, found is not None)


def app_mark(askings: Sequence[Asking]) -> str:
    """The mark in the journal that these were opened to an App."""
    return asking_mark("app", askings[0].identity, askings[0].entry.attempt)


async def is_seen(call: Call, step: int, seconds: float) -> bool:
    """Whether an App has opened this step, or does within this time."""
    store = await _keeping(call).store()
    record = await store.wait(digest_of(_name(nonce_of(call), step)), seconds)
    return record is not None and not record.pending


async def step_of(store: Store, nonce: str, number: int, holder: str) -> tuple[str, ...] | None:
    """The ids of the questions of this step, for the holder of their call. Notes that somebody has seen them."""
    id = digest_of(_name(nonce, number))
    record = await store.read(id)
    if record is None or record.kind != "app" or record.owner != holder:
        return None
    if record.pending:
        await store.complete(id, "{}", owner=holder, now=time.time())
    return _ids(nonce, number, int(record.data))


def _ids(nonce: str, step: int, count: int) -> tuple[str, ...]:
    """The ids of the questions of a step. Nobody can guess them without the nonce."""
    raw = (hashlib.sha256(f"{nonce}\0{step}\0{index}".encode()).digest() for index in range(count))
    return tuple(spell(digest[:18]) for digest in raw)  # they may be in addresses


def _name(nonce: str, step: int) -> str:
    return f"app:{nonce}:{step}"


def _keeping(call: Call) -> Keeping:
    keeping = call.installation.keeping
    assert keeping is not None, "the channel needs a store"
    return keeping


# --- how an App finds its call -----------------------------------------------------------------


@asynccontextmanager
async def findable(call: Call) -> AsyncGenerator[None]:
    """Let an App find this call while this is open. An App that has found it keeps the nonce."""
    store = await _keeping(call).store()
    id = None if call in _found else await _leave_note(call, store)
    try:
        yield
    finally:
        if id is not None:
            with anyio.move_on_after(APP_CLEANUP_SECONDS, shield=True):
                await _take_back(call, store, id)


async def _leave_note(call: Call, store: Store) -> str | None:
    params = call.params or {}
    place = _place(call.owner, call.installation, call.asking_session.connection, params.get("arguments"))
    sealed = call.installation.codec.seal(nonce_of(call).encode())
    note = {"nonce": sealed, "tool": params.get("name"), "request": call.ctx.request_id}
    now = time.time()
    for number in range(MAX_EQUAL_APPS):
        record = Record(_note(place, number), "frame", call.owner, json.dumps(note), now, now + HOLD_SECONDS + 15)
        if (await store.create(record))[1]:
            return record.id
    return None


async def _take_back(call: Call, store: Store, id: str) -> None:
    """Remove the note: a frame that comes later isn't of this call. A note that was taken stays taken."""
    record = await store.read(id)
    if record is not None and not record.pending:
        _found.add(call)
    else:
        await store.consume(id, owner=None, now=time.time())


async def find(
    store: Store, installation: Installation, ctx: ServerRequestContext[Any, Any], said: Mapping[str, Any]
) -> str | None:
    """The nonce of the call that this frame belongs to, once the call waits for it."""
    place = _place(installation.owner(ctx), installation, _connection(ctx), said.get("arguments"))
    tool, request, frame = (said.get(name) for name in ("tool", "request", "frame"))
    notes: list[tuple[bool, str, str]] = []
    for number in range(MAX_EQUAL_APPS):
        record = await store.read(_note(place, number))
        if record is None:
            break
        note: dict[str, Any] = json.loads(record.data)
        if not record.consumed and record.expires > time.time() and tool in (None, note["tool"]):
            notes.append((request is not None and note["request"] == request, record.id, note["nonce"]))
    # If the host knows the id of the request, that distinguishes equal calls.
    for is_its, id, sealed in sorted(notes, key=lambda note: not note[0]):
        if await _take(store, id, str(frame)) or is_its:
            try:
                return installation.codec.unseal(sealed).decode()
            except InvalidRequestState:  # from a replica that has other keys
                return None
    return None


async def _take(store: Store, id: str, frame: str) -> bool:
    """Take the note for this frame. True if it has it now, or had it before."""
    if await store.complete(id, json.dumps(frame), owner=None, now=time.time()) == "done":
        return True
    now = await store.read(id)
    return now is not None and now.outcome == json.dumps(frame)


def _place(owner: str, installation: Installation, connection: Connection, arguments: Any) -> str:
    portal = installation.portal
    anybody = "" if portal is None else portal.owner_of(Caller())  # on loopback, everyone is the same user
    who = f"user:{owner}" if owner not in ("", anybody) else f"connection:{_name_of(connection)}"
    plain = json.dumps(_as_javascript(arguments or {}), sort_keys=True)
    return hashlib.sha256(f"{who}\0{plain}".encode()).hexdigest()


def _note(place: str, number: int) -> str:
    return digest_of(f"frame:{place}:{number}")


def _name_of(connection: Connection) -> str:
    """A name that no other connection has. Over HTTP without a session, each request is its own connection."""
    pipe = connection.outbound  # on 2026-07-28 it outlives the request only if it's a real pipe
    lasting = pipe if isinstance(pipe, NotifyOnlyOutbound) else connection
    return _names.setdefault(lasting, secrets.token_urlsafe(18))


def _connection(ctx: ServerRequestContext[Any, Any]) -> Connection:
    return ctx.session._connection  # pyright: ignore[reportPrivateUsage]


def _as_javascript(value: Any) -> Any:
    """The value after a host has parsed it and written it again.

    JavaScript has one kind of number. What is too large for it is Infinity, which JSON writes as null.
    """
    match value:
        case dict():
            return {str(name): _as_javascript(part) for name, part in cast("dict[Any, Any]", value).items()}
        case list():
            return [_as_javascript(part) for part in cast("list[Any]", value)]
        case float() if not isfinite(value):
            return None
        case float() if value.is_integer() and abs(value) <= _SAFE:
            return int(value)
        case int() if not isinstance(value, bool) and abs(value) > _SAFE:
            return _as_javascript(_as_float(value))
        case _:
            return value


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf
