"""Standard output, without the packages that draw on it: `midcall demo` needs none of them."""

from __future__ import annotations

import json
import sys
from typing import Any

from midcall.cli.exits import abandon
from midcall.client.lines.screen import print_to


def print_out(text: str) -> None:
    """Write to standard output in any encoding, even if the pipe's reader or the terminal is gone."""
    try:
        print_to(sys.stdout, text)
    except OSError:
        abandon(sys.stdout)


def print_json(value: Any) -> None:
    """Write JSON to standard output. Use ASCII on a terminal, so that no escape sequence gets through."""
    print_out(json.dumps(value, indent=2, ensure_ascii=sys.stdout.isatty()) + "\n")
