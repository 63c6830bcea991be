"""What midcall knows of the protocol: its versions and what each can do, our tools, our keys in `_meta`."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

# --- versions ----------------------------------------------------------------------------------

Version: TypeAlias = Literal["2025-06-18", "2025-11-25", "2026-07-28"]
VERSIONS: Final[tuple[Version, ...]] = ("2025-06-18", "2025-11-25", "2026-07-28")
"""The versions that can ask."""
PUSHING: Final[tuple[Version, ...]] = ("2025-06-18", "2025-11-25")
"""Those in which a server pushes its questions. Newer ones have rounds."""
NEWEST: Final[Version] = "2026-07-28"
FULL_FORMS: Final[Version] = "2025-11-25"
"""The first whose forms have defaults, patterns, titles and multiple choice."""
FORMS_SINCE: Final[Version] = "2025-06-18"
URLS_SINCE: Final[Version] = "2025-11-25"
"""The first with URL mode. Since then, a question says which mode it has."""


def has_visit_errors(version: str | None) -> bool:
    """Whether a server may answer with -32042, and tell when a visit is complete. 2026-07-28 has rounds instead."""
    return version == URLS_SINCE


# --- our tools ---------------------------------------------------------------------------------

CONTINUE: Final = "midcall_continue"
"""Continues a call with its resume code. Models call it, and people in a shell."""
ANSWER: Final = "midcall_answer"
"""Continues a call with an answer that the model brings."""
APP: Final = "midcall_app"
"""Gives an App its question, and takes the answer."""
PROBE: Final = "midcall_probe"
"""Tries the connected client out."""

# --- our keys in `_meta` -----------------------------------------------------------------------

APP_META: Final = "midcall/app"
"""In a result: what our App reads, and nobody else."""
CODE: Final = "midcall/code"
"""A resume code. In a result or an error, for the client; in a retry, back from it."""
DECIDED: Final = "midcall/decided"
"""In an answer: a person decided it, or a program on purpose, however fast it came."""
NOW: Final = "midcall/now"
"""Beside a code: nobody has anything to do first, and a client may continue at once."""
RETRIES: Final = "midcall/retries"
"""In a request: how often this client makes the call again after the error -32042."""
