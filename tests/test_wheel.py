"""The built wheel in a clean environment, as a user installs it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

SCRIPT = """
import asyncio, midcall
from mcp import Client
from mcp.server import MCPServer
from mcp_types import ElicitResult

server = MCPServer("wheel")
midcall.install(server)

@server.tool()
async def double() -> int:
    return 2 * await midcall.ask("Number?", int)

async def answer(context, params):
    return ElicitResult(action="accept", content={"answer": 21})

async def main():
    for mode in ("legacy", "2026-07-28"):
        async with Client(server, mode=mode, elicitation_callback=answer) as client:
            print((await client.call_tool("double")).content[0].text)

asyncio.run(main())
"""


def build(into: Path) -> Path:
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(into), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    [wheel] = into.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build", reason="the `build` package is not installed")
    return build(tmp_path_factory.mktemp("dist"))


def test_the_wheel_holds_the_package_its_types_and_its_licence_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "midcall/py.typed" in names
    assert "midcall/errors.md" in names, "for `midcall explain`"
    examples = {name for name in names if name.startswith("midcall/examples/")}
    assert examples == {f"midcall/examples/{name}" for name in ("demo.toml", "guess.py", "trip.py")}, "for the demo"
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"midcall"}


def test_the_wheel_works_in_a_clean_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env")
    python = tmp_path / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
    install = [*pip, "-c", str(ROOT / "constraints.txt"), str(wheel)]
    installed = subprocess.run(install, capture_output=True, text=True)
    if installed.returncode != 0 and "connection" in installed.stderr.lower():
        pytest.skip("no package index can be reached")
    assert installed.returncode == 0, installed.stderr
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    ran = subprocess.run(
        [str(python), "-W", "error", "-c", SCRIPT], capture_output=True, text=True, cwd=tmp_path, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["42", "42"]
    helped = subprocess.run([str(python), "-m", "midcall", "--help"], capture_output=True, text=True, cwd=tmp_path)
    assert helped.returncode == 0
    assert "demo" in helped.stdout
    demo = [str(python), "-m", "midcall", "demo"]
    played = subprocess.run(
        demo, capture_output=True, text=True, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL
    )
    assert (played.returncode, played.stderr) == (0, "")
    assert "Every scene ended as expected." in played.stdout
