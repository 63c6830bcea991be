"""What `make audit` checks offline, and that its checks can fail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.version import Version

from scripts.audit import __main__ as audit
from scripts.audit import versions
from scripts.audit.versions import (
    HERE,
    ROOT,
    find_unsafe,
    find_unsafe_npm,
    list_declared,
    list_npm,
    list_peers,
    list_pins,
    requirements_in,
)

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


def test_what_we_test_against_is_safe_except_what_is_old_on_purpose() -> None:
    found = [each for file, pins in list_peers().items() for each in find_unsafe(file, pins)]
    found += [each for path in versions.NPM for each in find_unsafe_npm(path.name, list_npm(path))]
    assert found == []
    assert len(list_peers()) == 4
    for file, name in versions.OLD_ON_PURPOSE:
        assert [each for each in find_unsafe(file, list_pins(ROOT / file)) if f"{file}: {name} " in each] != []


@pytest.mark.parametrize(("version", "unsafe"), [("1.25.3", True), ("1.26.0", False)])
def test_an_unsafe_npm_package_is_found(version: str, unsafe: bool, tmp_path: Path) -> None:
    package = tmp_path / "package.json"
    package.write_text(json.dumps({"dependencies": {"@modelcontextprotocol/sdk": version, "unheard-of": "0.0.1-a.2"}}))
    assert bool(list(find_unsafe_npm("here", list_npm(package)))) is unsafe


# --- the long form, without and with a database ------------------------------------------------


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Its steps, of which only the one that asks a database does something; returns those that were done."""
    done: list[str] = []

    def make(name: str) -> Callable[[], str]:
        def step() -> str:
            done.append(name)
            return "fine"

        step.__name__ = name
        return step

    for name in ("check_versions", "build", "scan_logs", "test_lowest"):
        monkeypatch.setattr(audit, name, make(name))
    monkeypatch.setattr(audit, "SCRATCH", tmp_path)
    monkeypatch.setattr(audit, "make_environment", lambda name: tmp_path / name)
    monkeypatch.setattr(audit, "must", lambda *command: "")
    return done


ALL = ["check_versions", "build", "scan_logs", "test_lowest"]


def test_without_a_database_the_long_form_says_what_was_not_checked_and_fails_with_its_own_code(
    steps: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "query", lambda *asked: None)
    with pytest.raises(SystemExit) as ended:
        audit.main([])
    assert (ended.value.code, steps) == (audit.UNCHECKED, ALL)
    assert "ask database: NOT CHECKED: no vulnerability database can be reached" in capsys.readouterr().out
    audit.main(["--offline"])
    assert "NOT CHECKED" in capsys.readouterr().out
    audit.main(["--short"])
    assert "NOT CHECKED" not in capsys.readouterr().out


def test_a_database_that_knows_no_hole_of_the_canary_was_not_asked(
    steps: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "query", lambda *asked: {})
    with pytest.raises(SystemExit, match=r"^3$"):
        audit.main([])


@pytest.mark.parametrize("bad", ["", "langgraph"])
def test_a_database_is_asked_about_everything_that_is_pinned(
    bad: str, steps: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def query(python: Path, service: str, *pins: str) -> dict[str, list[str]]:
        asked.extend(pins)
        holes = {"jinja2": ["CVE-2024-22195"]} if pins == (audit.CANARY,) else {}
        return holes | {each: ["CVE-1"] for each in [bad] if any(pin.startswith(f"{bad}==") for pin in pins)}

    monkeypatch.setattr(audit, "query", query)
    if bad:
        with pytest.raises(SystemExit, match=r"scripts/hosts/requirements.txt: langgraph: CVE-1"):
            audit.main(["--offline"])
        return
    audit.main([])
    assert "no known vulnerability" in capsys.readouterr().out
    assert {name for name, _ in list_pins()} <= {pin.partition("==")[0] for pin in asked}
    assert "openai-agents==0.24.0" in asked


def test_every_safe_version_names_its_advisory() -> None:
    lines = [line for line in versions.SAFE.read_text().splitlines() if not line.startswith("#")]
    assert len(lines) > 15
    npm = [line for line in versions.SAFE_NPM.read_text().splitlines() if not line.startswith("#")]
    assert [line for line in npm if not re.fullmatch(r"\S+>=[0-9.]+ +# CVE-\d{4}-\d+", line)] == []
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
