"""The versions that we declare, pin and have installed, against the reviewed list of safe ones."""

from __future__ import annotations

import json
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
SAFE_NPM = HERE / "safe_npm_versions.txt"
PEERS = (*sorted((ROOT / "peers" / "requirements").glob("*.txt")), ROOT / "scripts" / "hosts" / "requirements.txt")
"""What we test against. Nobody who installs midcall gets it."""
NPM = (ROOT / "peers" / "package.json", ROOT / "scripts" / "hosts" / "package.json")
OLD_ON_PURPOSE = {("peers/requirements/fastmcp2.txt", "fastmcp"): "servers of FastMCP 2 must work, too"}
"""Versions with known holes that we test against, and why."""


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


def list_peers() -> dict[str, list[tuple[str, Version]]]:
    """The pins of each file of what we test against, without what is old on purpose."""
    files = {path.relative_to(ROOT).as_posix(): list_pins(path) for path in PEERS}
    return {file: [pin for pin in pins if (file, pin[0]) not in OLD_ON_PURPOSE] for file, pins in files.items()}


def list_npm(path: Path) -> list[tuple[str, Version]]:
    """The npm packages that this file pins."""
    return [(name, Version(version)) for name, version in json.loads(path.read_text())["dependencies"].items()]


def find_unsafe_npm(where: str, versions: Iterable[tuple[str, Version]]) -> Iterator[str]:
    """The same as `find_unsafe` for npm packages."""
    lines = (line.partition("#")[0].strip() for line in SAFE_NPM.read_text().splitlines())
    safe = {name: Version(version) for name, _, version in (line.partition(">=") for line in lines if line)}
    yield from _find_below(where, versions, safe)


def find_unsafe(where: str, versions: Iterable[tuple[str, Version]]) -> Iterator[str]:
    """A sentence for each version that is below the safe one."""
    safe = {canonicalize_name(each.name): lowest(each) for each in requirements_in(SAFE)}
    yield from _find_below(where, versions, safe)


def _find_below(where: str, versions: Iterable[tuple[str, Version]], safe: dict[str, Version]) -> Iterator[str]:
    for name, version in versions:
        if name in safe and version < safe[name]:
            yield f"{where}: {name} {version}, and the first safe version is {safe[name]}"
