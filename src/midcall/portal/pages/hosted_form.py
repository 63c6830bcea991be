"""A form question on our own page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, cast

from midcall.core.forms.check import check
from midcall.core.forms.form import Form
from midcall.portal.access import Visitor
from midcall.portal.pages.kind import Accepted, Invalid, Rejected, Result
from midcall.stores.interactions import Interaction
from midcall.web.forms import Pages, read, too_large
from midcall.web.security import Posted

_CACHED: Final = 64
"""How many forms to cache: the same tool asks the same thing again and again."""


class HostedForm:
    """Takes answers to forms."""

    template = "hosted_form.html"
    headers: Mapping[str, str] = {}

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._empty = lru_cache(_CACHED)(pages.form)

    def context(self, interaction: Interaction, problems: Mapping[str, Any] | None) -> dict[str, Any]:
        form = _form(interaction)
        if too_large(form):
            return {"fields": None, "needs": False}
        needs = any(field.required for field in form)
        if problems is None:
            return {"fields": self._empty(form), "needs": needs}
        values = cast("Mapping[str, Any]", problems["content"])
        return {"fields": self._pages.form(form, values, check(form, values)), "needs": needs}

    async def accept(self, visitor: Visitor, posted: Posted) -> Result:
        form = _form(visitor.interaction)
        if too_large(form):
            return Rejected("too_large", 413)
        content = read(form, posted.pairs)
        return Invalid({"content": content}) if check(form, content) else Accepted(content)


def _form(interaction: Interaction) -> Form:
    return _read(json.dumps(interaction.about["schema"]))


@lru_cache(_CACHED)
def _read(schema: str) -> Form:
    return Form.from_schema(json.loads(schema), strict=False)
