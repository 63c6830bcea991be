"""Tests that measure time fail, and don't hang, if what they measure never ends."""

from __future__ import annotations

import asyncio
import re
import signal
from contextlib import suppress

import pytest

from tests.budget import cpu_budget
from tests.long_texts import assert_fast

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGPROF"), reason="Windows has no timer of processor time")


def loop_for_ever(text: str = "") -> None:
    while True:
        with suppress(Exception):
            text += ""


def test_a_loop_that_never_ends_fails_its_test() -> None:
    with pytest.raises(AssertionError, match="was stopped"), cpu_budget(0.2):
        loop_for_ever()


def test_a_pattern_that_never_ends_fails_its_test() -> None:
    with pytest.raises(AssertionError, match="was stopped"), cpu_budget(0.2):
        re.match("^(a+)+$", "a" * 60 + "!")


async def test_a_task_that_never_ends_fails_its_test() -> None:
    async def hang() -> None:
        loop_for_ever()

    with pytest.raises(AssertionError, match="was stopped"), cpu_budget(0.2):
        await asyncio.create_task(hang())


def test_a_text_that_is_read_for_ever_fails_its_test() -> None:
    with pytest.raises(AssertionError, match="was stopped"):
        assert_fast(loop_for_ever, "[x](.)")


def test_what_ends_in_time_passes() -> None:
    with cpu_budget(5):
        pass
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
