"""The table of hosts has every host that `make hosts` runs, at the version that it installs."""

from __future__ import annotations

import json
import re

import pytest

from scripts.hosts.hosts import HERE, HOSTS, Host
from scripts.hosts.seen import outcome
from scripts.peers import ROOT

PAGE = (ROOT / "docs" / "hosts.md").read_text()
NPM = json.loads((HERE / "package.json").read_text())["dependencies"]
PYPI = dict(re.findall(r"^([\w-]+)(?:\[[\w,]+\])?==(\S+)$", (HERE / "requirements.txt").read_text(), re.M))


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_each_host_is_in_the_table_at_its_pinned_version_or_with_a_reason(host: Host) -> None:
    pinned = {**PYPI, **NPM}[host.package]
    if host.why_not:
        assert f"- {host.name} (`{host.package}`): {host.why_not}." in PAGE
    else:
        assert f"| {host.name} {pinned} |" in PAGE


def test_a_question_that_a_host_answers_automatically_is_reported_with_its_time() -> None:
    asked = {"id": 1, "method": "elicitation/create", "params": {"message": "Who?"}}
    told = {"id": 2, "result": {"content": [{"type": "text", "text": "The user declined."}]}}
    said = [(10.0, False, asked), (10.02, True, {"id": 1, "result": {"action": "decline"}}), (10.1, False, told)]
    assert outcome(said) == "answers `decline`, within 0.02 s; the model is told: “The user declined.”"
