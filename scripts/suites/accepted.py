"""Read accepted.txt: the tests that may fail with midcall, each with its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scripts.suites.environment import Suite

__all__ = ["accepted_tests"]

FILE: Final = Path(__file__).with_name("accepted.txt")


def accepted_tests(suite: Suite) -> set[str]:
    """This suite's test names in lines such as `mcp tests/test_it.py::test_it  # why`."""
    lines = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
    return {name for line in lines for owner, name in [parse(line)] if owner == suite.name}


def parse(line: str) -> tuple[str, str]:
    test, _, reason = line.partition("  # ")
    suite, _, name = test.partition(" ")
    if not (name and reason.strip()):
        raise SystemExit(f"{FILE.name} needs a suite, a test and a reason in each line, and has: {line}")
    return suite, name
