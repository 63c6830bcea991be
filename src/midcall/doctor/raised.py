"""Why somebody's code could not be imported: what was raised, where, and what to do about it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Sequence
from pathlib import Path

from midcall.doctor.masked import masked
from midcall.doctor.surroundings import SETTINGS
from midcall.errors import MidcallError

__all__ = ["CannotImport", "why_not"]


class CannotImport(Exception):
    """What was named cannot be looked at; the message says why, and what to do."""

    of_ours = False
    """Whether it is a setting of midcall that is wrong."""


def why_not(path: str, error: BaseException, command: str) -> CannotImport:
    """The end of an import, for whoever runs it: in a line, without a traceback."""
    text = error.text.rstrip(".") if isinstance(error, MidcallError) else masked(_text(error))
    what = f"{type(error).__name__}{f': {text}' if text else ''}"
    refused = CannotImport(_not_imported(path, what, _where(path, error), _advice(error, command)))
    refused.of_ours = isinstance(error, MidcallError)
    return refused


def _text(error: BaseException) -> str:
    """A `SyntaxError` adds its place to its text, and that is told anyway."""
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _where(path: str, error: BaseException) -> str:
    """The innermost line of the code that was named, or of what lies beside it."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return _at_line(Path(error.filename).name, error.lineno or 1)
    home = Path(path).resolve().parent if path.endswith(".py") else Path.cwd()
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_in(home, frame.filename)]
    return _at_line(Path(own[-1].filename).name, own[-1].lineno or 1) if own else ""


def _is_in(home: Path, file: str) -> bool:
    """Not what is installed, also not where the environment lies beside the code; and not this very command."""
    place = Path(file).resolve()
    if file.startswith("<"):  # what has no file: the interpreter's own, and what was made up
        return False
    return place.is_relative_to(home) and "site-packages" not in place.parts and not place.is_relative_to(_OURS)


_OURS = Path(__file__).resolve().parent


def _advice(error: BaseException, command: str) -> str:
    match error:
        case MidcallError():
            return error.advice or _see_the_settings(_variables())
        case ModuleNotFoundError(name=str(name)):
            return f"Install {name} here, or use the Python that has it: PYTHON -m midcall doctor ..."
        case KeyError() if _is_of_environment(error):
            return f"Set the variable {error.args[0]!s}: the code runs in the environment of this shell."
        case SystemExit():
            return (
                'It ends while it is imported: put what starts it behind `if __name__ == "__main__":`, or '
                f'look at it from outside, midcall doctor "{command}"'
            )
        case SyntaxError():
            return "Correct it there, and try again."
        case _:
            return f"`{command}` shows the whole traceback."


def _variables() -> list[str]:
    """The settings that do not come from the code, by name."""
    return sorted(name for name in SETTINGS if os.environ.get(name))


def _is_of_environment(error: KeyError) -> bool:
    """Whether it was `os.environ[...]` that had no such key."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_globals.get("__name__") == "os"


def _not_imported(target: str, what: str, where: str, advice: str) -> str:
    told = f"{target} could not be imported: {what}{f' ({where})' if where else ''}"
    return f"{told}{'' if told.endswith(('.', '!', '?')) else '.'} {advice}".rstrip()


def _at_line(file: str, line: int) -> str:
    return f"{file}, line {line}"


def _see_the_settings(variables: Sequence[str]) -> str:
    return f"Change it there, or in the environment: {', '.join(variables)}." if variables else "Change it there."
