"""Where MIDCALL_NO_SKIPS=1, as in CI, a skipped test fails the run: nothing may be left out unnoticed."""

from __future__ import annotations

import os

import pytest

NO_SKIPS = os.environ.get("MIDCALL_NO_SKIPS") == "1"


def skips(config: pytest.Config) -> list[pytest.TestReport]:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    return reporter.stats.get("skipped", []) if NO_SKIPS and reporter else []


def pytest_sessionfinish(session: pytest.Session) -> None:
    if session.exitstatus == pytest.ExitCode.OK and skips(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if skipped := skips(config):
        terminalreporter.section("MIDCALL_NO_SKIPS=1, but these were skipped", red=True)
        for report in skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            terminalreporter.line(f"{report.nodeid}: {reason}")
