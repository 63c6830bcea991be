"""Why your code could not be imported: what was raised, where, and what to do about it."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Final

from midcall.doctor.masking import mask
from midcall.doctor.site import VARIABLES
from midcall.errors import MidcallError

_OURS: Final = Path(__file__).resolve().parent


class CannotImport(Exception):
    """The target cannot be checked; the message says why, and what to do."""

    is_setting = False
    """Whether one of our settings is wrong."""


def explain_import(path: str, error: BaseException, command: str) -> CannotImport:
    """What an import raised, in one line, without a traceback."""
    text = error.text.rstrip(".") if isinstance(error, MidcallError) else mask(_text(error))
    where = _where(path, error)
    what = f"{type(error).__name__}{f': {text}' if text else ''}{f' ({where})' if where else ''}"
    end = "" if what.endswith((".", "!", "?")) else "."
    refusal = CannotImport(f"{path} could not be imported: {what}{end} {_advise(error, command)}".rstrip())
    refusal.is_setting = isinstance(error, MidcallError)
    return refusal


def _text(error: BaseException) -> str:
    """A `SyntaxError` adds its place to its text, and `_where` has that already."""
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _where(path: str, error: BaseException) -> str:
    """The innermost line of the named code, or of what's in the same folder."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{Path(error.filename).name}, line {error.lineno or 1}"
    home = Path(path).resolve().parent if path.endswith(".py") else Path.cwd()
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_in(home, frame.filename)]
    return f"{Path(own[-1].filename).name}, line {own[-1].lineno or 1}" if own else ""


def _is_in(home: Path, file: str) -> bool:
    """Not an installed package, even if the virtual environment is in the same folder; and not this command."""
    place = Path(file).resolve()
    if file.startswith("<"):  # the interpreter's own, or generated code
        return False
    return place.is_relative_to(home) and "site-packages" not in place.parts and not place.is_relative_to(_OURS)


def _advise(error: BaseException, command: str) -> str:
    match error:
        case MidcallError():
            return error.advice or _advise_setting()
        case ModuleNotFoundError(name=str(name)):
            return f"Install {name} here, or use the Python that has it: PYTHON -m midcall doctor ..."
        case KeyError() if _is_from_environ(error):
            return f"Set the variable {error.args[0]!s}: the code runs in this shell's environment."
        case SystemExit():
            return (
                'It exits while it is imported: put what starts it behind `if __name__ == "__main__":`, or check it '
                f'from outside, midcall doctor "{command}"'
            )
        case SyntaxError():
            return "Correct it there, and try again."
        case _:
            return f"`{command}` shows the whole traceback."


def _advise_setting() -> str:
    variables = sorted(name for name in VARIABLES if os.environ.get(name))
    return f"Change it there, or in the environment: {', '.join(variables)}." if variables else "Change it there."


def _is_from_environ(error: KeyError) -> bool:
    """Whether `os.environ[...]` raised it."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_globals.get("__name__") == "os"
