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
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import pytest
import uvicorn.server
from hypothesis import HealthCheck, settings

from tests.certificates import certificate
from tests.scanning import Scanning

HERE = Path(__file__).resolve().parents[1]


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
    "tests/client/guard/test_guard.py",
    "tests/recipes/test_scripts.py",
    "tests/typing/",
    "tests/test_scanning.py",
)


PROOFS = (
    "tests/chaos/",
    "tests/peers/",
    "tests/recipes/",
    "tests/client/browser/test_chromium.py",
    "tests/client/terminal/test_stage.py",
    "tests/client/terminal/test_tmux.py",
    "tests/docs/test_snippets.py::test_the_quickstart_works_in_an_empty_folder",
    "tests/portal/pages/test_chromium.py",
    "tests/portal/detached/test_detached.py",
    "tests/portal/test_examples.py",
    "tests/server/channels/test_one_page.py::test_a_real_browser_is_led_from_question_to_question",
    "tests/strangers/test_processes.py",
    "tests/test_wheel.py",
    "tests/web/test_app_chromium.py",
)
"""Proofs with browsers, other SDKs and processes that are killed. `make proofs` runs them."""
HOSTILE = "tests/client/test_hostile"
"""Attacks on the client side. `make hostile` runs them, in every way."""
UNITS = (
    "tests/core/",
    "tests/docs/test_coverage_page.py",
    "tests/docs/test_errors_page.py",
    "tests/docs/test_pages.py",
    "tests/settings/",
    "tests/testing/",
    "tests/web/",
    "tests/server/verbs/test_asking.py",
    "tests/server/running/test_replay.py",
    "tests/test_",
)
WITH_PROGRAMS = (
    "tests/server/running/test_replay.py::test_in_a_live_run_such_a_loop_does_not_keep_the_process_from_ending",
    "tests/core/forms/test_form.py::test_the_digest_is_the_same_in_another_process",
    "tests/test_audit.py::test_a_process_that_ends_writes_what_is_left",
    "tests/test_audit.py::test_a_forked_process_has_its_own_queue",
    "tests/test_audit.py::test_the_variable_can_name_standard_error",
    "tests/test_conformance_pair.py",
    "tests/test_examples.py",
    "tests/test_layout.py::test_core_can_be_used_without_an_event_loop_or_mcp",
    "tests/test_layout.py::test_importing_midcall_loads_nothing_heavy_until_a_name_is_used",
    "tests/test_layout.py::test_a_program_loads_the_limits_of_what_it_uses",
    "tests/test_layout.py::test_fastmcp_is_not_needed",
    "tests/test_layout.py::test_the_pytest_plugin_loads_nothing_until_a_test_uses_its_fixture",
    "tests/test_layout.py::test_the_client_side_loads_only_what_is_used",
    "tests/test_layout.py::test_the_demo_runs_without_the_packages_that_draw",
    "tests/test_layout.py::test_stores_are_maintained_without_the_packages_of_the_portal",
    "tests/test_scanning.py",
    "tests/testing/test_script.py::test_an_unreachable_server_is_named",
    "tests/testing/test_replaying.py::test_a_tool_that_asks_in_the_order_of_a_set_fails_with_two_hash_seeds",
    "tests/testing/test_replaying.py::test_a_tool_that_sorts_passes_with_two_hash_seeds",
    "tests/test_warm.py",
)
"""What `make quick` runs: no services, no browsers, no other programs. `no_programs` finds those that aren't units."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Don't import files without a test of this run: each worker would spend seconds on them."""
    file = collection_path.relative_to(HERE).as_posix() if collection_path.is_relative_to(HERE) else ""
    if not file.endswith(".py"):
        return None
    match config.option.markexpr:
        case "unit":
            unwanted = not file.startswith(UNITS) or file.startswith((*PROOFS, *WITH_PROGRAMS))
        case "proof":
            unwanted = not any(each.startswith(file) or file.startswith(each) for each in PROOFS)
        case "not proof and not hostile":
            unwanted = file.startswith((*PROOFS, HOSTILE))
        case _:
            return None
    return unwanted or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark proofs, attacks and unit tests. Run tests that take seconds first, so that none of them starts last."""
    for item in items:
        if item.nodeid.startswith(PROOFS):
            item.add_marker("proof")
        elif item.nodeid.startswith(HOSTILE):
            item.add_marker("hostile")
        elif item.nodeid.startswith(UNITS) and not item.nodeid.startswith(WITH_PROGRAMS):
            item.add_marker("unit")
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start importing what test programs need while the first tests run."""
    if "tests.warm" in sys.modules and not (session.config.option.collectonly or _has_only_units(session)):
        sys.modules["tests.warm"].begin()


def _has_only_units(session: pytest.Session) -> bool:
    return all(item.get_closest_marker("unit") for item in session.items)


@pytest.fixture(autouse=True)
def no_programs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit test starts no other program."""

    def refuse(*_: Any, **__: Any) -> None:
        pytest.fail("This unit test starts a program: add it to WITH_PROGRAMS in tests/conftest.py")

    if request.node.get_closest_marker("unit"):
        monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
        if "tests.warm" in sys.modules:
            monkeypatch.setattr("tests.warm.begin", refuse)


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
    installed = getattr(sys.modules.get("midcall.server.installation"), "installations", WeakSet[object]())
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
