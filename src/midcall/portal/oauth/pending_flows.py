"""Which connections this browser has under way: a provider that denies one may not say which.

A signed cookie has the state of each, from consent on our page until the browser comes back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from starlette.responses import Response

from midcall.portal.oauth.states import LIFE
from midcall.stores.interactions import digest_of
from midcall.web.cookies import Cookies

__all__ = ["forget", "pending", "remember"]

_PURPOSE: Final = "connecting"
_MOST: Final = 8
"""More would make the cookie large; with more than one under way none is meant anyway."""


def pending(cookies: Cookies, sent: Mapping[str, str]) -> dict[str, str]:
    """The states, by the interaction that each belongs to."""
    return cast("dict[str, str] | None", cookies.get(sent, _PURPOSE, within=LIFE)) or {}


def remember(cookies: Cookies, sent: Mapping[str, str], response: Response, id: str, state: str) -> None:
    """The user has agreed in this browser. Only the newest state of an interaction counts."""
    known_as = _known_as(id)
    others = [(each, of) for each, of in pending(cookies, sent).items() if each != known_as]
    cookies.set(response, _PURPOSE, dict([*others[1 - _MOST :], (known_as, state)]), seconds=LIFE)


def forget(cookies: Cookies, sent: Mapping[str, str], response: Response, id: str) -> None:
    """It has come back."""
    left = {each: state for each, state in pending(cookies, sent).items() if each != _known_as(id)}
    if left:
        cookies.set(response, _PURPOSE, left, seconds=LIFE)
    else:
        cookies.drop(response, _PURPOSE)


def _known_as(id: str) -> str:
    return digest_of(id)[:12]
