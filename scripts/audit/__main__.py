"""Check what midcall is built from: known holes, lowest versions, hashes, and secrets in logs.

python -m scripts.audit            everything; takes minutes, and needs a package index
python -m scripts.audit --offline  the same; it's fine if no vulnerability database can be asked
python -m scripts.audit --short    what CI runs on every change, in a minute
python -m scripts.audit --renew    write the hashes of the build requirements again

Exits with 1 if something is wrong, and with 3 if all is well except that no vulnerability database could be asked.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from packaging.version import Version

from scripts.audit.versions import (
    HERE,
    NPM,
    ROOT,
    find_unsafe,
    find_unsafe_npm,
    list_declared,
    list_installed,
    list_npm,
    list_peers,
    list_pins,
)

SCRATCH = ROOT / ".audit"
BUILD = HERE / "build_requirements.txt"
CANARY = "jinja2==3.1.2"
"""Has holes that every database knows. If none is found in it, none was asked."""
NO_DATABASE = (
    "no vulnerability database can be reached from here, so nothing newer than scripts/audit/safe_versions.txt was "
    "checked. Run `make audit` where PyPI's JSON API or OSV can be reached before you release. To accept this, run "
    "`make audit AUDIT_ARGS=--offline`."
)
UNCHECKED = 3
"""The exit code if no database could be asked."""


class NotChecked(Exception):
    """This step could not be done here."""


def run(*command: str | Path, seconds: float = 600) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), cwd=ROOT, capture_output=True, text=True, timeout=seconds)


def must(*command: str | Path, seconds: float = 600) -> str:
    """Run this, and return its output. If it fails, print what it said, and exit."""
    done = run(*command, seconds=seconds)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


def make_environment(name: str) -> Path:
    """A fresh environment in the scratch folder; returns its Python."""
    must(sys.executable, "-m", "venv", "--clear", SCRATCH / name)
    return SCRATCH / name / ("Scripts" if sys.platform == "win32" else "bin") / "python"


# --- the steps -------------------------------------------------------------------------------------


def check_versions() -> str:
    """Offline: what we declare, pin and have installed, against the reviewed list."""
    found = [*find_unsafe("pyproject.toml", list_declared()), *find_unsafe("constraints.txt", list_pins())]
    found += find_unsafe("the environment", list_installed())
    for file, pins in list_peers().items():
        found += find_unsafe(file, pins)
    for path in NPM:
        found += find_unsafe_npm(path.relative_to(ROOT).as_posix(), list_npm(path))
    if found:
        sys.exit("\n".join(["These versions have known holes:", *found]))
    return "every version that is declared, pinned or installed is in the reviewed list, or above it"


def ask_database() -> str:
    """Online: the pinned versions, against all known vulnerabilities. npm packages aren't in these databases."""
    python = make_environment("tools")
    must(python, "-m", "pip", "install", "--quiet", "pip-audit")
    pinned = {"constraints.txt": list_pins(), **list_peers()}
    for service in ("pypi", "osv"):
        if "jinja2" in (query(python, service, CANARY) or {}):
            found = [each for file, pins in pinned.items() for each in find_holes(python, service, file, pins)]
            if found:
                sys.exit("\n".join(found))
            return f"no known vulnerability in {sum(map(len, pinned.values()))} pinned packages, by {service}"
    raise NotChecked(NO_DATABASE)


def find_holes(python: Path, service: str, file: str, pins: Sequence[tuple[str, Version]]) -> list[str]:
    """A line for each package of this file with holes that this service knows."""
    holes = query(python, service, *(f"{name}=={version}" for name, version in pins))
    if holes is None:
        sys.exit(f"The vulnerability database {service!r} stopped answering. Try again.")
    return [f"{file}: {name}: {', '.join(ids)}" for name, ids in holes.items()]


def query(python: Path, service: str, *pins: str) -> dict[str, list[str]] | None:
    """The vulnerabilities of these, by package; None if the service doesn't answer."""
    file = SCRATCH / "pins.txt"
    file.write_text("\n".join(pins))
    options = ("--no-deps", "--disable-pip", "--progress-spinner=off", "--format=json", "--timeout=10")
    done = run(python, "-m", "pip_audit", f"--vulnerability-service={service}", *options, "-r", file)
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        return None
    return {each["name"]: [hole["id"] for hole in each["vulns"]] for each in packages if each.get("vulns")}


def test_lowest() -> str:
    """The lowest versions that we say we support: they resolve, are safe, and pass the unit tests."""
    python = make_environment("lowest")
    must(python, "-m", "pip", "install", "--quiet", "uv")
    resolved = SCRATCH / "lowest.txt"
    options = ("--quiet", "--all-extras", "--resolution=lowest-direct", f"--python={python}", "--output-file", resolved)
    must(python, "-m", "uv", "pip", "compile", "pyproject.toml", *options)
    if found := list(find_unsafe("the lowest versions", list_pins(resolved))):
        sys.exit("\n".join(["The lowest versions have known holes:", *found]))
    must(python, "-m", "uv", "pip", "install", "--quiet", f"--python={python}", "-r", resolved)
    must(python, "-m", "pip", "install", "--quiet", "--no-deps", "-e", ".")
    must(python, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal", "-m", "unit", seconds=3600)
    return "the lowest versions of all dependencies are safe, and pass the unit tests"


def build() -> str:
    """The wheel, built only by files whose hashes we know."""
    python = make_environment("build")
    must(python, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r", BUILD)
    must(python, "-m", "build", "--no-isolation", "--outdir", ROOT / "dist", ROOT)
    return "the sdist and the wheel in dist/ were built by files with known hashes"


def scan_logs() -> str:
    """No secret and no forged line in any log: the scan that every run of the tests does, and that it works."""
    tests = ("tests/test_scanning.py", "tests/test_logs.py", "tests/portal/oauth/test_oauth.py")
    must(sys.executable, "-m", "pytest", "-q", *tests)
    return "logs hold no secrets, and no line that a stranger has forged"


def renew() -> str:
    python = make_environment("tools")
    must(python, "-m", "pip", "install", "--quiet", "uv")
    wanted = SCRATCH / "build.in"
    wanted.write_text("build\nhatchling\n")
    options = ("--quiet", "--generate-hashes", "--no-header", "--no-annotate", "--universal", "--python-version=3.11")
    locked = must(python, "-m", "uv", "pip", "compile", *options, "-c", ROOT / "constraints.txt", wanted)
    BUILD.write_text(f"{BUILD.read_text().splitlines()[0]}\n{locked}")
    return f"renewed {BUILD.relative_to(ROOT)}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.audit", description=__doc__.partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="only what takes seconds")
    parser.add_argument("--build", action="store_true", help="only build the wheel")
    parser.add_argument("--renew", action="store_true", help="only write the hashes again")
    parser.add_argument("--offline", action="store_true", help="accept that no vulnerability database can be asked")
    chosen = parser.parse_args(arguments)
    SCRATCH.mkdir(exist_ok=True)
    steps: Sequence[Callable[[], str]] = (check_versions, build, scan_logs, ask_database, test_lowest)
    if chosen.short:
        steps = (check_versions, build)
    elif chosen.build:
        steps = (build,)
    elif chosen.renew:
        steps = (renew,)
    unchecked = False
    for step in steps:
        try:
            told = step()
        except NotChecked as error:
            unchecked, told = True, f"NOT CHECKED: {error}"
        print(f"{step.__name__.replace('_', ' ')}: {told}", flush=True)
    if unchecked and not chosen.offline:
        sys.exit(UNCHECKED)


if __name__ == "__main__":
    main()
