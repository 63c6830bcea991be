"""`midcall demo`: play two tools that ask, in the terminal or, without one, from a script."""

from __future__ import annotations

import sys

import anyio

from midcall.cli import ERAS
from midcall.cli.demo.scenes import play_scenes
from midcall.cli.exits import usage_error
from midcall.client.lines.screen import Ink, is_terminal
from midcall.settings.cli import DEMO_SECONDS


def run(game: str | None, era: str | None, *, scripted: bool) -> int:
    """Play the demo, and return the exit code."""
    if not scripted and is_terminal(sys.stdin) and is_terminal(sys.stdout):
        try:
            from midcall.cli.demo.interactive import InteractiveDemo
        except ImportError as error:  # the script needs no extras, line prompts do
            raise usage_error("midcall demo", str(error)) from None
        if not anyio.run(InteractiveDemo().play, game, era):
            raise KeyboardInterrupt
        return 0
    return anyio.run(_play_script, game, era)


async def _play_script(game: str | None, era: str | None) -> int:
    try:
        with anyio.fail_after(DEMO_SECONDS):
            passed = await play_scenes(game, (era,) if era else ERAS, Ink.on_stream(sys.stdout))
    except TimeoutError:
        print(f"The demo did not finish within {DEMO_SECONDS:g} seconds.", file=sys.stderr)
        return 1
    return 0 if passed else 1
