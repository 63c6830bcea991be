"""What a target of `midcall doctor` means: code, a URL, a command; or nothing, and then what may have been meant."""

from __future__ import annotations

import re
import shutil
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from midcall.client.transport.target import is_url
from midcall.wording.doctor import target as wording

__all__ = ["is_source", "near", "why_nothing"]

_FILE: Final = re.compile(r"(?P<path>.+\.py)(?::(?P<name>[\w.]+))?")
_MODULE: Final = re.compile(r"(?P<path>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_][\w.]*)")
_ADDRESS: Final = re.compile(r"[\w.-]+:[0-9]+(/\S*)?", re.ASCII)
_SHOWN: Final = 5
_ALIKE: Final = 0.8


def is_source(target: str) -> tuple[str, str | None] | None:
    """The file or module, and the name in it, that this means; None if it is a URL or a command."""
    target = target.strip()
    if "://" in target:
        return None
    found = _FILE.fullmatch(target) or _MODULE.fullmatch(target)
    if found is None or (" " in target and not Path(found["path"]).exists()):
        return None
    return found["path"], found["name"]


def why_nothing(target: str) -> str | None:
    """Why this single word is no command either, and what may have been meant; None if it can be tried."""
    target = target.strip()
    if not target:
        return wording.nothing_named()
    if Path(target).is_dir():
        return wording.a_folder(target, sorted(str(each) for each in Path(target).glob("*.py"))[:_SHOWN])
    if " " in target or is_url(target) or _ADDRESS.fullmatch(target) or shutil.which(target):
        return None
    if target.endswith(":"):
        return f"there is no name behind the colon of {target!r}: write the server's, as in server.py:mcp, or no colon"
    return wording.not_python(target) if Path(target).exists() else wording.no_such_thing(target, _meant(target))


def _meant(target: str) -> str | None:
    """The file of that name; or the module, where a dot stands for the colon."""
    if Path(f"{target}.py").is_file():
        return f"{target}.py"
    module, _, name = target.rpartition(".")
    if module and Path(*module.split(".")).with_suffix(".py").is_file():
        return f"{module}:{name}"
    return near(Path(target))


def near(path: Path) -> str | None:
    """A Python file beside it whose name is much like it."""
    files = {each.name: each for each in path.parent.glob("*.py")} if path.parent.is_dir() else {}
    found = get_close_matches(path.name, files, 1, _ALIKE)
    return str(files[found[0]]) if found else None
