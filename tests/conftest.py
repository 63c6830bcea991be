"""Settings for every run of the suite.

Everything that is logged, traced and audited is scanned for ids and values (`tests/scanning.py`). With
MIDCALL_NO_SKIPS=1, as in CI, a skipped test fails the run. Default stores go to a directory of this run, and never to a
keyring: tests don't touch the user's own files. Random inputs are the same each time and have no deadline, because the
machine may be busy. `make fuzz` uses new ones.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from weakref import WeakSet

import pytest
import uvicorn.server
from hypothesis import HealthCheck, settings

from tests.certificates import certificate
from tests.scanning import Scanning


async def sooner(seconds: float) -> None:
    await asyncio.sleep(seconds / 10)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Scanning())
    same = "MIDCALL_FUZZ" not in os.environ
    settings.register_profile(
        "midcall", deadline=None, derandomize=same, suppress_health_check=[HealthCheck.too_slow], print_blob=True
    )
    settings.load_profile("midcall")
    # uvicorn polls every 0.1 s for its shutdown, and takes as long again to stop: hundreds of tests start one.
    uvicorn.server.asyncio = SimpleNamespace(**vars(asyncio) | {"sleep": sooner})
    data = TemporaryDirectory(prefix="midcall-data-", ignore_cleanup_errors=True)
    os.environ["XDG_DATA_HOME"] = data.name
    # Each HTTP client loads the authorities that this names. All of the machine's take longer than most tests.
    os.environ["SSL_CERT_FILE"] = str(certificate(Path(data.name) / "authority.pem"))
    os.environ["MIDCALL_PORTAL_DETACHED"] = "0"  # tests of the page process turn it on, in their own folder
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    if hasattr(signal, "SIGHUP"):  # under nohup it is ignored, and programs that tests start would inherit that
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    config.add_cleanup(data.cleanup)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Freeze everything imported so far, so that garbage collections skip it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


LONGEST = (
    "tests/test_wheel.py",
    "tests/client/test_hostile.py",
    "tests/server/running/test_left_behind.py",
    "tests/client/test_hostile_page.py",
    "tests/client/test_guard.py",
    "tests/recipes/test_scripts.py",
    "tests/typing/",
    "tests/test_scanning.py",
)


PROOFS = (
    "tests/chaos/",
    "tests/peers/",
    "tests/recipes/",
    "tests/client/test_browser_chromium.py",
    "tests/client/test_terminal_tmux.py",
    "tests/portal/test_chromium.py",
    "tests/portal/test_examples.py",
    "tests/strangers/test_processes.py",
    "tests/test_wheel.py",
)
"""Proofs with browsers, other SDKs and replicas that are killed. `make proofs` runs them."""
HOSTILE = "tests/client/test_hostile"
"""Attacks on the client side. `make hostile` runs them, in every way."""
UNITS = (
    "tests/core/",
    "tests/logs/",
    "tests/settings/",
    "tests/testing/",
    "tests/web/",
    "tests/server/verbs/test_asking.py",
    "tests/server/running/test_replay.py",
    "tests/test_",
)
"""What `make quick` runs: no services, no browsers, no other programs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark proofs, attacks and unit tests. Run tests that take seconds first, so that none of them starts last."""
    for item in items:
        if item.nodeid.startswith(PROOFS):
            item.add_marker("proof")
        elif item.nodeid.startswith(HOSTILE):
            item.add_marker("hostile")
        elif item.nodeid.startswith(UNITS):
            item.add_marker("unit")
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start importing what test programs need while the first tests run."""
    if "tests.warm" in sys.modules and not session.config.option.collectonly:
        sys.modules["tests.warm"].begin()


@pytest.fixture(autouse=True)
def own_loggers() -> Iterator[None]:
    """Restore loggers: a command reconfigures them for its process, and some libraries disable all others."""
    yield
    for name, logger in logging.root.manager.loggerDict.items():
        if name.partition(".")[0] == "midcall" and isinstance(logger, logging.Logger):
            logger.handlers.clear()
            logger.propagate, logger.disabled = True, False
            logger.setLevel(logging.NOTSET)


@pytest.fixture(autouse=True)
def own_servers() -> Iterator[None]:
    """Forget servers of earlier tests: `complete` speaks to every server of the process."""
    installed = getattr(sys.modules.get("midcall.server.install"), "installations", WeakSet[object]())
    before = set(installed)
    yield
    installed.intersection_update(before)


@pytest.fixture
def replaying(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replay every call from its journal: no run stays in memory between rounds."""
    monkeypatch.setenv("MIDCALL_LIVE", "0")


@pytest.fixture(params=["live", "replay"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test both ways: with live runs, and with every call replayed."""
    monkeypatch.setenv("MIDCALL_LIVE", str(int(request.param == "live")))
    return request.param


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
