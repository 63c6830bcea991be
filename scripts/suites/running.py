"""Run a suite, with or without `midcall.install` in its servers."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scripts.suites.environment import FOLDER, ROOT, VENV, Suite

__all__ = ["Outcomes", "run", "run_again"]

TIMEOUT: Final = 60
"""Seconds per test. FastMCP's own limit of 5 needs an idle machine."""

ENDINGS: Final = (0, 1, 4, 5)
"""Accepted exit codes of pytest: all pass, some fail, a named test is missing with its module, none selected."""

INSIDE: Final = Path(__file__).parent / "inside"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcome of each test."""

    by_test: dict[str, dict[str, str]]

    def ended(self, outcome: str) -> set[str]:
        return {test for test, found in self.by_test.items() if found["outcome"] == outcome}

    def why(self, test: str) -> str:
        """What went wrong. A test without an outcome is missing with its module."""
        return self.by_test.get(test, {}).get("why") or "did not run"

    def __str__(self) -> str:
        counts = {name: len(self.ended(name)) for name in ("passed", "failed", "skipped", "xfailed")}
        return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def run(suite: Suite, args: Iterable[str], *, line: bool) -> Outcomes:
    """Run the suite on two workers, with the output in a file next to its source."""
    return run_pytest(suite, ["-n2", "--dist=worksteal", *args], line=line, log="with" if line else "without")


def run_again(suite: Suite, tests: Iterable[str], *, line: bool) -> Outcomes:
    """Run only these tests, in one process."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
        names.write("\n".join(sorted(tests)))
        names.flush()
        return run_pytest(suite, [f"@{names.name}"], line=line, log="again-with" if line else "again-without")


def run_pytest(suite: Suite, args: Iterable[str], *, line: bool, log: str) -> Outcomes:
    outcomes, output = FOLDER / f"{suite.name}-{log}.json", FOLDER / f"{suite.name}-{log}.log"
    outcomes.unlink(missing_ok=True)
    plugins = ["-p", "no:cacheprovider", "-p", "midcall_outcomes", f"--midcall-outcomes={outcomes}"]
    limits = ["--tb=native", "--continue-on-collection-errors", f"--timeout={TIMEOUT}"]
    command = [str(VENV / "bin/python"), "-m", "pytest", "-q", "--color=no", *plugins, *limits, *suite.args, *args]
    with added_line(line), output.open("w") as out:
        code = subprocess.run(command, cwd=suite.source, env=environment(suite), stdout=out, stderr=out).returncode
    if code not in ENDINGS or not outcomes.exists():
        raise SystemExit(f"pytest ended with {code}; its output is in {output}")
    return Outcomes(json.loads(outcomes.read_text()))


def environment(suite: Suite) -> dict[str, str]:
    """A separate home and PATH, without the settings that would change the tests."""
    home = FOLDER / "home"
    home.mkdir(exist_ok=True)
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("MIDCALL_", "FASTMCP_", "PYTEST_"))
    }
    return kept | {
        "HOME": str(home),
        "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(INSIDE), *([str(suite.source / suite.path)] if suite.path else [])]),
    }


@contextmanager
def added_line(wanted: bool) -> Generator[None]:
    """Make every interpreter of the environment call `midcall.install`, or none."""
    [packages] = VENV.glob("lib/python*/site-packages")
    path = packages / "midcall_line.pth"
    path.unlink(missing_ok=True)
    if wanted:
        path.write_text(f"{ROOT / 'src'}\n{INSIDE}\nimport midcall_line\n")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
