"""Logs of a portal: never an id or a value, only a short digest to correlate entries."""

from __future__ import annotations

import logging
import re
from typing import Any, Final

from midcall.stores.interactions import short

logger: Final = logging.getLogger("midcall.portal")

_ID: Final = re.compile(r"/i/([A-Za-z0-9_\-]{16,})")
_QUERY: Final = re.compile(r"/(callback(?:/[^\s?]*)?|signed-in|i/[^/\s]+/next)\?\S*")


def mask(text: str) -> str:
    """A path without ids and queries, as logs may have it."""
    return _QUERY.sub(r"/\1?…", _ID.sub(lambda found: f"/i/{short(found[1])}", text))


def _mask_record(record: logging.LogRecord) -> bool:
    """A filter: the server around us logs the paths of requests, and ours hold ids."""
    if isinstance(record.args, tuple):
        record.args = tuple(map(_mask_value, record.args))
    record.msg = _mask_value(record.msg)
    return True


def _mask_value(value: Any) -> Any:
    return mask(value) if isinstance(value, str) else value


def mask_access_logs() -> None:
    """Keep ids out of uvicorn's access log. Safe to call twice."""
    logging.getLogger("uvicorn.access").addFilter(_mask_record)
