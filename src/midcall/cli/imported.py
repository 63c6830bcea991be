"""The installation in somebody's code: a file or a module is imported, and looked through."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType

from midcall.errors import MidcallError
from midcall.server.install import Installation, installation_on, installations
from midcall.wording import doctor as wording

__all__ = ["CannotImport", "installation_in"]


class CannotImport(Exception):
    """What was named cannot be looked at; the message says why."""


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
        raise CannotImport(wording.not_installed(path))
    if len(set(made)) > 1:
        raise CannotImport(wording.several(path, list(there) or ["..."]))
    return made[0]


def _named(path: str, module: ModuleType, name: str) -> Installation:
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise CannotImport(wording.no_such_name(path, name, list(_all_in(module))))
        value = getattr(value, part)
    found = value if isinstance(value, Installation) else installation_on(value)
    if found is None:
        raise CannotImport(wording.not_installed(f"{path}:{name}"))
    return found


def _all_in(module: ModuleType) -> dict[str, Installation]:
    """The servers in this module that can ask, by name; each once."""
    found: dict[str, Installation] = {}
    for name, value in vars(module).items():
        installation = value if isinstance(value, Installation) else installation_on(value)
        if installation is not None and installation not in found.values():
            found[name] = installation
    return found


def _imported(path: str) -> ModuleType:
    """Run the code. What it prints is not ours to print on standard output, where JSON may be expected."""
    try:
        with redirect_stdout(sys.stderr):
            return _file(Path(path)) if path.endswith(".py") else _module(path)
    except CannotImport:
        raise
    except (Exception, SystemExit) as error:
        why = error.text if isinstance(error, MidcallError) else str(error)
        raise CannotImport(wording.not_imported(path, type(error).__name__, why)) from error


def _file(path: Path) -> ModuleType:
    if not path.is_file():
        raise CannotImport(wording.no_such_file(str(path)))
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
            raise CannotImport(wording.no_such_module(name)) from None
        raise
