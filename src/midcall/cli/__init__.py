"""The command line: `midcall`, or `python -m midcall`.

This module only imports what parses arguments. A command imports what it needs when it runs.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from midcall.cli.exits import INTERRUPTED, USAGE, Ends, abandon, is_interrupt
from midcall.client.lines.screen import print_error
from midcall.protocol import VERSIONS

__all__ = ["ERAS", "GAMES", "main"]

GAMES: Final = ("guess", "trip")
ERAS: Final = VERSIONS

_EXTRAS: Final = {"click": "cli", "rich": "cli"} | dict.fromkeys(
    ("authlib", "itsdangerous", "joserfc", "keyring"), "portal"
)
"""The extra that brings a package. What needs others reports it."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code. Without `argv`, this is the program itself."""
    try:
        from midcall.cli.commands import run

        return run(argv)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        print_error(f"midcall: error: This command needs more packages: pip install 'midcall[{extra}]'\n")
        return USAGE
    except Ends as end:
        if end.sentence:
            print_error(f"{end.sentence}\n")
        return end.code
    except (KeyboardInterrupt, BaseExceptionGroup) as error:
        if not is_interrupt(error):
            raise
        print_error("\nCancelled.\n")  # in a group if it was pressed again while the call ended
        if argv is None:
            _end_at_once(INTERRUPTED)
        return INTERRUPTED
    finally:
        abandon(sys.stderr)
        if argv is None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the exit code is decided: ignore further Ctrl-C


def _end_at_once(code: int) -> NoReturn:
    """Exit without waiting for threads: Ctrl-C may have ended the loop before it could stop them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        abandon(stream)
    os._exit(code)
