"""The sources of both suites, and a virtual environment for their tests."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

__all__ = ["FOLDER", "ROOT", "SUITES", "VENV", "Suite", "prepare"]

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / ".suites"
VENV: Final = FOLDER / "venv"
STAMP: Final = VENV / "installed.txt"

NOT_NEEDED: Final = frozenset(
    ["mcp-example-stories", "strict-no-cover", "pyright", "ty", "prek", "loq", "ipython", "pdbpp", "pyinstrument"]
)
"""Development dependencies that the tests don't need; the first two aren't on PyPI."""

MORE: Final = ["httpx", "pytest-timeout", "pytest-xdist"]
"""Dependencies of the tests, or of running them, that the suites don't list."""

OTHER_VERSIONS: Final = frozenset(["tenacity"])
"""Our pins that conflict with google-genai, a dependency of FastMCP's tests."""


@dataclass(frozen=True, slots=True)
class Suite:
    """One project's tests, at the installed version."""

    name: str
    args: tuple[str, ...]
    """Arguments for pytest."""
    path: str = ""
    """A folder of the sdist that its tests import from."""

    @property
    def version(self) -> str:
        return version(self.name)

    @property
    def source(self) -> Path:
        return FOLDER / f"{self.name}-{self.version}"

    @property
    def baseline(self) -> Path:
        return VENV / f"baseline-{self.name}.json"


SUITES: Final = {
    "mcp": Suite(
        "mcp",
        # tests/docs builds the SDK's pages; pytest-asyncio is FastMCP's, and warns about a setting that isn't there
        ("--ignore=tests/docs", "-p", "no:asyncio"),
        path="examples",
    ),
    "fastmcp": Suite("fastmcp", ("-m", "not integration and not conformance")),
}


def prepare() -> None:
    """Download, unpack and install what is missing."""
    for suite in SUITES.values():
        if not suite.source.exists():
            unpack(suite)
    wanted, constraints = requirements(), pins()
    stamp = "\n".join([sys.version, *wanted, *constraints])
    if not STAMP.exists() or STAMP.read_text() != stamp:
        print("Building the environment of the suites", flush=True)
        install(wanted, constraints)
        STAMP.write_text(stamp)


def unpack(suite: Suite) -> None:
    print(f"Downloading {suite.name} {suite.version}", flush=True)
    FOLDER.mkdir(exist_ok=True)
    pip(
        sys.executable,
        "download",
        "--no-deps",
        "--no-binary=:all:",
        f"--dest={FOLDER}",
        f"{suite.name}=={suite.version}",
    )
    with tarfile.open(f"{suite.source}.tar.gz") as archive:
        archive.extractall(FOLDER, filter="data")


def requirements() -> list[str]:
    """The development dependencies of both suites."""
    found = list(MORE)
    for suite in SUITES.values():
        project = tomllib.loads((suite.source / "pyproject.toml").read_text())
        found += [line for line in project["dependency-groups"]["dev"] if package(line) not in NOT_NEEDED]
    return found


def pins() -> list[str]:
    """Our constraints, with the suites at our versions."""
    ours = (ROOT / "constraints.txt").read_text().splitlines()
    return [line for line in ours if package(line) not in OTHER_VERSIONS] + [
        f"fastmcp-remote=={SUITES['fastmcp'].version}"
    ]


def package(requirement: str) -> str:
    """The name in a requirement such as `mcp[cli]>=2`."""
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower()


def install(wanted: list[str], constraints: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
    (VENV / "requirements.txt").write_text("\n".join(wanted))
    (VENV / "constraints.txt").write_text("\n".join(constraints))
    pip(str(VENV / "bin/python"), "install", f"-r{VENV}/requirements.txt", f"-c{VENV}/constraints.txt")


def pip(python: str, *args: str) -> None:
    done = subprocess.run(
        [python, "-m", "pip", "--quiet", "--disable-pip-version-check", *args], capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"pip {args[0]} failed:\n{done.stderr}")
