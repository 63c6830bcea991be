"""A script in a file: YAML or JSON, with errors that say where and what.

In YAML a value is taken as it is written, and the field's kind says what it means: `no` is the word
no, 2026-07-28 a date, 007 has its zeros.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, cast

from midcall.client.scripts.answers import ACTIONS, Answer
from midcall.errors import MidcallError
from midcall.wording.client import script as wording

__all__ = ["BadScript", "read_script"]


class BadScript(MidcallError, ValueError):
    """A file of answers cannot be read. Says where, and what is expected."""


def read_script(path: str | PathLike[str]) -> dict[str, Answer] | list[Answer]:
    """The answers in this file, or `BadScript`."""
    path = Path(path)
    if path.suffix.lower() not in (".yaml", ".yml", ".json"):
        raise BadScript(_bad_script(str(path), None, "a file of answers must end in .yaml, .yml or .json"))
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise BadScript(_bad_script(str(path), None, "the file is not text in UTF-8")) from None
    except OSError as error:
        raise BadScript(_bad_script(str(path), None, f"the file cannot be read ({error.strerror or ''})")) from None
    answers = _Json(path).read(text) if path.suffix.lower() == ".json" else _Yaml(path).read(text)
    if answers is None:
        return {}
    if not isinstance(answers, (dict, list)):
        raise BadScript(
            _bad_script(
                str(path), 1, "expected questions (or names of fields) and their answers, or a list of answers in order"
            )
        )
    return cast("dict[str, Answer] | list[Answer]", answers)


class _Json:
    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, text: str) -> Any:
        try:
            return json.loads(text, object_pairs_hook=self._mapping) if text.strip() else None
        except json.JSONDecodeError as error:
            raise BadScript(_bad_script(str(self._path), error.lineno, error.msg)) from None
        except RecursionError:
            raise BadScript(_bad_script(str(self._path), None, _script_too_deep())) from None

    def _mapping(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            twice = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
            raise BadScript(_bad_script(str(self._path), None, _named_twice(twice)))
        if (why := _bad_action(mapping)) is not None:
            raise BadScript(_bad_script(str(self._path), None, why))
        return mapping


class _Yaml:
    """Reads the tree of a YAML file itself: for the lines, and for values as they are written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: dict[int, Any] = {}

    def read(self, text: str) -> Any:
        try:
            import yaml
        except ImportError:
            raise BadScript(
                _bad_script(
                    str(self._path),
                    None,
                    'to read YAML, install it with: pip install "midcall[cli]" (JSON is read without)',
                )
            ) from None
        try:
            compose = cast("Callable[..., Any]", yaml.compose)  # pyright: ignore[reportUnknownMemberType]
            node = compose(text, Loader=yaml.SafeLoader)
            return None if node is None else self._value(node)
        except yaml.MarkedYAMLError as error:
            line = error.problem_mark.line + 1 if error.problem_mark is not None else None
            raise BadScript(_bad_script(str(self._path), line, error.problem or _not_yaml())) from None
        except yaml.YAMLError:
            raise BadScript(_bad_script(str(self._path), None, _not_yaml())) from None
        except RecursionError:
            raise BadScript(_bad_script(str(self._path), None, _script_too_deep())) from None

    def _value(self, node: Any) -> Any:
        """What this node says. One that stands in several places is read once."""
        if id(node) not in self._read:
            self._read[id(node)] = self._made(node)
        return self._read[id(node)]

    def _made(self, node: Any) -> Any:
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
                raise self._bad(key, _named_twice(key.value))
            mapping[key.value] = self._value(value)
        if (why := _bad_action(mapping)) is not None:
            raise self._bad(node, why)
        return mapping

    def _bad(self, node: Any, why: str) -> BadScript:
        return BadScript(_bad_script(str(self._path), node.start_mark.line + 1, why))


def _bad_action(mapping: dict[str, Any]) -> str | None:
    """A mapping with nothing but an action is meant as one, so it must be one that there is."""
    if mapping.keys() == {"action"} and mapping["action"] not in ACTIONS:
        return wording.bad_action(list(ACTIONS))
    return None


def _bad_script(path: str, line: int | None, why: str) -> str:
    return f"{path}{f', line {line}' if line is not None else ''}: {why}"


def _script_too_deep() -> str:
    return "this is nested too deeply to be a file of answers"


def _named_twice(name: str) -> str:
    return f"{name!r} stands here twice; for successive askings, give one list of answers"


def _not_yaml() -> str:
    return "this is not YAML"
