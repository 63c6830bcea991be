"""`midcall` against npm's server-everything, a third-party server, over stdio and HTTP."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.peers import node, package
from tests.cli.shell import midcall
from tests.serving import free_port, listening
from tests.skips import needs_peer

NPM = "@modelcontextprotocol/server-everything"
pytestmark = needs_peer(NPM)


def command(*args: str) -> list[str]:
    return [str(node()), f"{package(NPM)}/dist/index.js", *args]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    log = tmp_path_factory.mktemp("everything") / "log"
    with listening(command("streamableHttp"), port, log, {"PORT": str(port)}):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(params=["stdio", "http"])
def target(request: pytest.FixtureRequest) -> str:
    return shlex.join(command()) if request.param == "stdio" else request.getfixturevalue("url")


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "answers.yaml"
    path.write_text(
        "name: Ada\n"
        "check: yes\n"
        "email: ada@example.com\n"
        "integer: 7\n"
        "titledSingleSelectEnum: hero-2\n"
        "untitledMultipleSelectEnum: [Piano, Violin]\n"
        "Please open the link to complete this action.: yes\n"
        "Open this link to satisfy the prerequisite, then retry the request.: no\n"
    )
    return str(path)


def test_its_tools_are_listed_with_those_that_ask(target: str) -> None:
    done = midcall("tools", target)
    assert done.returncode == 0, done.stderr
    assert "\ntrigger-elicitation-request\n" in done.stdout
    assert "  a*  a number · required\n      First number\n" in done.stdout


def test_its_tools_are_called(target: str) -> None:
    done = midcall("call", target, "get-sum", "a=2", "b=0.5")
    assert (done.returncode, done.stdout) == (0, "The sum of 2 and 0.5 is 2.5.\n"), done.stderr


def test_its_form_of_every_kind_of_field_is_answered(target: str, answers: str) -> None:
    done = midcall("call", target, "trigger-elicitation-request", "--answers", answers, "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["content"][-1]["text"]
    sent = json.loads(said.partition("Raw result: ")[2])
    assert sent["action"] == "accept"
    assert sent["content"] | {"name": "Ada", "check": True, "email": "ada@example.com", "integer": 7} == sent["content"]
    assert sent["content"]["untitledMultipleSelectEnum"] == ["Piano", "Violin"]
    assert sent["content"]["number"] == 3.14  # an unchanged default


def test_its_form_is_cancelled_without_a_user(target: str) -> None:
    done = midcall("call", target, "trigger-elicitation-request")
    assert done.returncode == 3
    assert "cancelled" in done.stdout


def test_its_visit_is_agreed_to(target: str, answers: str) -> None:
    done = midcall("call", target, "trigger-url-elicitation", "url=https://example.com/x", "--answers", answers)
    assert done.returncode == 0, done.stderr
    assert "User completed the URL elicitation flow" in done.stdout


def test_the_visit_that_its_error_requires_can_be_declined(target: str, answers: str) -> None:
    given = ["url=https://example.com/x", "errorPath=yes", "--answers", answers]
    done = midcall("call", target, "trigger-url-elicitation", *given)
    assert done.returncode == 3
    assert "You declined to open the page that Everything Reference Server needs" in done.stderr
