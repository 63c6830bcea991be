"""What a target of `midcall doctor` means: your code, a URL or a command.

Code is imported, and searched for the server. If that fails, the error says why, or what was meant.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager, redirect_stdout
from difflib import get_close_matches
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import Final

from midcall.client.lines.screen import print_error
from midcall.client.transport.target import is_url
from midcall.doctor.inspection import VARIABLES
from midcall.doctor.masking import mask
from midcall.errors import InstallError, MidcallError
from midcall.server.installation import Installation, installation_on, installations, lowlevel
from midcall.settings.cli import SLOW_IMPORT_SECONDS

_FILE: Final = re.compile(r"(?P<path>.+\.py)(?::(?P<name>[\w.]+))?")
_MODULE: Final = re.compile(r"(?P<path>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_][\w.]*)")
_ADDRESS: Final = re.compile(r"[\w.-]+:[0-9]+(/\S*)?", re.ASCII)
_SHOWN: Final = 5
_ALIKE: Final = 0.8
_WHAT_TO_NAME: Final = (
    'Name a file (server.py), a module (package.module:mcp), a URL, or a command ("python server.py").'
)
NOTHING_NAMED: Final = f"no server was named. {_WHAT_TO_NAME}"
_NEEDED: Final = ("mcp", "midcall", "fastmcp")
_OURS: Final = Path(__file__).resolve().parent


def find_source(target: str) -> tuple[str, str | None] | None:
    """The file or module, and the name in it, that this means; None if it's a URL or a command."""
    target = target.strip()
    if "://" in target:
        return None
    found = _FILE.fullmatch(target) or _MODULE.fullmatch(target)
    if found is None or (" " in target and not Path(found["path"]).exists()):
        return None
    return found["path"], found["name"]


def explain_target(target: str) -> str | None:
    """Why this isn't a command either, and what may have been meant; None if it can be tried."""
    target = target.strip()
    if not target:
        return NOTHING_NAMED
    if Path(target).is_dir():
        files = sorted(str(each) for each in Path(target).glob("*.py"))[:_SHOWN]
        hint = f"Name a file in it: {', '.join(files)}." if files else _WHAT_TO_NAME
        return f"{target} is a folder. {hint}"
    if " " in target or is_url(target) or _ADDRESS.fullmatch(target) or shutil.which(target):
        return None
    if target.endswith(":"):
        return (
            f"there is no name after the colon in {target!r}: add the server's, as in server.py:mcp, or drop the colon"
        )
    if Path(target).exists():
        return f"{target} is neither a Python file nor a command. {_WHAT_TO_NAME}"
    meant = _guess(target)
    hint = f"Did you mean {meant}?" if meant else _WHAT_TO_NAME
    return f"there is no file, module or command {target!r} here. {hint}"


def _guess(target: str) -> str | None:
    """The file of that name; or the module, if a dot was typed for the colon."""
    if Path(f"{target}.py").is_file():
        return f"{target}.py"
    module, _, name = target.rpartition(".")
    if module and Path(*module.split(".")).with_suffix(".py").is_file():
        return f"{module}:{name}"
    return _find_similar(Path(target))


def _find_similar(path: Path) -> str | None:
    """A Python file in the same folder with a similar name."""
    files = {each.name: each for each in path.parent.glob("*.py")} if path.parent.is_dir() else {}
    found = get_close_matches(path.name, files, 1, _ALIKE)
    return str(files[found[0]]) if found else None


# --- the server in it ----------------------------------------------------------------------------
class CannotImport(Exception):
    """The target cannot be checked; the message says why, and what to do."""

    is_setting = False
    """Whether one of our settings is wrong."""


def find_installation(path: str, name: str | None) -> Installation:
    """Import this, and return the installation of the server with this name; without a name, of the only server.

    Raises:
        CannotImport: No server was found, or the code doesn't run.
    """
    before = set(installations)
    module = _import(path)
    if name is not None:
        return _find_named(path, module, name)
    there = _find_all(module)
    made = list(there.values()) or [each for each in installations if each not in before]
    if not made:
        raise CannotImport(_explain_none(path, module))
    if len(set(made)) > 1:
        names = list(there) or ["..."]
        raise CannotImport(f"{path} has several servers: name one of {', '.join(names)}, as {path}:{names[0]}")
    return made[0]


def _find_named(path: str, module: ModuleType, name: str) -> Installation:
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            near = ", ".join(_find_all(module))
            raise CannotImport(
                f"{path} has no {name!r}. {f'Servers there: {near}.' if near else 'No server there has midcall.'}"
            )
        value = getattr(value, part)
    found = value if isinstance(value, Installation) else installation_on(value)
    if found is None and _is_server(value):
        raise CannotImport(_not_installed(f"{path}:{name}", name))
    if found is None:
        raise CannotImport(
            f"midcall is not installed on a server in {path}:{name}, and {name} is not a server: name the server, "
            "or leave the name out"
        )
    return found


def _find_all(module: ModuleType) -> dict[str, Installation]:
    """The servers in this module that can ask, by name; each once."""
    found: dict[str, Installation] = {}
    for name, value in vars(module).items():
        installation = value if isinstance(value, Installation) else installation_on(value)
        if installation is not None and installation not in found.values():
            found[name] = installation
    return found


def _explain_none(path: str, module: ModuleType) -> str:
    """What to do if no server has midcall, or the module has no server."""
    if servers := [name for name, value in vars(module).items() if _is_server(value)]:
        return _not_installed(path, servers[0])
    return (
        f"midcall is not installed on a server in {path}: importing it creates no server. If a function does, "
        f'check it from outside: midcall doctor "{_command(path)}"'
    )


def _not_installed(target: str, name: str) -> str:
    return (
        f"midcall is not installed on a server in {target}: call midcall.install({name}) after the line that creates it"
    )


def _is_server(value: object) -> bool:
    try:
        return bool(lowlevel(value))
    except InstallError:
        return False


# --- importing it --------------------------------------------------------------------------------
def _import(path: str) -> ModuleType:
    try:
        with _as_program(path):
            return _import_file(Path(path)) if path.endswith(".py") else _import_module(path)
    except CannotImport:
        raise
    except (Exception, SystemExit) as error:
        raise _explain_import(path, error, _command(path)) from error


def _command(path: str) -> str:
    return f"python {path}" if path.endswith(".py") else f"python -m {path}"


@contextmanager
def _as_program(path: str) -> Generator[None]:
    """Hide our arguments and standard input, which a server would wait for. What it prints goes to standard error,
    since standard output may be read as JSON.
    """
    argv, stdin = sys.argv, sys.stdin
    still = (
        f"{path} is still being imported after {SLOW_IMPORT_SECONDS:g} s. Does it start its server outside "
        '`if __name__ == "__main__":`? Ctrl-C ends this.\n'
    )
    late = Timer(SLOW_IMPORT_SECONDS, print_error, (still,))
    late.daemon = True
    with redirect_stdout(sys.stderr), open(os.devnull, encoding="utf-8") as nothing:
        sys.argv, sys.stdin = [path], nothing
        late.start()
        try:
            yield
        finally:
            late.cancel()
            sys.argv, sys.stdin = argv, stdin


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        near = _find_similar(path)
        meant = f"Did you mean {near!r}?" if near else "Is it in another folder?"
        raise CannotImport(f"there is no file {str(path)!r} (looked for in {path.parent.absolute()}). {meant}")
    if path.stem in _NEEDED:
        raise CannotImport(
            f"{path!s} is named like the package {path.stem}, and `import {path.stem}` would find it instead: rename "
            "the file"
        )
    sys.path.insert(0, str(path.resolve().parent))  # as `python path` does
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _import_module(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise CannotImport(
                f"there is no module {name!r}, neither here nor installed. Run this in the folder that it is imported "
                "from, with the Python that has it: PYTHON -m midcall doctor ..."
            ) from None
        raise


# --- why it could not be imported -----------------------------------------------------------------
def _explain_import(path: str, error: BaseException, command: str) -> CannotImport:
    """What an import raised, in one line, without a traceback."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)  # not its place, which follows
    text = error.text.rstrip(".") if isinstance(error, MidcallError) else mask(text)
    where = _where(path, error)
    what = f"{type(error).__name__}{f': {text}' if text else ''}{f' ({where})' if where else ''}"
    end = "" if what.endswith((".", "!", "?")) else "."
    refusal = CannotImport(f"{path} could not be imported: {what}{end} {_advise(error, command)}".rstrip())
    refusal.is_setting = isinstance(error, MidcallError)
    return refusal


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
        case MidcallError(advice=str(advice)) if advice:
            return advice
        case MidcallError():
            variables = ", ".join(sorted(name for name in VARIABLES if os.environ.get(name)))
            return f"Change it there, or in the environment: {variables}." if variables else "Change it there."
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


def _is_from_environ(error: KeyError) -> bool:
    """Whether `os.environ[...]` raised it."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals.get("__name__") == "os"
