"""An approval: a yes to exactly the details that were shown."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from typing import Any, cast

from midcall.core.text import plain
from midcall.portal.access.visitor import Met, Refused, Result, Settled
from midcall.portal.pages.posted import Posted
from midcall.stores.interactions import Interaction
from midcall.web.forms import shown
from midcall.wording.portal import approve as wording

__all__ = ["Approve"]


class Approve:
    """Takes approvals. The page posts the digest of what it showed, and another one approves nothing."""

    template = "approve.html"
    headers: Mapping[str, str] = {}

    def shown(self, interaction: Interaction, tried: Mapping[str, Any] | None) -> dict[str, Any]:
        details = cast("Mapping[str, Any]", interaction.about.get("details") or {})
        rows = [(shown.line(str(name)), *_written(value)) for name, value in details.items()]
        return {"rows": rows, "digest": str(interaction.about["digest"])}

    async def accept(self, met: Met, posted: Posted) -> Result:
        digest = str(met.interaction.about["digest"])
        if not hmac.compare_digest(posted.last("digest").encode("utf-8", "replace"), digest.encode()):
            return Refused("details_changed", 409)
        return Settled({"digest": digest})


def _written(value: Any) -> tuple[str, bool]:
    """The whole of a value, however long, and whether its layout matters: what is approved is never cut short."""
    match value:
        case str():
            return plain(value), "\n" in value
        case bool():
            return wording.yes_or_no(value), False
        case None:
            return wording.nothing(), False
        case int() | float():
            return str(value), False
        case _:
            return plain(json.dumps(value, indent=2, ensure_ascii=False, default=str)), True
