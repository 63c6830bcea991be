"""What an issuer or a provider publishes about itself: each field that we read has the type that it must have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from midcall.web.fetching import Reach, Unavailable


class Published:
    """Metadata that somebody else writes. A field that is missing or null counts as not published.

    Args:
        said: The JSON object.
        reach: Where its URLs may point.

    Raises:
        Unavailable: From every method, if the field has another type.
    """

    def __init__(self, said: Mapping[str, object], reach: Reach) -> None:
        self._said = said
        self._reach = reach

    def url(self, name: str) -> str:
        """A URL that must be published."""
        return self._reach.check(self._said.get(name), name)

    def url_if_any(self, name: str) -> str:
        """A URL; empty if none is published."""
        return "" if self._said.get(name) in (None, "") else self.url(name)

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts; None if it isn't published."""
        given = self._said.get(name)
        if given is None:
            return None
        if isinstance(given, list) and all(isinstance(each, str) for each in cast("list[object]", given)):
            return tuple(cast("list[str]", given))
        raise Unavailable(f"its metadata has no usable {name}: it must be a list of texts", status=200)

    def flag(self, name: str) -> bool:
        """Whether this is true; false if it isn't published."""
        given = self._said.get(name, False)
        if given is None or isinstance(given, bool):
            return bool(given)
        raise Unavailable(f"its metadata has no usable {name}: it must be true or false", status=200)
