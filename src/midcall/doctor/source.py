"""What a target of `midcall doctor` means: code, a URL, a command; or none of them, and then what was meant."""

from __future__ import annotations

import re
import shutil
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from midcall.client.transport.target import is_url

_FILE: Final = re.compile(r"(?P<path>.+\.py)(?::(?P<name>[\w.]+))?")
_MODULE: Final = re.compile(r"(?P<path>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_][\w.]*)")
_ADDRESS: Final = re.compile(r"[\w.-]+:[0-9]+(/\S*)?", re.ASCII)
_SHOWN: Final = 5
_ALIKE: Final = 0.8
_WHAT_TO_NAME: Final = (
    'Name a file (server.py), a module (package.module:mcp), a URL, or a command ("python server.py").'
)
NOTHING_NAMED: Final = f"no server was named. {_WHAT_TO_NAME}"


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
    return find_similar(Path(target))


def find_similar(path: Path) -> str | None:
    """A Python file in the same folder with a similar name."""
    files = {each.name: each for each in path.parent.glob("*.py")} if path.parent.is_dir() else {}
    found = get_close_matches(path.name, files, 1, _ALIKE)
    return str(files[found[0]]) if found else None
