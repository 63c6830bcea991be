"""What strangers write can't forge, hide or flood lines of the log: through every logger call of the source."""

from __future__ import annotations

import ast
import logging
import re
from collections.abc import Iterator
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import midcall
from midcall.logs import LOGGERS
from midcall.settings.calls import LOG_CHARACTERS

SOURCE = Path(midcall.__file__).parent
HOSTILE = "x\r\nERROR forged\x1b[2J\x00\x85\u2028\u202e\u2066\u200b\ufeff\udc80\x9b31m"
FORMAT = logging.Formatter("%(levelname)s:%(name)s:%(message)s")
LEVELS = ("debug", "info", "warning", "error", "exception", "critical", "log")


class Call(NamedTuple):
    """A logger call in the source, and what it logs if everything in it that isn't a literal is hostile."""

    module: str
    logger: str
    line: int
    message: str
    arguments: tuple[object, ...]


def calls() -> Iterator[Call]:
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(("midcall", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(id=("logger" | "log" | "_log") as name), attr=level)):
                    if level in LEVELS:
                        message, *rest = node.args[1:] if level == "log" else node.args
                        arguments = _arguments(_hostile(message), len(rest))
                        yield Call(module, name, node.lineno, _hostile(message), arguments)
                case _:
                    pass


def _hostile(message: ast.expr) -> str:
    match message:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_hostile(part) for part in parts)
        case _:
            return HOSTILE


def _arguments(template: str, count: int) -> tuple[object, ...]:
    kinds = re.findall(r"%([sdr])", template) if count else []
    return tuple(7 if kind == "d" else HOSTILE for kind in kinds)


CALLS = list(calls())


def written(logger: logging.Logger, *said: Any, **more: Any) -> str:
    """What a handler writes to a file or a terminal."""
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(FORMAT)
    logger.addHandler(handler)
    try:
        logger.error(*said, **more)
    finally:
        logger.removeHandler(handler)
    return stream.getvalue()


def is_harmless(line: str) -> bool:
    return line.endswith("\n") and line[:-1].isprintable()


def test_the_calls_were_found() -> None:
    assert len(CALLS) > 60
    assert sum(HOSTILE in each.message or HOSTILE in each.arguments for each in CALLS) > 30


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.module}:{call.line}")
def test_hostile_text_stays_on_one_visible_line_in_every_logger_call(call: Call) -> None:
    logger: logging.Logger = getattr(import_module(call.module), call.logger)
    assert is_harmless(written(logger, call.message, *call.arguments))


def test_every_logger_of_the_source_is_guarded() -> None:
    text = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    names = set(re.findall(r'getLogger\(\s*"(midcall[\w.]*)"', text))
    assert names
    assert names <= set(LOGGERS)


def test_escaped_text_can_be_read_back() -> None:
    line = written(logging.getLogger("midcall"), "an error: %s", "a\nb\x1b[0m\u202ec")
    assert line == "ERROR:midcall:an error: a\\nb\\x1b[0m\\u202ec\n"


def test_ordinary_text_in_any_language_stays_as_it_is() -> None:
    record = logging.LogRecord("midcall", logging.INFO, "", 1, "%s fragt: %d", ("Zoë 東京", 3), None)
    logging.getLogger("midcall").filter(record)
    assert (record.msg, record.args) == ("%s fragt: %d", ("Zoë 東京", 3)), "a collector can still group by template"


def test_the_text_of_an_exception_cannot_look_like_a_line_of_the_log() -> None:
    try:
        raise ValueError(f"bad\nERROR:midcall:forged {HOSTILE}")
    except ValueError as error:
        text = written(logging.getLogger("midcall"), "it failed", exc_info=error)
    first, *rest = text.splitlines(keepends=True)
    assert first == "ERROR:midcall:it failed\n"
    assert len(rest) > 3
    assert all(line.startswith("  ") for line in rest), "only the record itself begins at the margin"
    assert all(is_harmless(line) for line in (*rest[:-1], f"{rest[-1].rstrip()}\n"))


def test_a_flood_in_one_line_is_cut() -> None:
    line = written(logging.getLogger("midcall"), "a tool: %s", "x" * 1_000_000)
    assert len(line) < LOG_CHARACTERS + 200
    assert "more characters" in line


def test_a_mistake_in_a_template_is_left_to_the_handlers() -> None:
    record = logging.LogRecord("midcall", logging.INFO, "", 1, "%d", ("x",), None)
    assert logging.getLogger("midcall").filter(record)
    assert record.args == ("x",)
