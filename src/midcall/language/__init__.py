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
_FROM_THE_RIGHT: Final = frozenset({"ar", "ckb", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"})
_translations: Final = ContextVar("midcall_language", default=_ENGLISH)


def _(message: str) -> str:
    """Translate this sentence, or return it as it is if there's no translation."""
    return _translations.get().gettext(message)


def ngettext(one: str, many: str, count: int) -> str:
    """Translate the form of this sentence that fits `count`."""
    return _translations.get().ngettext(one, many, count)


def name_language() -> str:
    """The language in use, as the attribute `lang` of HTML names it: "en", "pt-BR"."""
    return _translations.get().info().get("language", "en").replace("_", "-")


def name_direction() -> str:
    """The direction in which this language is written, as the attribute `dir` of HTML names it."""
    return "rtl" if name_language().partition("-")[0] in _FROM_THE_RIGHT else "ltr"


@contextmanager
def use(languages: Sequence[str], directory: Path = LOCALE) -> Generator[None]:
    """Speak the first of these languages that has a catalog in `directory`, or English."""
    token = _translations.set(gettext.translation(DOMAIN, directory, languages, fallback=True))
    try:
        yield
    finally:
        _translations.reset(token)
