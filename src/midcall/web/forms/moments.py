"""A date-time on a page: a local time and an offset, because the browser's control has no offset."""

from __future__ import annotations

import re
from typing import Final

_MOMENT: Final = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[Tt](?P<time>[0-2]\d:[0-5]\d:[0-5]\d(?:\.\d{1,3})?)(?P<offset>[Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)
_LOCAL: Final = re.compile(r"(?P<date>\d{4}-\d\d-\d\d)[T ](?P<time>\d\d:\d\d)(?P<rest>:\d\d(?:\.\d+)?)?", re.ASCII)

OFFSETS: Final = (
    *("-12:00", "-11:00", "-10:00", "-09:30", "-09:00", "-08:00", "-07:00", "-06:00", "-05:00", "-04:00", "-03:30"),
    *("-03:00", "-02:00", "-01:00", "+00:00", "+01:00", "+02:00", "+03:00", "+03:30", "+04:00", "+04:30", "+05:00"),
    *("+05:30", "+05:45", "+06:00", "+06:30", "+07:00", "+08:00", "+08:45", "+09:00", "+09:30", "+10:00", "+10:30"),
    *("+11:00", "+12:00", "+12:45", "+13:00", "+14:00"),
)
"""Every offset in use."""


def split(moment: str) -> tuple[str, str] | None:
    """The local time and the offset; None if the browser's control cannot show it."""
    found = _MOMENT.fullmatch(moment)
    if found is None:
        return None
    offset = found["offset"]
    return f"{found['date']}T{found['time']}", "+00:00" if offset in "Zz" else offset


def join(local: str, offset: str) -> str:
    """The local time and the offset as one text. An invalid local time stays as it is, for `check`."""
    found = _LOCAL.fullmatch(local)
    if found is None:
        return local
    return f"{found['date']}T{found['time']}{found['rest'] or ':00'}{offset}"


def offset_name(offset: str) -> str:
    return "UTC" if offset == "+00:00" else "UTC" + offset.replace("-", "\N{MINUS SIGN}")
