"""The two conformance examples, run against each other as a reader would."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from tests.serving import ROOT, environment, serving

HOME = ROOT / "examples"
SECONDS = 60
IN_ROUNDS_ONLY = {"sampling", "list_roots", "multiple_inputs"}


async def client(url: str, version: str) -> tuple[int | None, str]:
    """The client's exit code and output."""
    script = str(HOME / "conformance_client.py")
    env = environment(MCP_CONFORMANCE_PROTOCOL_VERSION=version)
    process = await asyncio.create_subprocess_exec(
        sys.executable, script, url, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await asyncio.wait_for(process.communicate(), SECONDS)
    return process.returncode, said.decode()


@pytest.mark.parametrize("version", ["", "2026-07-28"])
async def test_the_client_calls_every_tool_of_the_server(version: str, tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with serving(HOME / "conformance_server.py", log, flag="--port") as url:
        ended, said = await client(url, version)
    assert (ended, "Traceback" in said) == (0, False), said
    told = dict(line.split(" ", 1) for line in said.splitlines() if line.startswith("test_"))
    assert len(told) == 11
    assert told["test_elicitation_sep1034_defaults"] == "done"
    for name in IN_ROUNDS_ONLY:
        assert told[f"test_input_required_result_{name}"] != "done"
    assert "invalid result" not in log.read_text()
