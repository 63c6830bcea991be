"""A pytest plugin that writes the outcome of each test to the file of `--midcall-outcomes`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

__all__: list[str] = []

LEASE = "_module_runner_lease"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--midcall-outcomes", default=None)


def pytest_configure(config: pytest.Config) -> None:
    if "midcall_line" in sys.modules:
        import midcall

        _ = midcall.install  # loaded now: the SDK's tests fail on an import inside a running event loop
    path: str | None = config.getoption("--midcall-outcomes")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(Path(path)))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each SDK test its own event loop: a failure would end a shared one, and every later test with it."""
    for item in items:
        fixtures: list[str] = getattr(item, "fixturenames", [])
        if LEASE in fixtures:
            fixtures.remove(LEASE)


class Outcomes:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: dict[str, dict[str, str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.fail(report)
        elif report.skipped:
            self.outcomes[report.nodeid] = {"outcome": "xfailed" if hasattr(report, "wasxfail") else "skipped"}
        elif report.when == "call":
            self.outcomes[report.nodeid] = {"outcome": "passed"}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.fail(report)

    def fail(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        """A teardown may fail after its test has, which says less."""
        if self.outcomes.get(report.nodeid, {}).get("outcome") != "failed":
            self.outcomes[report.nodeid] = {"outcome": "failed", "why": reason(report)}

    def pytest_sessionfinish(self) -> None:
        self.path.write_text(json.dumps(self.outcomes, indent=1))


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What went wrong, as short as pytest can say it."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message) if crash is not None else report.longreprtext
    return text[:2000]
