"""An approval of exactly the details that were shown."""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from typing import Any, cast

from midcall.core.text import plain
from midcall.language import _
from midcall.portal.access import Visitor
from midcall.portal.pages.kind import Accepted, Rejected, Result
from midcall.stores.interactions import Interaction
from midcall.web.forms import excerpt
from midcall.web.security import Posted


class Approve:
    """Takes approvals. The page posts the digest of what it showed; any other digest approves nothing."""

    template = "approve.html"
    headers: Mapping[str, str] = {}

    def context(self, interaction: Interaction, problems: Mapping[str, Any] | None) -> dict[str, Any]:
        details = cast("Mapping[str, Any]", interaction.about.get("details") or {})
        rows = [(excerpt.line(str(name)), *_format(value)) for name, value in details.items()]
        return {"rows": rows, "digest": str(interaction.about["digest"])}

    async def accept(self, visitor: Visitor, posted: Posted) -> Result:
        digest = str(visitor.interaction.about["digest"])
        if not hmac.compare_digest(posted.last("digest").encode("utf-8", "replace"), digest.encode()):
            return Rejected("details_changed", 409)
        return Accepted({"digest": digest})


def _format(value: Any) -> tuple[str, bool]:
    """The value in full, and whether its layout matters. Never truncate what the user approves."""
    match value:
        case str():
            return plain(value), "\n" in value
        case bool():
            return _("Yes") if value else _("No"), False
        case None:
            return _("(nothing)"), False
        case int() | float():
            return str(value), False
        case _other:
            return plain(json.dumps(value, indent=2, ensure_ascii=False, default=str)), True
