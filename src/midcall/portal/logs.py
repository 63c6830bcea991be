"""What is logged of a portal: never an id, never a value, only a short digest to correlate by."""

from __future__ import annotations

import logging
import re
from typing import Any, Final

from midcall.stores.interactions import short

__all__ = ["logger", "mask_access_logs", "masked"]

logger: Final = logging.getLogger("midcall.portal")

_ID: Final = re.compile(r"/i/([A-Za-z0-9_\-]{16,})")
_QUERY: Final = re.compile(r"/(callback|signed-in)\?\S*")


def masked(text: str) -> str:
    """A path of ours as a log may have it."""
    return _QUERY.sub(r"/\1?…", _ID.sub(lambda found: f"/i/{short(found[1])}", text))


class _Mask(logging.Filter):
    """The server that we are mounted in logs the paths of requests, and ours hold ids."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_masked(each) for each in record.args)
        record.msg = _masked(record.msg)
        return True


def _masked(value: Any) -> Any:
    return masked(value) if isinstance(value, str) else value


_MASK: Final = _Mask()


def mask_access_logs() -> None:
    """Keep the ids out of uvicorn's access log. Doing it twice does nothing."""
    logging.getLogger("uvicorn.access").addFilter(_MASK)
