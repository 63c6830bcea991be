"""Scan everything that midcall writes during a run of the suite: logs, traces, audit lines, and logs of test servers.

None of it may contain a page's id, a resume code, or a value that somebody entered, and no record of a log may look
like several. No test may flood the log. Output is recorded and scanned at the end, because an id may appear before we
know that it is one.
"""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl

import pytest

LEAST_ID: Final = 16
LEAST_VALUE: Final = 8
"""Shorter texts may appear in a log by chance."""
LEAST_CHARACTERS: Final = 4
"""Texts of fewer different characters are padding of a test, and other tests pad what they log."""
PAGE: Final = re.compile(r"/i/([A-Za-z0-9_\-]+)$")
NOT_HIDDEN: Final = frozenset({"expires", "renew", "scopes", "client", "grantor"})
"""What is stored about an account besides its tokens."""
LOGS: Final = re.compile(r"log(-\d+)?|stderr|err")
LARGEST: Final = 20_000_000
FLOOD: Final = int(os.environ.get("MIDCALL_SCAN_BYTES", 300_000_000))
"""A run that writes more than this is stuck in a loop; the whole suite writes about a tenth."""
LEAKS: Final = "midcall leaks"
LINE: Final = "the line of "


class Hidden:
    """Everything that must stay hidden, by how it begins: a run writes a lot, and hides thousands of texts."""

    def __init__(self) -> None:
        self._beginnings: defaultdict[str, dict[str, str]] = defaultdict(dict)

    def id(self, id: object) -> None:
        if isinstance(id, str) and len(id) >= LEAST_ID and not _is_padding(id):
            self._beginnings[id[:LEAST_VALUE]].setdefault(id, "an id")

    def value(self, value: object) -> None:
        if isinstance(value, str) and len(value.strip()) >= LEAST_VALUE and not _is_padding(value):
            self._beginnings[value[:LEAST_VALUE]].setdefault(value, "a value")

    def seen_in(self, text: str) -> Iterator[str]:
        """The hidden texts found here, as parts of longer words too, described without quoting them."""
        known = self._beginnings.keys()
        for at in range(len(text) - LEAST_VALUE + 1):
            if (beginning := text[at : at + LEAST_VALUE]) in known:
                for hidden, kind in self._beginnings[beginning].items():
                    if text.startswith(hidden, at):
                        yield f"{kind} ({_digest(hidden)})"


def _is_padding(text: str) -> bool:
    return len(set(text)) < LEAST_CHARACTERS


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


class Said:
    """All output, in a file, because a run writes a lot."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile("w+", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
        self._process = os.getpid()
        self._left = FLOOD
        self.most: Counter[str] = Counter()
        """How much each place has written."""

    @property
    def is_flooded(self) -> bool:
        return self._left < 0

    def note(self, place: str, text: str) -> None:
        if os.getpid() != self._process or self.is_flooded:
            return
        test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
        line = json.dumps([f"{place}, in {test}", text]) + "\n"
        self.most[f"{place}, in {test}"] += len(line)
        self._left -= len(line)
        self._file.write(line)

    def everything(self) -> Iterator[tuple[str, str]]:
        self._file.seek(0)
        for line in self._file:
            place, text = json.loads(line)
            yield place, text

    def close(self) -> None:
        self._file.close()


# --- what is recorded --------------------------------------------------------------------------
def listen_to_logs(said: Said, patch: pytest.MonkeyPatch) -> None:
    """Record midcall's log at every level. Other handlers still get only what they would have."""
    enabled, handle, whole = logging.Logger.isEnabledFor, logging.Logger.handle, logging.Formatter("%(message)s")

    def is_enabled(self: logging.Logger, level: int) -> bool:
        return _is_ours(self) or enabled(self, level)

    def handled(self: logging.Logger, record: logging.LogRecord) -> None:
        if _is_ours(self):
            place = f"{record.name} {record.levelname} at {Path(record.pathname).name}:{record.lineno}"
            said.note(place, whole.format(record))
            self.filter(record)
            said.note(f"{LINE}{place}", whole.format(record))  # as handlers get it
            if not enabled(self, record.levelno):
                return
        handle(self, record)

    patch.setattr(logging.Logger, "isEnabledFor", is_enabled)
    patch.setattr(logging.Logger, "handle", handled)


def _is_ours(logger: logging.Logger) -> bool:
    return logger.name.partition(".")[0] == "midcall"


def is_forged(text: str) -> bool:
    """Whether this record could pass for several, or hides something: only a traceback may follow, indented."""
    first, *rest = text.split("\n")
    return not (first.isprintable() and all(line.startswith("  |") and line.isprintable() for line in rest))


def listen_to_traces(said: Said) -> None:
    """Record all spans and their events, if the OpenTelemetry SDK is installed."""
    try:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
    except ImportError:
        return

    class Listening(SpanProcessor):
        def on_end(self, span: ReadableSpan) -> None:
            told = [span.attributes, [(event.name, event.attributes) for event in span.events], span.status.description]
            said.note(f"span {span.name}", f"{span.name} {_plain(told)}")

    provider = TracerProvider()
    provider.add_span_processor(Listening())
    trace.set_tracer_provider(provider)


def _plain(told: Any) -> str:
    return json.dumps(told, default=lambda each: dict(each) if isinstance(each, Mapping) else str(each))


def listen_to_audits(said: Said, patch: pytest.MonkeyPatch) -> None:
    """Record every event of every audit trail."""
    from midcall import audit

    make = audit._make

    def made(name: audit.Name, facts: Mapping[str, Any]) -> audit.Event:
        event = make(name, facts)
        if not any(key == "answer" for key in event.details):  # somebody asked for answers
            said.note(f"audit event {name}", _plain(event.as_data()))
        return event

    patch.setattr(audit, "_make", made)


# --- what is hidden ----------------------------------------------------------------------------
def learn(hidden: Hidden, patch: pytest.MonkeyPatch) -> None:
    """Collect ids where pages and visits start, codes where they're created, and values where they're encrypted."""
    from midcall.server.resuming.storage import Keeping
    from midcall.server.resuming.visits import Visits
    from midcall.stores.interactions import Interactions
    from midcall.stores.seal import Seal

    def sealed(_: Seal, owner: str, name: str, value: Mapping[str, Any]) -> None:
        for part, text in value.items() if isinstance(value, Mapping) else ():
            if part == "id":
                hidden.id(text)
            elif part not in NOT_HIDDEN:
                hidden.value(text)

    _before(patch, Interactions, "begin", lambda _, id, *rest: hidden.id(id))
    _before(patch, Visits, "begin", lambda _, call, id: hidden.id(id))
    _before(patch, Seal, "close", sealed)
    for name in ("put_code", "put_journal"):
        _after(patch, Keeping, name, lambda made: hidden.id(made.rpartition("@")[2]))
    _learn_from_browsers(hidden, patch)


def _learn_from_browsers(hidden: Hidden, patch: pytest.MonkeyPatch) -> None:
    """Servers in other processes have pages too: collect their ids, and what is typed there, from the client."""
    import httpx2

    def sent(_: Any, request: httpx2.Request, **__: Any) -> None:
        if (page := PAGE.search(request.url.path)) is None:
            return
        hidden.id(page[1])
        typed = request.content.decode("utf-8", "replace") if request.method == "POST" else ""
        for name, value in parse_qsl(typed):
            if re.fullmatch(r"s\d+", name):
                hidden.value(value)

    _before(patch, httpx2.AsyncClient, "send", sent)
    _before(patch, httpx2.Client, "send", sent)


def _before(patch: pytest.MonkeyPatch, cls: type, name: str, look: Callable[..., object]) -> None:
    original = getattr(cls, name)

    @wraps(original)
    def looked(*args: Any, **kwargs: Any) -> Any:
        look(*args, **kwargs)
        return original(*args, **kwargs)

    patch.setattr(cls, name, looked)


def _after(patch: pytest.MonkeyPatch, cls: type, name: str, look: Callable[[Any], object]) -> None:
    original = getattr(cls, name)

    @wraps(original)
    async def looked(*args: Any, **kwargs: Any) -> Any:
        result = await original(*args, **kwargs)
        look(result)
        return result

    patch.setattr(cls, name, looked)


# --- for pytest --------------------------------------------------------------------------------
class Scanning:
    """The plugin: records from the start and scans at the end. A hit fails the run."""

    def __init__(self) -> None:
        self._hidden = Hidden()
        self._said = Said()
        self._patch = pytest.MonkeyPatch()
        self._leaks: list[str] = []

    def pytest_sessionstart(self) -> None:
        listen_to_logs(self._said, self._patch)
        listen_to_traces(self._said)
        listen_to_audits(self._said, self._patch)
        learn(self._hidden, self._patch)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self._patch.undo()
        self._leaks += self._found(session.config)
        self._said.close()
        worker: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if worker is not None:
            worker[LEAKS] = self._leaks
        elif self._leaks and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._leaks += getattr(node, "workeroutput", {}).get(LEAKS, [])

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._leaks:
            terminalreporter.section("what nobody may see was logged, traced or audited", red=True)
            for leak in dict.fromkeys(self._leaks):
                terminalreporter.line(leak)

    def _found(self, config: pytest.Config) -> list[str]:
        leaks = dict.fromkeys(self._leaks_of(chain(self._said.everything(), _logs_of_servers(config))))
        if self._said.is_flooded:
            leaks |= {f"a flood, {size:,} bytes: {place}": None for place, size in self._said.most.most_common(3)}
        return list(leaks)

    def _leaks_of(self, said: Iterable[tuple[str, str]]) -> Iterator[str]:
        for place, text in said:
            yield from (f"{what}: {place}" for what in self._hidden.seen_in(text))
            if place.startswith(LINE) and is_forged(text):
                yield f"a forged line: {place}"


def _logs_of_servers(config: pytest.Config) -> Iterator[tuple[str, str]]:
    """What other processes wrote to files that tests keep."""
    kept: Any = getattr(config, "_tmp_path_factory", None)
    home: Path | None = getattr(kept, "_basetemp", None)
    for path in sorted(home.rglob("*")) if home is not None else ():
        if LOGS.fullmatch(path.name) and path.is_file() and path.stat().st_size < LARGEST:
            yield f"the log of a process, {path.relative_to(home or path)}", path.read_text("utf-8", "replace")


def everything_about(error: BaseException) -> str:
    """All that somebody who gets this error can read in it and its causes."""
    chain: list[BaseException] = []
    link: BaseException | None = error
    while link is not None:
        chain.append(link)
        link = link.__cause__ or link.__context__
    return " ".join(f"{each!r} {each} {vars(each)} {each.args}" for each in chain)
