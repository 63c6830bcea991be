"""Finds what a client may turn into a link: a form must not lead the user anywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from midcall.core.forms.fields import Choice, Choices
from midcall.core.forms.form import Form

__all__ = ["form_texts", "links_in"]

# Everything has an end, so that no text takes long: messages quote what others wrote.
# The target of a Markdown link; or a scheme and slashes, a mail link, a bare www, a host name with a path.
_LINK = re.compile(
    r"""(?<=\]\()[^\s<>()"]+ | (?<![\w@])(?:
        [a-z][a-z0-9+.-]{0,30}://[^\s<>"]+
      | www\.[^\s<>"]+\.[^\s<>"]+
      | mailto:[^\s<>"]+
      | (?<![.-])(?:[a-z0-9-]{1,63}\.){1,30}[a-z]{2,24}(?::\d+)?/[^\s<>"]+
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_TRAILING = ".,;:!?'*_`]}>"


def links_in(*texts: str | None) -> tuple[str, ...]:
    """The links in these texts, each once, in order."""
    found = (_trimmed(link) for text in texts if text for link in _LINK.findall(text))
    return tuple(dict.fromkeys(found))


def form_texts(form: Form) -> tuple[str, ...]:
    """Every text of a form that a client shows."""
    return tuple(_texts(form))


def _texts(form: Form) -> Iterator[str]:
    for field in form:
        yield field.label
        if field.description:
            yield field.description
        if isinstance(field, (Choice, Choices)):
            yield from field.labels.values()


def _trimmed(link: str) -> str:
    """Without the punctuation of the sentence around it; a bracket stays if it closes one within."""
    while link[-1:] in _TRAILING or (link.endswith(")") and link.count(")") > link.count("(")):
        link = link[:-1]
    return link
