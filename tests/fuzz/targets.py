"""Everything that strangers can send something to."""

from __future__ import annotations

from typing import Final

from tests.fuzz import client, data, pages, terminal, texts, wire
from tests.fuzz.fuzzer import Target

MODULES: Final = (texts, data, wire, pages, client, terminal)
TARGETS: Final[dict[str, Target]] = {target.name: target for module in MODULES for target in module.TARGETS}
