"""Load a script from a YAML or JSON file, with errors that name the line.

YAML values are kept as text, and the field's kind decides what they mean: `no` is the word no, 2026-07-28 a date,
and 007 keeps its zeros.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final, cast

from midcall.client.automatic.answers import ACTIONS, BAD_ACTION, Answer
from midcall.errors import MidcallError

_TOO_DEEP: Final = "this is nested too deeply to be a file of answers"
_NOT_YAML: Final = "this is not YAML"


class BadScript(MidcallError, ValueError):
    """A file of answers can't be read. Says where, and what's expected."""

    @classmethod
    def at(cls, path: Path, why: str, line: int | None = None) -> BadScript:
        return cls(f"{path}{f', line {line}' if line is not None else ''}: {why}")


def read_script(path: str | PathLike[str]) -> dict[str, Answer] | list[Answer]:
    """Read the answers in this file, or raise `BadScript`."""
    path = Path(path)
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        raise BadScript.at(path, "a file of answers must end in .yaml, .yml or .json")
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise BadScript.at(path, "the file is not UTF-8 text") from None
    except OSError as error:
        raise BadScript.at(path, f"the file cannot be read ({error.strerror or ''})") from None
    answers = _read_json(path, text) if path.suffix.lower() == ".json" else _Yaml(path).read(text)
    if answers is None:
        return {}
    if not isinstance(answers, (dict, list)):
        raise BadScript.at(
            path, "expected questions (or names of fields) and their answers, or a list of answers in order", 1
        )
    return cast("dict[str, Answer] | list[Answer]", answers)


def _read_json(path: Path, text: str) -> Any:
    def check(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
            raise BadScript.at(path, _duplicate(twice))
        if (why := _bad_action(mapping)) is not None:
            raise BadScript.at(path, why)
        return mapping

    try:
        return json.loads(text, object_pairs_hook=check) if text.strip() else None
    except json.JSONDecodeError as error:
        raise BadScript.at(path, error.msg, error.lineno) from None
    except RecursionError:
        raise BadScript.at(path, _TOO_DEEP) from None


class _Yaml:
    """Walks the nodes of a YAML file, to know their lines and their text."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: dict[int, Any] = {}

    def read(self, text: str) -> Any:
        try:
            import yaml
        except ImportError:
            raise BadScript.at(
                self._path, 'to read YAML, run: pip install "midcall[cli]" (JSON works without it)'
            ) from None
        try:
            compose = cast("Callable[..., Any]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
            node = compose(text, Loader=yaml.SafeLoader)
            return None if node is None else self._value(node)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark is not None else None
            raise BadScript.at(self._path, error.problem or _NOT_YAML, line) from None
        except yaml.YAMLError:
            raise BadScript.at(self._path, _NOT_YAML) from None
        except RecursionError:
            raise BadScript.at(self._path, _TOO_DEEP) from None

    def _value(self, node: Any) -> Any:
        """The value of this node. A node behind an alias is read once."""
        if id(node) not in self._read:
            self._read[id(node)] = self._build(node)
        return self._read[id(node)]

    def _build(self, node: Any) -> Any:
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        match node.id:
            case "mapping" if kind == "map":
                return self._mapping(node)
            case "sequence" if kind == "seq":
                return [self._value(item) for item in node.value]
            case "scalar" if kind in ("str", "int", "float", "bool", "null", "timestamp", "value", "merge"):
                return None if kind == "null" else node.value
            case _:
                raise self._bad(node, "expected plain text, a list or a mapping, and no tag")

    def _mapping(self, node: Any) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key, value in node.value:
            if key.id != "scalar":
                raise self._bad(key, "expected a question or the name of a field before the colon")
            if key.value in mapping:
                raise self._bad(key, _duplicate(key.value))
            mapping[key.value] = self._value(value)
        if (why := _bad_action(mapping)) is not None:
            raise self._bad(node, why)
        return mapping

    def _bad(self, node: Any, why: str) -> BadScript:
        return BadScript.at(self._path, why, node.start_mark.line + 1)


def _bad_action(mapping: dict[str, Any]) -> str | None:
    """A mapping with nothing but an action can only be that, so the action must exist."""
    if mapping.keys() == {"action"} and mapping["action"] not in ACTIONS:
        return BAD_ACTION
    return None


def _duplicate(name: str) -> str:
    return f"{name!r} appears twice; to answer a question several times, give one list of answers"
