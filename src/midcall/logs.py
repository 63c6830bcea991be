"""Keep strangers' text from forging, hiding or flooding lines of our logs.

A client names itself, its tools and its hosts; an issuer names its errors. A newline in such a name would begin a line
that looks like ours, an escape sequence would clear the reader's terminal. So each of our loggers has a filter that
writes such characters as escapes in every record.
"""

from __future__ import annotations

import logging
from typing import Final

from midcall.settings.calls import LOG_CHARACTERS

LOGGERS: Final = (
    "midcall",
    "midcall.audit",
    "midcall.client",
    "midcall.client.connection",
    "midcall.portal",
    "midcall.portal.oauth",
    "midcall.questions",
    "midcall.store",
    "midcall.visits",
)
"""All our loggers. A filter applies to one logger, not to those below it."""

_MARGIN: Final = "  | "
_PLAIN: Final = logging.Formatter()


def one_line(text: str) -> str:
    """This text on one line of bounded length. Characters that can't be printed become escapes, such as `\\n`."""
    if len(text) > LOG_CHARACTERS:
        text = f"{text[:LOG_CHARACTERS]}… ({len(text) - LOG_CHARACTERS:,} more characters)"
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _indent(text: str) -> str:
    """These lines, none of which can be taken for a separate record."""
    return "\n".join(f"{_MARGIN}{one_line(each)}" for each in text.split("\n"))


def _escape(record: logging.LogRecord) -> bool:
    """A filter. It changes only records that need it, so that others keep their template and arguments."""
    try:
        message = record.getMessage()
    except (TypeError, ValueError):  # the handler reports a wrong template
        return True
    if (line := one_line(message)) != message:
        record.msg, record.args = line, ()
    if record.exc_info and record.exc_info[0] is not None:
        record.exc_text = _indent(_PLAIN.formatException(record.exc_info))
    if record.stack_info and not record.stack_info.startswith(_MARGIN):
        record.stack_info = _indent(record.stack_info)
    return True


def guard_logs() -> None:
    """Add the filter to all our loggers. Safe to call twice."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_escape)
