"""What `make audit` checks offline, and that its checks can fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.version import Version

from scripts.audit import versions
from scripts.audit.versions import HERE, ROOT, find_unsafe, list_declared, list_pins, requirements_in

BUILD = (HERE / "build_requirements.txt").read_text()


def test_every_floor_and_every_pin_is_safe() -> None:
    assert [*find_unsafe("pyproject.toml", list_declared()), *find_unsafe("constraints.txt", list_pins())] == []


@pytest.mark.parametrize(
    ("name", "version", "unsafe"),
    [
        *[("jinja2", "3.1.5", True), ("jinja2", "3.1", True), ("jinja2", "3.1.6", False), ("idna", "3.9", True)],
        *[("starlette", "0", True), ("unheard-of", "0", False)],
    ],
)
def test_an_unsafe_version_is_found(name: str, version: str, unsafe: bool) -> None:
    found = list(find_unsafe("here", [(name, Version(version))]))
    assert bool(found) == unsafe
    assert not found or f"here: {name} {version}" in found[0]


def test_a_dependency_without_a_floor_counts_as_unsafe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    declared = '[project]\nname = "x"\ndependencies = ["Jinja2", "idna>=3.15,<4"]\n'
    (tmp_path / "pyproject.toml").write_text(f'{declared}[project.optional-dependencies]\nall = ["x[y]", "click>=8"]\n')
    monkeypatch.setattr(versions, "ROOT", tmp_path)
    found = list(find_unsafe("pyproject.toml", versions.list_declared()))
    assert [re.findall(r"toml: (\S+)", each) for each in found] == [["jinja2"], ["click"]]


def test_every_safe_version_names_its_advisory() -> None:
    lines = [line for line in versions.SAFE.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 15
    assert [line for line in lines if not re.search(r"# (CVE-\d{4}-\d+|GHSA(-\w{4}){3})", line)] == []
    assert len(list(requirements_in(versions.SAFE))) == len(lines)


def test_what_builds_the_wheel_is_pinned_with_hashes_to_the_versions_that_we_develop_with() -> None:
    pinned = {name: str(version) for name, version in list_pins(HERE / "build_requirements.txt")}
    assert {"build", "hatchling"} <= pinned.keys()
    blocks = re.split(r"\n(?=\w)", BUILD.partition("\n")[2].strip())
    assert len(blocks) == len(pinned)
    assert [block for block in blocks if "--hash=sha256:" not in block] == []
    ours = {name: str(version) for name, version in list_pins()}
    assert {name: version for name, version in pinned.items() if ours.get(name, version) != version} == {}


def test_no_file_of_the_audit_names_where_packages_come_from() -> None:
    files = [ROOT / "constraints.txt", ROOT / "pyproject.toml", ROOT / "Makefile", *HERE.glob("*.*")]
    assert [file.name for file in files if re.search(r"https?://|index-url|find-links", file.read_text())] == []
