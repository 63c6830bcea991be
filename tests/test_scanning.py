"""A run of the suite fails at the end if it leaked an id or a value. The failure doesn't repeat it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving import environment

SUITE = """
import logging

import pytest
from opentelemetry import trace

from midcall.audit import Audit
from midcall.stores.interactions import Interaction, Interactions
from midcall.portal.vault import Vault
from midcall.stores.memory import Memory

logger = logging.getLogger("midcall.portal")
traced = trace.get_tracer("x")


@pytest.fixture
async def id(request):
    id = f"an-id-0123456789-of-{request.node.name}"
    await Interactions(Memory()).begin(id, Interaction("secret", "ada", "s", "c", "m", 1.0, 2.0))
    return id


@pytest.fixture
async def value(request):
    value = f"hush-hush of {request.node.name}"
    vault = Vault(Memory(), ["k key of the tests: 0123456789abcdef"], '["server", "s"]')
    await vault.keep("ada", "github", {"value": value}, now=1.0)
    return value

"""

LEAKS = """
async def test_debug_record(id):
    logger.debug("opened %s", id)

async def test_part_of_a_word(id):
    logger.info("page-%s-opened", id)

async def test_record_with_an_exception(value):
    logger.error("failed", exc_info=ValueError(value))

async def test_span(value):
    traced.start_span("x", attributes={"who": value}).end()

async def test_event_of_a_span(id):
    span = traced.start_span("x")
    span.add_event("e", {"id": id})
    span.end()

async def test_audit_event(id):
    Audit(lambda event: None).write("code.used", question=id)

async def test_log_of_a_process(id, tmp_path):
    (tmp_path / "log").write_text(f"GET /i/{id}")

def test_forged_line():
    logging.getLogger("midcall.unguarded").debug("a name\\nERROR forged")

async def test_before_it_is_known():
    logger.debug("an-id-0123456789-of-test_before_it_is_known")
    about = Interaction("secret", "ada", "s", "c", "m", 1.0, 2.0)
    await Interactions(Memory()).begin("an-id-0123456789-of-test_before_it_is_known", about)
"""

CLEAN = """
async def test_clean(id, value, tmp_path):
    logger.info("opened %d", len(id))
    logging.getLogger("somebody.else").error(value)
    (tmp_path / "log").write_text("GET /")

async def test_padding():
    await Interactions(Memory()).begin("x" * 300, Interaction("secret", "ada", "s", "c", "m", 1.0, 2.0))
    logger.error("x" * 1000)
"""


FLOOD = """
def test_stuck():
    for _ in range(1000):
        logger.debug("again")
"""


def run(home: Path, tests: str, *more: str, **variables: str) -> tuple[int, str]:
    """The exit code and output of a suite with these tests."""
    (home / "test_suite.py").write_text(SUITE + tests)
    plugins = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin"]
    options = [*plugins, "-o", "asyncio_mode=auto", "--rootdir", str(home)]
    command = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", *options, *more, str(home)]
    done = subprocess.run(command, cwd=home, env=environment(**variables), capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "workers"])
def test_a_leaked_id_or_value_fails_the_run(tmp_path: Path, workers: tuple[str, ...]) -> None:
    status, told = run(tmp_path, LEAKS, *workers)
    assert "9 passed" in told, told
    assert status == pytest.ExitCode.TESTS_FAILED
    report = told.partition("what nobody may see was logged, traced or audited")[2]
    leaking = set(re.findall(r"def (test_\w+)", LEAKS))
    assert {name for name in leaking if name in report} == leaking
    assert "midcall.portal DEBUG at test_suite.py:" in report, "it says where"
    assert "0123456789" not in told
    assert "hush-hush" not in told


def test_a_run_without_leaks_passes(tmp_path: Path) -> None:
    status, told = run(tmp_path, CLEAN)
    assert status == pytest.ExitCode.OK, told


def test_a_flooded_log_fails_the_run_and_names_the_test(tmp_path: Path) -> None:
    status, told = run(tmp_path, FLOOD, MIDCALL_SCAN_BYTES="50000")
    assert status == pytest.ExitCode.TESTS_FAILED
    assert re.search(r"a flood, [\d,]+ bytes: .*midcall.portal DEBUG at test_suite.py:\d+, in .*::test_stuck", told), (
        told
    )
