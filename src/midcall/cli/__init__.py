"""The command line: `midcall`, or `python -m midcall`.

Only what parses arguments is imported here. A command imports what it needs when it runs.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final, NoReturn

from midcall.cli.exits import INTERRUPTED, USAGE, Ends
from midcall.cli.hangup import let_go
from midcall.client.lines.screen import print_error
from midcall.protocol import VERSIONS

__all__ = ["ERAS", "GAMES", "main"]

GAMES: Final = ("guess", "trip")
ERAS: Final = VERSIONS


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code. Without `argv`, as the program that it then is."""
    try:
        from midcall.cli.commands import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "click":
            raise
        print(f"midcall: error: {_needs_extra('cli', 'The command line')}", file=sys.stderr)
        return USAGE
    try:
        return run(argv)
    except Ends as end:
        if end.sentence:
            print_error(f"{end.sentence}\n")
        return end.code
    except (KeyboardInterrupt, BaseExceptionGroup) as error:
        if isinstance(error, BaseExceptionGroup) and error.subgroup(KeyboardInterrupt) is None:
            raise
        print_error(f"\n{_interrupted()}\n")  # in a group, if it was pressed again while the call ended
        if argv is None:
            _end_at_once(INTERRUPTED)
        return INTERRUPTED
    finally:
        let_go(sys.stderr)
        if argv is None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the code is decided, and one more Ctrl-C changes nothing


def _end_at_once(code: int) -> NoReturn:
    """End, and wait for no thread: Ctrl-C may have ended the loop before it could let its own threads go."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    for stream in (sys.stdout, sys.stderr):
        let_go(stream)
    os._exit(code)


def _needs_extra(extra: str, what: str) -> str:
    return f"{what} needs more packages: pip install 'midcall[{extra}]'"


def _interrupted() -> str:
    return "Cancelled."
