"""Long and odd texts, such as a stranger could send, and a limit for the time that reading one takes."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from hypothesis import Phase, settings
from hypothesis import strategies as st

from tests.budget import cpu_budget

SECONDS = 2.0
"""Of processor time, for one text. Each takes a few milliseconds; a quadratic function takes minutes."""
CHARACTERS = 60_000
MORE_CHARACTERS = 240_000
"""For texts that were once read in quadratic time: a fast machine notices that only in long ones."""

_PIECES = st.sampled_from(
    [
        *("[x](", "](", ".", ")", "(", "]", "[", "{", "}", "<", "a", "A", "-", "_", " ", "\n", "\r", "\t", "@", "%"),
        *("%41", "/", ":", "://", "http://", "www.", "mailto:", "a.b/", "1", "9", "+", "\\", "^", "$", "*", "(?:"),
        *(
            "{1,9}",
            '"',
            "'",
            "`",
            ",",
            ";",
            "=",
            "&",
            "#",
            "|",
            "~",
            "xn--",
            "token",
            "apiKey",
            "Enter ",
        ),
        *(
            "\x00",
            "\x1b",
            "\x1b[",
            "\x1b]",
            "\x9b",
            "\x9d",
            "\x07",
            "\u202e",
            "\u200d",
            "\u0301",
            "\u0316",
            "\u180b",
            "\u4e2d",
        ),
        *("\ud800", "\U0001f600", "\u00df", "\u0130", "\ufdfa", "\u3002", "2026-07-28T09:30:00."),
    ]
)
_PARTS = st.lists(_PIECES, max_size=3).map("".join)


@dataclass(frozen=True)
class Long:
    """A long text, which a failing test prints in short."""

    repeated: tuple[str, ...]
    start: str = ""
    end: str = ""
    characters: int = CHARACTERS

    def __str__(self) -> str:
        times = self.characters // len("".join(self.repeated))
        return self.start + "".join(part * times for part in self.repeated) + self.end


long_texts = st.builds(Long, st.tuples(st.lists(_PIECES, min_size=1, max_size=4).map("".join)), _PARTS, _PARTS)
some = settings(
    max_examples=max(1, int(os.environ.get("MIDCALL_FUZZ", 48)) // 4),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a text of this length takes minutes
)


def assert_fast(read_text: Callable[[str], object], text: Long | str) -> None:
    long = str(text)
    with cpu_budget(SECONDS), suppress(ValueError):  # refused, in time
        read_text(long)
