"""What a host did, read from what it and the server said to each other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from midcall.protocol import CODE
from scripts.everywhere import EXPECTED
from scripts.hosts.hosts import AGENTS, MODULES, Host

META = "io.modelcontextprotocol/"
Json = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One host in the table."""

    name: str
    package: str
    version: str = ""
    protocol: str = ""
    declares: str = ""
    alone: str = ""
    """What came of a call with nobody at the keys."""
    person: str = "–"
    """And with a person, if we know which keys they press."""
    missing: str = ""

    def __str__(self) -> str:
        return self.missing or f"{self.version} | {self.protocol} | {self.declares} | {self.alone} | {self.person}"


def table(rows: Sequence[Row]) -> str:
    head = ("host", "protocol", "declares", "nobody at the keys", "a person at the keys")
    present = [row for row in rows if not row.missing]
    ran = [(f"{row.name} {row.version}", row.protocol, row.declares, row.alone, row.person) for row in present]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *ran)]
    if absent := [f"- {row.name} (`{row.package}`): {row.missing}." for row in rows if row.missing]:
        lines += ["", "Not run:", "", *absent]
    return "\n".join(lines)


def read(host: Host, wire: Path, *, in_time: bool, seconds: float) -> Row:
    """What is known of a host after a call without a person."""
    messages = list(_messages(wire))
    protocol, declares = _spoken(messages)
    alone = outcome(messages)
    if not in_time:
        alone += f" (stopped after {seconds:.0f} s)"
    return Row(host.name, host.package, _version(host), protocol, declares, alone)


def _messages(wire: Path) -> Iterator[tuple[float, bool, Json]]:
    """When, whether the host said it, and what."""
    if not wire.exists():
        return
    for line in wire.read_text().splitlines():
        note = json.loads(line)
        if isinstance(note["message"], dict):
            yield note["at"], note["way"] == "to the server", note["message"]


def _spoken(messages: Iterable[tuple[float, bool, Json]]) -> tuple[str, str]:
    """The protocol version, and what the host declares."""
    protocol, declared = "–", {}
    for _, from_host, message in messages:
        params = message.get("params") or {}
        meta = params.get("_meta") or {}
        if from_host and f"{META}clientCapabilities" in meta:
            return meta.get(f"{META}protocolVersion", ""), _declared(meta[f"{META}clientCapabilities"])
        if from_host and message.get("method") == "initialize":
            declared = params.get("capabilities") or {}
        elif not from_host and "protocolVersion" in (message.get("result") or {}):
            protocol = message["result"]["protocolVersion"]
    return protocol, _declared(declared)


def _declared(capabilities: Json) -> str:
    found: list[str] = []
    if (asking := capabilities.get("elicitation")) is not None:
        modes = [mode for mode in ("form", "url") if mode in asking] or ["form"]
        found.append(" and ".join({"form": "forms", "url": "URLs"}[mode] for mode in modes))
    if f"{META}ui" in (capabilities.get("extensions") or {}):
        found.append("MCP Apps")
    return ", ".join(found) or "nothing"


def outcome(messages: Sequence[tuple[float, bool, Json]]) -> str:
    """What came of the calls: how questions were answered, and what the model was told at last."""
    asked: float | None = None
    answers: list[tuple[str, float]] = []
    told, linked = "", False
    for at, from_host, message in messages:
        result = message.get("result") or {}
        params = message.get("params") or {}
        if not from_host and (message.get("method") == "elicitation/create" or result.get("inputRequests")):
            asked = at
        elif asked is not None and from_host:
            actions = [result] if "action" in result else list((params.get("inputResponses") or {}).values())
            if actions:
                answers.append((actions[0].get("action", "?"), at - asked))
                asked = None
        if not from_host and isinstance(result.get("content"), list) and result.get("resultType") != "input_required":
            told = " ".join(block.get("text", "") for block in result["content"])
            linked |= CODE in (result.get("_meta") or {}) and "http" in told
        elif not from_host and "error" in message:
            told = f"error {message['error'].get('code')}: {message['error'].get('message')}"
    return _summary(answers, told, linked=linked)


def _summary(answers: Sequence[tuple[str, float]], told: str, *, linked: bool) -> str:
    pieces: list[str] = []
    for action in ("cancel", "decline", "accept"):
        if times := [after for kind, after in answers if kind == action]:
            plural = "" if len(times) == 1 else f" {len(times)} times"
            quick = f", within {max(times):.2f} s" if max(times) < 1 else ""
            pieces.append(f"answers `{action}`{plural}{quick}")
    if told.startswith(EXPECTED):
        first = told.removeprefix(EXPECTED).rstrip(".")
        via = f"`{first}`, then `link`" if linked and first != "link" else f"`{first}`"
        pieces.append(f"✓ all five questions, by {via}")
    elif told:
        pieces.append(f"the model is told: “{_short(told)}”")
    else:
        pieces.append("the tool was not called")
    return "; ".join(pieces)


def _short(text: str) -> str:
    text = re.sub(r"http://127\.0\.0\.1:\d+/\S+", "http://…", text)
    text = re.sub(r'"code": "\w+"', '"code": "…"', re.sub(r"\s+", " ", text)).replace("|", "\\|").replace("<", "&lt;")
    return text if len(text) <= 200 else f"{text[:199]}…"


def _version(host: Host) -> str:
    if host.needs == AGENTS:
        folder = next(AGENTS.parent.parent.glob("lib/python3*/site-packages"))
        found = {each.metadata["name"]: each.version for each in distributions(path=[str(folder)])}
        return found.get(host.package, "")
    return str(json.loads((MODULES / host.package / "package.json").read_text())["version"])
