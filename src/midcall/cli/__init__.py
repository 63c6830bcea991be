"""The command line: `midcall`, or `python -m midcall`.

Only what parses arguments is imported here. A command imports what it needs when it runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from midcall import __version__

__all__ = ["main"]

GAMES: Final = ("guess", "trip")
ERAS: Final = ("2025-06-18", "2025-11-25", "2026-07-28")

_ABOUT: Final = "Ask the user in the middle of an MCP call, on every protocol version."
_DEMO: Final = """\
Play a tool that asks: the game "guess the number", or the booking of a trip. Server and client run
in this process, and every question shows the protocol version and the channel that carried it.

Without a terminal, or with --scripted, a scripted run plays everything on every version.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        return _demo(arguments)
    except KeyboardInterrupt:
        print()
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="midcall", description=_ABOUT)
    parser.add_argument("--version", action="version", version=f"midcall {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    demo = commands.add_parser(
        "demo",
        help="play a tool that asks, on any protocol version",
        description=_DEMO,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    demo.add_argument("game", nargs="?", choices=GAMES, help="what to play; asked for where it is left out")
    demo.add_argument("--era", choices=ERAS, help="the protocol version to play on")
    demo.add_argument("--scripted", action="store_true", help="play from a script, also in a terminal")
    return parser


def _demo(arguments: argparse.Namespace) -> int:
    from midcall.cli.demo import run

    return run(arguments.game, arguments.era, scripted=arguments.scripted)
