"""What was named cannot be looked at: why, where, and what to do."""

from __future__ import annotations

from collections.abc import Sequence


def what_it_takes() -> str:
    return 'Name a file (server.py), a module (package.module:mcp), a URL, or a command ("python server.py").'


def nothing_named() -> str:
    return f"no server was named. {what_it_takes()}"


def no_such_thing(target: str, meant: str | None) -> str:
    hint = f"Did you mean {meant}?" if meant else what_it_takes()
    return f"there is no file, module or command {target!r} here. {hint}"


def not_python(target: str) -> str:
    return f"{target} is no Python file, and no command. {what_it_takes()}"


def a_folder(target: str, files: Sequence[str]) -> str:
    hint = f"Name a file in it: {', '.join(files)}." if files else what_it_takes()
    return f"{target} is a folder. {hint}"


# --- files and modules -----------------------------------------------------------------------------


# --- servers in them -------------------------------------------------------------------------------
