"""What people read, in their language: gettext over the catalogs in `locale/`.

Write `_("At least {minimum}").format(minimum=18)`: translators see the sentence and the names in it.
"""

from __future__ import annotations

import gettext
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Final

DOMAIN: Final = "midcall"
LOCALE: Final = Path(__file__).parent / "locale"

_ENGLISH: Final = gettext.NullTranslations()
_translations: Final = ContextVar("midcall_language", default=_ENGLISH)


def _(message: str) -> str:
    """Translate this sentence, or return it as it is if there's no translation."""
    return _translations.get().gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    """Translate the form of this sentence that fits `count`."""
    return _translations.get().ngettext(one, many, count)


@contextmanager
def use(languages: Sequence[str], directory: Path = LOCALE) -> Generator[None]:
    """Speak the first of these languages that has a catalog in `directory`, or English."""
    token = _translations.set(gettext.translation(DOMAIN, directory, languages, fallback=True))
    try:
        yield
    finally:
        _translations.reset(token)
