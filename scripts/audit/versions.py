"""The versions that we declare, pin and have installed, against the reviewed list of safe ones."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SAFE = HERE / "safe_versions.txt"


def requirements_in(path: Path) -> Iterator[Requirement]:
    """The requirements of this file, without comments and hashes."""
    for line in path.read_text().splitlines():
        text = line.partition("#")[0].partition(" --hash")[0].rstrip("\\ ")
        if text and not text.startswith((" ", "-")):
            yield Requirement(text)


def lowest(requirement: Requirement) -> Version:
    """The lowest version that this allows; 0 if it names none."""
    bounds = [Version(each.version) for each in requirement.specifier if each.operator in (">=", "==", "~=")]
    return max(bounds, default=Version("0"))


def list_declared() -> list[tuple[str, Version]]:
    """Every dependency and extra of pyproject.toml, with its floor."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = [
        *project["dependencies"],
        *(each for some in project["optional-dependencies"].values() for each in some),
    ]
    found = map(Requirement, declared)
    return [(canonicalize_name(each.name), lowest(each)) for each in found if each.name != project["name"]]


def list_pins(path: Path = ROOT / "constraints.txt") -> list[tuple[str, Version]]:
    return [(canonicalize_name(each.name), lowest(each)) for each in requirements_in(path)]


def list_installed() -> list[tuple[str, Version]]:
    return [(canonicalize_name(each.name), Version(each.version)) for each in distributions()]


def find_unsafe(where: str, versions: Iterable[tuple[str, Version]]) -> Iterator[str]:
    """A sentence for each version that is below the safe one."""
    safe = {canonicalize_name(each.name): lowest(each) for each in requirements_in(SAFE)}
    for name, version in versions:
        if name in safe and version < safe[name]:
            yield f"{where}: {name} {version}, and the first safe version is {safe[name]}"
