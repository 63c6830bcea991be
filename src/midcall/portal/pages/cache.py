"""Pages that were just drawn. An interaction never changes, so opening its page again need not draw it again."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

__all__ = ["Drawn"]

_REMEMBERED: Final = 256
_LARGEST: Final = 100_000


class Drawn:
    """The last pages, without their tokens, which are new each time."""

    def __init__(self, remembered: int = _REMEMBERED) -> None:
        self._remembered = remembered
        self._pages: OrderedDict[Hashable, str] = OrderedDict()
        self._blank = secrets.token_hex(16)  # what nobody can write into a page

    def __len__(self) -> int:
        return len(self._pages)

    def page(self, key: Hashable, token: str, draw: Callable[[str], str]) -> str:
        """The page of this key with this token; `draw` is given a token, and draws it."""
        page = self._pages.get(key)
        if page is None:
            page = draw(self._blank)
            self._keep(key, page)
        return page.replace(self._blank, token)

    def _keep(self, key: Hashable, page: str) -> None:
        if len(page) <= _LARGEST:
            self._pages[key] = page
        while len(self._pages) > self._remembered:
            self._pages.popitem(last=False)
