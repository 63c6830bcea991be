"""`midcall call` with other people's servers, which say things that no server should."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import here
from tests.peer import GO_SDK, LINE, MCP_GO, OLD, PUSH, busy, completed, failed, needs
from tests.peer_server import NEW

REFUSALS = [failed(GO_SDK), {"error": {"code": -32603, "message": MCP_GO}}]
HINT = "Add --downgrade, which calls the tool again on an older version, or --era legacy."


def call(*steps: dict[str, Any], more: tuple[str, ...] = ()) -> Any:
    return here("call", LINE, "play", f"steps:={json.dumps(steps)}", *more)


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "answers.yaml"
    path.write_text("Your name?: Ada\nPlease connect: yes\n")
    return str(path)


@pytest.mark.parametrize("refusal", REFUSALS, ids=["go-sdk", "mcp-go"])
def test_a_server_that_cannot_ask_on_this_version_is_called_again_if_allowed(
    refusal: dict[str, Any], answers: str
) -> None:
    refused = call({"push": PUSH, "refusal": refusal}, more=("--answers", answers))
    assert refused.returncode == 1
    assert f"The server pushes its question, and protocol version {NEW} doesn't allow that. {HINT}" in refused.stderr
    assert "downgrade=True" not in refused.stderr

    answered = call({"push": PUSH, "refusal": refusal}, more=("--answers", answers, "--downgrade"))
    assert answered.returncode == 0, answered.stderr
    assert json.loads(answered.stdout)["versions"] == [OLD]
    assert HINT not in answered.stderr


def test_downgrade_and_an_older_version_exclude_each_other() -> None:
    wrong = call(more=("--downgrade", "--era", "legacy"))
    assert wrong.returncode == 2
    assert wrong.stderr == "midcall call: error: --downgrade has no effect with --era legacy: leave one of them out\n"


def test_a_busy_server_is_called_again() -> None:
    assert len(json.loads(call(busy("a"), busy("b")).stdout)["calls"]) == 3


@pytest.mark.parametrize("verbose", [True, False])
def test_the_id_of_a_visit_is_shown_in_verbose_output_only(answers: str, verbose: bool) -> None:
    more = ("--answers", answers, *(["-v"] if verbose else []))
    done = call(needs("id-1\x1b[2J", then=completed("id-1\x1b[2J")), more=more)
    assert done.returncode == 0, done.stderr
    assert ("elicitation id id-1" in done.stderr) is verbose
    assert "\x1b[2J" not in done.stderr
    assert "the call waits until Peer reports that its page is done, 300 s at most" in done.stderr


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"result": {"content": 7, "resultType": "complete"}}, "content: Input should be a valid list"),
        ({"result": {"resultType": "input_required", "inputRequests": 7}}, "inputRequests: Input should be a valid"),
        ({"error": {"code": -32042, "message": "x", "data": {}}}, "data.elicitations is not a list of visits."),
    ],
)
def test_a_malformed_response_is_one_line_that_says_where(step: dict[str, Any], said: str) -> None:
    done = call(step)
    assert done.returncode == 1
    assert said in done.stderr
    assert "ValidationError" not in done.stderr
    assert "Traceback" not in done.stderr
