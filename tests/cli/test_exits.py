"""A second Ctrl-C can hit the cleanup after the first. Whatever error comes of that, the command was interrupted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from midcall.cli.connection import ServerLink
from midcall.cli.exits import TOOL_FAILED, Ends


def hide_behind_another_error() -> None:
    """As a library does whose cleanup was cut short."""
    try:
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("The scopes are mixed up.")
    finally:
        raise RuntimeError("And once more.")


def hide_in_a_group() -> None:
    try:
        raise BaseExceptionGroup("of tasks", [KeyboardInterrupt()])
    finally:
        raise RuntimeError("The scopes are mixed up.")


def fail() -> None:
    raise RuntimeError("Something else.")


@pytest.mark.parametrize("hide", [hide_behind_another_error, hide_in_a_group])
def test_an_error_that_an_interrupt_has_caused_is_an_interrupt(hide: Callable[[], None]) -> None:
    async def work() -> int:
        hide()
        return 0

    with pytest.raises(KeyboardInterrupt):
        ServerLink("server", "auto").run(work())


def test_any_other_error_is_reported_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    async def work() -> int:
        fail()
        return 0

    with pytest.raises(Ends) as ended:
        ServerLink("server", "auto").run(work())
    assert ended.value.code == TOOL_FAILED
    assert "The call failed unexpectedly, with RuntimeError: Something else." in capsys.readouterr().err
