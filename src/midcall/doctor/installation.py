"""Find the installation in your code: import a file or a module, and search it for servers, or say why it fails."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import Final

from midcall.client.lines.screen import print_error
from midcall.doctor.inspection import VARIABLES
from midcall.doctor.masking import mask
from midcall.doctor.source import find_similar
from midcall.errors import MidcallError
from midcall.server.installation import Installation, installation_on, installations
from midcall.settings.cli import SLOW_IMPORT_SECONDS

_NEEDED: Final = ("mcp", "midcall", "fastmcp")
_OURS: Final = Path(__file__).resolve().parent


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
        raise CannotImport(_several(path, list(there) or ["..."]))
    return made[0]


def _find_named(path: str, module: ModuleType, name: str) -> Installation:
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise CannotImport(_no_such_name(path, name, list(_find_all(module))))
        value = getattr(value, part)
    found = value if isinstance(value, Installation) else installation_on(value)
    if found is None:
        target = f"{path}:{name}"
        raise CannotImport(
            _not_installed(target, name)
            if _is_server(value)
            else (
                f"midcall is not installed on a server in {target}, and {name} is not a server: name the server, "
                "or leave the name out"
            )
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
    servers = [name for name, value in vars(module).items() if _is_server(value)]
    return (
        _not_installed(path, servers[0])
        if servers
        else (
            f"midcall is not installed on a server in {path}: importing it creates no server. If a function does, "
            f'check it from outside: midcall doctor "{_command(path)}"'
        )
    )


def _is_server(value: object) -> bool:
    from mcp.server.lowlevel.server import Server
    from mcp.server.mcpserver import MCPServer

    fastmcp = sys.modules.get("fastmcp")
    return isinstance(value, (MCPServer, Server)) or (fastmcp is not None and isinstance(value, fastmcp.FastMCP))


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
    late = Timer(SLOW_IMPORT_SECONDS, lambda: print_error(f"{_still_importing(path)}\n"))
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
        raise CannotImport(_no_such_file(str(path), str(path.parent.absolute()), find_similar(path)))
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


def _no_such_file(path: str, folder: str, near: str | None) -> str:
    meant = f" Did you mean {near!r}?" if near else " Is it in another folder?"
    return f"there is no file {path!r} (looked for in {folder}).{meant}"


def _still_importing(target: str) -> str:
    return (
        f"{target} is still being imported after {SLOW_IMPORT_SECONDS:g} s. Does it start its server outside "
        '`if __name__ == "__main__":`? Ctrl-C ends this.'
    )


def _no_such_name(target: str, name: str, near: Sequence[str]) -> str:
    hint = f" Servers there: {', '.join(near)}." if near else " No server there has midcall."
    return f"{target} has no {name!r}.{hint}"


def _not_installed(target: str, name: str) -> str:
    return (
        f"midcall is not installed on a server in {target}: call midcall.install({name}) after the line that creates it"
    )


def _several(target: str, names: Sequence[str]) -> str:
    return f"{target} has several servers: name one of {', '.join(names)}, as {target}:{names[0]}"


# --- why it could not be imported -----------------------------------------------------------------
def _explain_import(path: str, error: BaseException, command: str) -> CannotImport:
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
