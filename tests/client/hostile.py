"""How tests talk to `hostile_server.py`: over stdio and over HTTP, on versions that push and the one with rounds.

`make test` attacks in one of these four ways, and where ten thousand come at once, with two thousand; `make hostile`,
which CI runs too, in all of them, and with all.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from tests.client.hostile_server import FLOOD, ODD, URLS
from tests.warm import command_of

SERVER = Path(__file__).with_name("hostile_server.py")
STDIO = command_of(SERVER)
PUSH, _ = ERAS = ["2025-11-25", "2026-07-28"]
OVER = ["stdio", "http"]
FULL = os.environ.get("MIDCALL_HOSTILE") == "full"
WAYS = [(over, era) for over in OVER for era in ERAS] if FULL else [("stdio", PUSH)]
every_way = pytest.mark.parametrize(("over", "era"), WAYS)
SECONDS = 60.0
"""How long an attack may take on a machine that has other things to do. Most take one or two."""
MEGABYTES = 200
"""How much memory a client may gain under any attack."""
BASE = 120
"""What the command line takes with its imports and an empty form, with room to spare."""
POSTED = 2_000
"""Over HTTP each pushed question needs a separate request to answer it, so fewer of them take as long. This many is
enough for `make test`, too: twenty times what a client shows or keeps.
"""
COUNTS = {
    "long": 1,
    "lines": 1,
    "choices": 1,
    "fields": 1,
    "controls": 1,
    "urls": len(URLS),
    "odd": len(ODD),
    "slow": 1,
}

pty = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals need a POSIX system")
proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")


def flood(over: str, era: str) -> int:
    """How many questions come at once."""
    return FLOOD if FULL and (over, era) != ("http", PUSH) else POSTED


def is_too_large(attack: str, over: str, era: str) -> bool:
    """Whether the SDK takes no event that large."""
    return attack in ("long", "lines") and (over, era) == ("http", PUSH)


def answered(text: str) -> dict[str, int]:
    """What the server was told: how many were answered how."""
    said = text.rpartition("Answered: ")[2].strip()
    return {kind: int(count) for kind, _, count in (each.rpartition(" ") for each in said.split(", "))}


ACTS = re.compile(
    r"\x1b[]PX^_c]|[\x00\x07\x08\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ufeff]"
    r"|(?:\x1b\[|\x9b)[0-9;?]*(?:777m|1049l)"
)
"""What neither Textual nor we write, and the server does."""
POINTER = re.compile(r"\x1b]22;\w+\x07")
"""How Textual shapes the mouse pointer."""


def acting(text: str) -> list[str]:
    return [found[0] for found in ACTS.finditer(POINTER.sub("", text))]
