"""Change valid inputs a little: most of what comes out still gets past the door, and breaks something behind it.

Everything comes from one `Random`, so a seed and a number make the same input again.
"""

from __future__ import annotations

import copy
import string
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, TypeVar

T = TypeVar("T", str, bytes)

PIECES: Final = (
    *("\x00", "\x07", "\x08", "\x1b", "\x1b[2J", "\x1b[999C", "\x1b]8;;https://evil.example\x07", "\x1bP", "\x9b31m"),
    *("\x1b[200~", "\x1b[201~", "\x1b[<0;10;10M", "\x1b[I", "\x7f", "\r", "\n", "\r\n", "\t", "\x85", "\u2028", " "),
    *("\u200b", "\u200d", "\u202e", "\u2066", "\ufeff", "\u00ad", "\u180b", "\ufe0f", "\U000e0041", "\u0301", "\u3164"),
    *(
        "\ud800",
        "\udfff",
        "\ue000",
        "\uffff",
        "\U0010ffff",
        "\U0001f1e6",
        "ﷺ",
        "ß",
        "İ",
        "ı",
        "ŉ",
        "Å",
        "٣",
        "²",
        "日本",
    ),
    *("<script>alert(1)</script>", "<!--", "-->", '"', "'", "`", "&amp;", "&#0;", "<b>", "]]>", "javascript:alert(1)"),
    *("{{7*7}}", "{0.__class__}", "{", "}", "%s", "%(x)s", "%n", "$", "\\", "\\u0000", "\\ud800", "../../etc/passwd"),
    *(
        "[x](.)",
        "[x](",
        "](",
        ")",
        "]",
        "(",
        "[",
        "www.",
        "https://",
        "http://evil.example/",
        "mailto:",
        "//",
        "@",
        ":",
    ),
    *(
        "#",
        "?",
        "&",
        "=",
        ";",
        ",",
        ".",
        "。",
        "．",
        "＠",
        "／",
        "xn--",
        "xn--a",
        "%00",
        "%2f",
        "%ff",
        "%",
        "+",
        "-",
        "_",
    ),
    *("null", "true", "NaN", "Infinity", "-0", "1e999", "9" * 400, "0x10", "1_000", "None", "__proto__", "constructor"),
    *("(?:aa?){40}b", "(a+)+$", "^", "$", "\\d", "(?=", "(?P<a>", "[^", "{1,9999}", "|", "*", "\\p{L}", "(?i)"),
)
"""What parsers, terminals, browsers and regular expressions treat in a special way."""

NUMBERS: Final = (
    *(0, 1, -1, 2, 255, 256, 65535, 65536, 2**31, 2**53, 2**53 + 1, 2**63, -(2**63), 2**64, 10**30, 10**400),
    *(0.0, -0.0, 0.1, 1.5, 5e-324, 1e16, 1e308, float("inf"), float("-inf"), float("nan")),
)
LARGE: Final = (100, 1_000, 10_000, 50_000)
LONGEST: Final = 200_000


def mutate_text(random: Random, text: str, others: Sequence[str] = (), *, most: int = 4) -> str:
    """This text with one to `most` changes; sometimes unchanged, sometimes very long."""
    for _ in range(random.choice((0, 1, 1, 1, 2, random.randint(1, most)))):
        text = random.choice(_TEXT_CHANGES)(random, text, others)[:LONGEST]
    return text


def mutate_bytes(random: Random, data: bytes, *, most: int = 3) -> bytes:
    """The same for bytes."""
    for _ in range(random.randint(0, most)):
        start, end = _span(random, data)
        match random.randrange(6):
            case 0:
                data = data[:start] + data[end:]
            case 1:
                data = data[:start] + random.randbytes(random.randint(1, 4)) + data[start:]
            case 2:
                piece = random.choice(PIECES).encode("utf-8", "surrogatepass")
                data = data[:start] + piece + data[start:]
            case 3 if data:
                at = random.randrange(len(data))
                data = data[:at] + bytes([data[at] ^ (1 << random.randrange(8))]) + data[at + 1 :]
            case 4:
                data = data[:end] + data[start:end] * random.choice((1, 2, 50)) + data[end:]
            case _:
                data = data[:end]
    return data


def _span(random: Random, text: Any) -> tuple[int, int]:
    start = random.randint(0, len(text))
    return start, min(len(text), start + random.choice((1, 1, 2, 5, 20, len(text))))


def _insert(random: Random, text: str, others: Sequence[str]) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(PIECES) + text[at:]


def _replace(random: Random, text: str, others: Sequence[str]) -> str:
    start, end = _span(random, text)
    return text[:start] + random.choice(PIECES) + text[end:]


def _delete(random: Random, text: str, others: Sequence[str]) -> str:
    start, end = _span(random, text)
    return text[:start] + text[end:]


def _repeat(random: Random, text: str, others: Sequence[str]) -> str:
    start, end = _span(random, text)
    return text[:end] + text[start:end] * random.choice((1, 1, 2, 3, 30)) + text[end:]


def _flood(random: Random, text: str, others: Sequence[str]) -> str:
    """One piece, again and again: what takes quadratic time shows here."""
    if random.randrange(8):
        return _insert(random, text, others)
    if not random.randrange(4):
        return flood_character(random, text)
    at = random.randint(0, len(text))
    piece = random.choice(PIECES) if random.randrange(3) else random.choice(PIECES) + random.choice(PIECES)
    return text[:at] + piece * (random.choice(LARGE) // len(piece) + 1) + text[at:]


def flood_character(random: Random, text: str) -> str:
    """One character, again and again, at the start or after it: as in a pattern of nothing but brackets."""
    at = random.choice((0, 1, random.randint(0, len(text))))
    character = random.choice(r"[[[[((({{{\\\]]))}}^$.*+?|-19,:=!<a é")
    return text[:at] + character * random.choice(LARGE) + text[at:]


def _scramble(random: Random, text: str, others: Sequence[str]) -> str:
    at = random.randint(0, len(text))
    return text[:at] + random.choice(string.printable) + text[at + 1 :]


def _any_character(random: Random, text: str, others: Sequence[str]) -> str:
    at = random.randint(0, len(text))
    return text[:at] + chr(random.randrange(0x110000)) + text[at:]


def _splice(random: Random, text: str, others: Sequence[str]) -> str:
    if not others:
        return _delete(random, text, others)
    other = random.choice(others)
    return text[: random.randint(0, len(text))] + other[random.randint(0, len(other)) :]


def _truncate(random: Random, text: str, others: Sequence[str]) -> str:
    return text[: random.randint(0, len(text))]


def _change_case(random: Random, text: str, others: Sequence[str]) -> str:
    return random.choice((text.upper, text.lower, text.swapcase))()


_TEXT_CHANGES: Final[Sequence[Callable[[Random, str, Sequence[str]], str]]] = (
    *(_insert, _insert, _replace, _replace, _delete, _repeat, _flood, _scramble, _any_character),
    *(_splice, _truncate, _change_case),
)


# --- data --------------------------------------------------------------------------------------


def mutate_data(random: Random, data: Any, *, most: int = 3) -> Any:
    """A copy of this JSON data with one to `most` changes; sometimes unchanged."""
    data = copy.deepcopy(data)
    for _ in range(random.choice((0, 1, 1, 1, random.randint(1, most)))):
        holder = [data]
        _change_somewhere(random, holder)
        data = holder[0]
    return data


def _change_somewhere(random: Random, holder: list[Any]) -> None:
    """Change one node, and rather one deep inside than the root."""
    places = list(_places(holder))
    inner = places[1:] or places
    where, key = random.choice(inner if random.randrange(20) else places)
    value = where[key]
    match random.randrange(10):
        case 0 | 1 if isinstance(where, dict):
            del where[key]
        case 2 if isinstance(where, dict):
            where[mutate_text(random, key) or "x"] = where.pop(key)
        case 3 if isinstance(value, dict):
            value[random.choice((*value, *_WORDS))] = make_value(random)
        case 3 | 4 if isinstance(value, list):
            value.insert(random.randint(0, len(value)), copy.deepcopy(random.choice([*value, make_value(random)])))
        case 5 | 6 if key == "pattern" and isinstance(value, str):
            where[key] = flood_character(random, value)
        case 5 | 6 | 7 if isinstance(value, str):
            where[key] = mutate_text(random, value)
        case 8 if isinstance(value, (int, float)):
            where[key] = random.choice(NUMBERS)
        case 9 if not random.randrange(10):
            where[key] = _nest(random, value)
        case _:
            where[key] = make_value(random)


_WORDS: Final = (
    *("type", "title", "description", "default", "enum", "enumNames", "oneOf", "anyOf", "const", "items", "pattern"),
    *("format", "minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "required", "properties"),
    *("$ref", "additionalProperties", "name", "_meta", "id", "params", "arguments", "mode", "url", "action", "content"),
)


def _places(holder: list[Any]) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = [(holder, 0)]
    for where, key in found:  # it grows while it is read
        value = where[key]
        if isinstance(value, dict):
            found += [(value, name) for name in value]
        elif isinstance(value, list):
            found += [(value, index) for index in range(len(value))]
        if len(found) > 500:
            break
    return found


def _nest(random: Random, value: Any) -> Any:
    for _ in range(random.choice((5, 60, 300))):
        value = [value] if random.randrange(2) else {"a": value}
    return value


def make_value(random: Random) -> Any:
    """Any JSON value; most are small."""
    match random.randrange(12):
        case 0:
            return None
        case 1:
            return random.choice((True, False))
        case 2 | 3:
            return random.choice(NUMBERS)
        case 4:
            return []
        case 5:
            return {}
        case 6:
            return [make_value(random) for _ in range(random.randint(1, 3))]
        case 7:
            return {random.choice(_WORDS): make_value(random) for _ in range(random.randint(1, 3))}
        case 8:
            return random.choice(("string", "number", "integer", "boolean", "array", "object", "null", "date-time"))
        case 9 if not random.randrange(6):
            return random.choice(PIECES) * random.choice(LARGE)
        case _:
            return mutate_text(random, random.choice(PIECES))
