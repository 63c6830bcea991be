"""A form question on a page of ours."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, cast

from midcall.core.forms.check import check
from midcall.core.forms.form import Form
from midcall.portal.access.visitor import Met, Refused, Result, Settled, Tried
from midcall.portal.pages.posted import Posted
from midcall.stores.interactions import Interaction
from midcall.web.forms import Pages, read, too_large

__all__ = ["Hosted"]

_REMEMBERED: Final = 64
"""Forms that were just read or drawn: the same tool asks the same thing again and again."""


class Hosted:
    """Takes forms."""

    template = "hosted.html"
    headers: Mapping[str, str] = {}

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._empty = lru_cache(_REMEMBERED)(pages.form)

    def shown(self, interaction: Interaction, tried: Mapping[str, Any] | None) -> dict[str, Any]:
        form = _form(interaction)
        if too_large(form):
            return {"fields": None, "needs": False}
        needs = any(field.required for field in form)
        if tried is None:
            return {"fields": self._empty(form), "needs": needs}
        values = cast("Mapping[str, Any]", tried["content"])
        return {"fields": self._pages.form(form, values, check(form, values)), "needs": needs}

    async def accept(self, met: Met, posted: Posted) -> Result:
        form = _form(met.interaction)
        if too_large(form):
            return Refused("too_much", 413)
        content = read(form, posted.pairs)
        return Tried({"content": content}) if check(form, content) else Settled(content)


def _form(interaction: Interaction) -> Form:
    return _read(json.dumps(interaction.about["schema"]))


@lru_cache(_REMEMBERED)
def _read(schema: str) -> Form:
    return Form.from_schema(json.loads(schema), strict=False)
