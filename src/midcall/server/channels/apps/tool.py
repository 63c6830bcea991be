"""`midcall_app`: gives an App its question, and takes the answer. Only Apps call it; models don't see it.

    find     the call that a frame belongs to, while its request is held
    look     the open question under a nonce
    accept   an answer, which is validated like any other; problems go back to the App
    decline, cancel

The owner of a call who has its nonce may answer its questions, each once. Replies are in `_meta`, which no model reads.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from midcall.core.forms.check import check
from midcall.core.forms.form import Form
from midcall.protocol import APP_META
from midcall.server import model_text
from midcall.server.channels.apps.opening import find, step_of
from midcall.settings.resuming import MAX_APP_FIELDS, MAX_APP_STEPS
from midcall.stores.interactions import Action, Ending, Interaction, Interactions, digest_of

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from midcall.server.installation import Installation
    from midcall.stores.base import Store

Reply: TypeAlias = dict[str, Any]


class _Open(NamedTuple):
    """A question that can be answered."""

    step: int
    ids: Sequence[str]
    """Of all questions in its step."""
    number: int
    """Its own place among these."""
    interaction: Interaction


async def call_tool(
    installation: Installation, ctx: ServerRequestContext[Any, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The result of the tool, and its `_meta`."""
    assert installation.keeping is not None
    arguments: Any = (ctx.params or {}).get("arguments")
    said: Mapping[str, Any] = cast("Mapping[str, Any]", arguments) if isinstance(arguments, Mapping) else {}
    reply = await _Desk(installation, await installation.keeping.store(), ctx).reply(said)
    if reply["state"] == "unknown":
        installation.note(ctx, "app.refused", outcome="unknown")
    text = model_text.APP_STATES[reply["state"]]
    result = {"content": [{"type": "text", "text": text}], "isError": reply["state"] == "unknown"}
    return result, {APP_META: reply}


class _Desk:
    """Serves one request."""

    def __init__(self, installation: Installation, store: Store, ctx: ServerRequestContext[Any, Any]) -> None:
        self._installation = installation
        self._store = store
        self._interactions = Interactions(store)
        self._ctx = ctx
        self._owner = installation.owner(ctx)
        self._holder = self._owner or installation.holder(ctx)

    async def reply(self, said: Mapping[str, Any]) -> Reply:
        action, nonce = said.get("action"), said.get("nonce")
        if action == "find":
            nonce = await find(self._store, self._installation, self._ctx, said)
            return {"state": "waiting"} if nonce is None else await self._look(nonce, 0, "")
        if not isinstance(nonce, str):
            return {"state": "unknown"}
        if action in ("accept", "decline", "cancel"):
            return await self._answer(nonce, said, action)
        return await self._look(nonce, _number(said, "step"), said.get("code"))

    # --- looking ------------------------------------------------------------------------------

    async def _look(self, nonce: str, start: int, code: object) -> Reply:
        """The first open question; else what became of the last one."""
        state, number = "unknown", start
        while number < start + MAX_APP_STEPS and (ids := await step_of(self._store, nonce, number, self._holder)):
            for index in range(len(ids)):
                found, state = await self._find(number, ids, index)
                if found is not None:
                    return self._asking(nonce, found)
            number += 1
        reply: Reply = {"state": state, "nonce": nonce, "step": number}
        if state == "unknown" and number:  # a step that has not begun
            reply["state"] = "done" if await step_of(self._store, nonce, number - 1, self._holder) else "unknown"
        if await self._is_resumable(code):
            reply["say"] = model_text.form_done(str(code))
        return reply

    async def _find(self, step: int, ids: Sequence[str], index: int) -> tuple[_Open | None, str]:
        """The question if it can be answered, else its state."""
        looked = await self._interactions.look(ids[index])
        if looked is None or looked[0].owner != self._owner:
            return None, "late"
        interaction, ending = looked
        if ending is not None:
            return None, "done"
        return (None, "late") if interaction.expires <= time.time() else (_Open(step, ids, index, interaction), "")

    def _asking(self, nonce: str, found: _Open, tried: Mapping[str, Any] | None = None) -> Reply:
        from midcall.web.forms.document import asking

        about, form = found.interaction, _form(found.interaction)
        problems = () if tried is None else check(form, tried)
        html = asking(form, about.server, about.message, (found.number + 1, len(found.ids)), tried, problems)
        return {"state": "asking", "nonce": nonce, "step": found.step, "question": found.number, "html": html}

    async def _is_resumable(self, code: object) -> bool:
        """Whether this code can still resume its call, and no request waits to do that."""
        if not isinstance(code, str) or not code or self._installation.runs.is_held(code):
            return False
        record = await self._store.read(digest_of(f"code:{code}"))
        return record is not None and record.kind == "code" and not record.consumed and record.owner == self._holder

    # --- answering ----------------------------------------------------------------------------

    async def _answer(self, nonce: str, said: Mapping[str, Any], action: Action) -> Reply:
        step, index = _number(said, "step"), _number(said, "question")
        ids = await step_of(self._store, nonce, step, self._holder)
        if ids is None or index >= len(ids):
            return {"state": "unknown"}
        found, state = await self._find(step, ids, index)
        if found is None:
            return {"state": state, "nonce": nonce, "step": step}
        content = None
        if action == "accept":
            form = _form(found.interaction)
            content = _read(form, said.get("fields"))
            if check(form, content):
                return self._asking(nonce, found, content)
        await self._finish(found, Ending(action, time.time(), content))
        return await self._look(nonce, step, said.get("code"))

    async def _finish(self, found: _Open, ending: Ending) -> None:
        """Record the answer. After "no", cancel the questions that were asked together with it."""
        await self._interactions.finish(found.ids[found.number], ending, owner=self._owner)
        if ending.action != "accept":
            for id in found.ids[found.number + 1 :]:
                await self._interactions.finish(id, Ending("cancel", ending.at), owner=self._owner)


def _form(interaction: Interaction) -> Form:
    return Form.from_schema(interaction.about["schema"], strict=False)


def _read(form: Form, fields: object) -> dict[str, Any]:
    """What was filled in, as the App sends it: pairs of name and value."""
    from midcall.web.forms import read

    pairs = cast("Sequence[Any]", fields)[:MAX_APP_FIELDS] if isinstance(fields, Sequence) else ()
    return read(form, [(name, value) for name, value in filter(_is_pair, pairs)])


def _is_pair(raw: Any) -> bool:
    return isinstance(raw, list) and [type(part) for part in cast("list[Any]", raw)] == [str, str]


def _number(said: Mapping[str, Any], name: str) -> int:
    value = said.get(name)
    return value if isinstance(value, int) and 0 <= value < MAX_APP_STEPS else 0
