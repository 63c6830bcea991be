"""The installation in somebody's code: a file or a module is imported, and looked through."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from threading import Timer
from types import ModuleType
from typing import Final

from midcall.client.lines.screen import print_error
from midcall.doctor.raised import CannotImport, why_not
from midcall.doctor.target import near
from midcall.server.install import installation_on
from midcall.server.installation import Installation, installations

__all__ = ["CannotImport", "installation_in"]

_LONG: Final = 5.0
_NEEDED: Final = ("mcp", "midcall", "fastmcp")


def installation_in(path: str, name: str | None) -> Installation:
    """The installation of the server of this name; without a name, the only one there.

    Raises:
        CannotImport: There is none, or the code does not run.
    """
    before = set(installations)
    module = _imported(path)
    if name is not None:
        return _named(path, module, name)
    there = _all_in(module)
    made = list(there.values()) or [each for each in installations if each not in before]
    if not made:
        raise CannotImport(_without(path, module))
    if len(set(made)) > 1:
        raise CannotImport(_several(path, list(there) or ["..."]))
    return made[0]


def _named(path: str, module: ModuleType, name: str) -> Installation:
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise CannotImport(_no_such_name(path, name, list(_all_in(module))))
        value = getattr(value, part)
    found = value if isinstance(value, Installation) else installation_on(value)
    if found is None:
        target = f"{path}:{name}"
        raise CannotImport(
            _not_installed(target, name)
            if _is_server(value)
            else (
                f"midcall is not installed on a server in {target}, and {target.rpartition(':')[2]} is none: name "
                "the server itself, or leave the name out"
            )
        )
    return found


def _all_in(module: ModuleType) -> dict[str, Installation]:
    """The servers in this module that can ask, by name; each once."""
    found: dict[str, Installation] = {}
    for name, value in vars(module).items():
        installation = value if isinstance(value, Installation) else installation_on(value)
        if installation is not None and installation not in found.values():
            found[name] = installation
    return found


def _without(path: str, module: ModuleType) -> str:
    """What to do where no server has midcall, or where there is none."""
    servers = [name for name, value in vars(module).items() if _is_server(value)]
    return (
        _not_installed(path, servers[0])
        if servers
        else (
            f"midcall is not installed on a server in {path}: there is no server in it once it is imported. If a "
            f'function makes it, look at it from outside: midcall doctor "{_command(path)}"'
        )
    )


def _is_server(value: object) -> bool:
    from mcp.server.lowlevel.server import Server
    from mcp.server.mcpserver import MCPServer

    fastmcp = sys.modules.get("fastmcp")
    return isinstance(value, (MCPServer, Server)) or (fastmcp is not None and isinstance(value, fastmcp.FastMCP))


# --- running it ----------------------------------------------------------------------------------
def _imported(path: str) -> ModuleType:
    """Run the code."""
    try:
        with _as_program(path):
            return _file(Path(path)) if path.endswith(".py") else _module(path)
    except CannotImport:
        raise
    except (Exception, SystemExit) as error:
        raise why_not(path, error, _command(path)) from error


def _command(path: str) -> str:
    return f"python {path}" if path.endswith(".py") else f"python -m {path}"


@contextmanager
def _as_program(path: str) -> Generator[None]:
    """It gets no arguments of ours, and no standard input, which a server would wait at. What it prints is not ours to
    print on standard output, where JSON may be expected.
    """
    argv, stdin = sys.argv, sys.stdin
    late = Timer(_LONG, lambda: print_error(f"{_still_importing(path, _LONG)}\n"))
    late.daemon = True
    with redirect_stdout(sys.stderr), open(os.devnull, encoding="utf-8") as nothing:
        sys.argv, sys.stdin = [path], nothing
        late.start()
        try:
            yield
        finally:
            late.cancel()
            sys.argv, sys.stdin = argv, stdin


def _file(path: Path) -> ModuleType:
    if not path.is_file():
        raise CannotImport(_no_such_file(str(path), str(path.parent.absolute()), near(path)))
    if path.stem in _NEEDED:
        raise CannotImport(
            f"{path!s} has the name of the package {path.stem}, and `import {path.stem}` would find it "
            "instead: rename the file"
        )
    sys.path.insert(0, str(path.resolve().parent))  # as `python path` does
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _module(name: str) -> ModuleType:
    sys.path.insert(0, str(Path.cwd()))  # as `python -m` does
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise CannotImport(
                f"there is no module {name!r} here, nor in what is installed. Run this in the folder that it is "
                "imported from, and with the Python that has it: PYTHON -m midcall doctor ..."
            ) from None
        raise


def _no_such_file(path: str, folder: str, near: str | None) -> str:
    meant = f" Did you mean {near!r}?" if near else " Is it in another folder?"
    return f"there is no file {path!r} (looked for in {folder}).{meant}"


def _still_importing(target: str, seconds: float) -> str:
    return (
        f"{target} is still being imported after {seconds:g} s. Does it start its server outside of "
        '`if __name__ == "__main__":`? Ctrl-C ends this.'
    )


def _no_such_name(target: str, name: str, near: Sequence[str]) -> str:
    hint = f" Servers there: {', '.join(near)}." if near else " No server there has midcall."
    return f"{target} has no {name!r}.{hint}"


def _not_installed(target: str, name: str) -> str:
    return (
        f"midcall is not installed on a server in {target}: midcall.install({name}) does that, behind the line that "
        "makes it"
    )


def _several(target: str, names: Sequence[str]) -> str:
    return f"{target} has several servers: name one of {', '.join(names)}, as {target}:{names[0]}"
