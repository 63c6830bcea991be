"""What every run of the suite has.

All that is logged, traced and audited is looked through for ids and values (`tests/scanning.py`). Where
MIDCALL_NO_SKIPS=1, as in CI, a skipped test fails the run: nothing may be left out unnoticed. What a server
keeps if nobody says where goes into a directory of this run, and into no keyring: the user's own files are no
place for tests. What is random is the same each time, and may take its time: a busy machine is no fault. `make fuzz`
draws anew.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Generator, Iterator
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from weakref import WeakSet

import pytest
import uvicorn.server
from hypothesis import HealthCheck, settings

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
    # uvicorn looks every 0.1 s whether it is to stop, and takes as long again to do so: hundreds of tests start one.
    uvicorn.server.asyncio = SimpleNamespace(**vars(asyncio) | {"sleep": sooner})
    data = TemporaryDirectory(prefix="midcall-data-", ignore_cleanup_errors=True)
    os.environ["XDG_DATA_HOME"] = data.name
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    config.add_cleanup(data.cleanup)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported by now stays until the end: no collection of garbage has to go through all of it again."""
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
    "tests/server/test_left_behind.py",
    "tests/client/test_hostile_page.py",
    "tests/client/test_guard.py",
    "tests/recipes/test_scripts.py",
    "tests/typing/",
    "tests/test_scanning.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those of which one alone takes seconds come first: in the end nobody waits for the last of them."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Programs that tests run import what they need while the first tests run."""
    if "tests.warm" in sys.modules and not session.config.option.collectonly:
        sys.modules["tests.warm"].begin()


@pytest.fixture(autouse=True)
def own_loggers() -> Iterator[None]:
    """A command line takes loggers over for its process, and some libraries switch all others off; tests share one."""
    yield
    for name, logger in logging.root.manager.loggerDict.items():
        if name.partition(".")[0] == "midcall" and isinstance(logger, logging.Logger):
            logger.handlers.clear()
            logger.propagate, logger.disabled = True, False
            logger.setLevel(logging.NOTSET)


@pytest.fixture(autouse=True)
def own_servers() -> Iterator[None]:
    """`complete` speaks to every server of the process: those of a test that is over are no longer of it."""
    installed = getattr(sys.modules.get("midcall.server.install"), "installations", WeakSet[object]())
    before = set(installed)
    yield
    installed.intersection_update(before)


@pytest.fixture
def replaying(monkeypatch: pytest.MonkeyPatch) -> None:
    """No run stays in memory between two rounds: a call is replayed from its journal."""
    monkeypatch.setenv("MIDCALL_LIVE", "0")


@pytest.fixture(params=["live", "replay"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What holds both ways: the run stays in memory between two rounds, or the call is replayed."""
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
