"""Patterns of JSON Schema: what they mean, and how they run.

Their dialect is JavaScript's, and most clients run it there. Here they run in pydantic's engine, which takes linear
time on any text. So it has no look-around and no back-references; look-ahead at the start is a separate pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt
from typing import Any, Final, TypeAlias

from pydantic_core import SchemaError, SchemaValidator, core_schema

from midcall.settings.calls import PATTERN_CHARACTERS, PATTERN_SET_STEPS, PATTERN_STEPS, PATTERN_TEXT_CHARACTERS

Tokens: TypeAlias = Sequence[str]

_LARGEST: Final = isqrt(PATTERN_STEPS)
"""A pattern that counts to `n` has at least the size `n`, and can be run on texts of `n` characters."""

_SET: Final = r"\[\^?\]?(?:\\.|[^\]\\])*"
_TOKEN: Final = re.compile(
    rf"\\.|{_SET}(?:\]|\\?\Z)|\(\?(?:[:=!]|<[=!]|.)|\{{(?:[0-9]+(?:,[0-9]*)?|,[0-9]*)\}}|.", re.DOTALL
)
"""A set without an end is one token: looking for its end from each of its brackets would take quadratic time."""
_WHOLE_SET: Final = re.compile(rf"{_SET}\]", re.DOTALL)
_COUNT: Final = re.compile(r"\{([0-9]+)(,?)([0-9]*)\}")
_UNPORTABLE: Final = re.compile(r"\(\?(?:[=!]|<[=!])|\\[1-9ck]|.*\\u", re.DOTALL)
"""Look-around, back-references, and escapes that RE2 doesn't know."""
_MOST_COUNTED: Final = 1_000
"""RE2 repeats nothing more often."""
_IN_SET: Final = re.compile(r"\\.|[\[&~|]|--", re.DOTALL)
_LOOK_AHEAD: Final = ("(?=", "(?!")
_GROUPS: Final = ("(", "(?:", *_LOOK_AHEAD, "(?<=", "(?<!")
_WIDE: Final = re.compile(r"\.|\\[sSDW]|\[\^.*|\[.*(?:\\[sSDWux]|[^ -~]).*", re.DOTALL)
"""What matches characters beyond ASCII, of one to four bytes."""

_BEYOND_LATIN: Final = re.compile(r"[^\x00-\xff]|\\[uUN]")

_SPACES: Final = r" \t\n\r\f\v\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_WORD: Final = "0-9A-Za-z_"
_TRANSLATIONS: Final = {
    "$": r"\z",
    ".": r"[^\n\r\u2028\u2029]",
    r"\s": f"[{_SPACES}]",
    r"\S": f"[^{_SPACES}]",
    r"\d": "[0-9]",
    r"\D": "[^0-9]",
    r"\w": f"[{_WORD}]",
    r"\W": f"[^{_WORD}]",
    r"\b": r"(?-u:\b)",
    r"\B": r"(?-u:\B)",
    "{": r"\{",
}
_IN_SET_TRANSLATIONS: Final = _TRANSLATIONS | {r"\b": r"\x08"}


class BadPattern(ValueError):
    """A pattern that can't be used. Its text completes "pattern '...' ", and `advice` says what to do."""

    def __init__(self, why: str, advice: str = "") -> None:
        super().__init__(why)
        self.advice = advice


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, ready to run."""

    matches: Callable[[str], bool]
    """Whether it matches anywhere in a text."""
    size: int
    """How long it takes for one character of a text, at most."""

    @property
    def longest(self) -> int:
        """The longest text that it's run on."""
        return PATTERN_STEPS // self.size


@lru_cache(maxsize=32)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern to match as in JavaScript: `\\d` and `\\w` are ASCII, and `$` is the very end.

    Raises:
        BadPattern: It isn't valid, or clients don't support it, or it could take long.
    """
    if len(pattern) > PATTERN_CHARACTERS:
        raise BadPattern(f"has more than {PATTERN_CHARACTERS:,} characters")
    tokens = [_escape_in_set(token) for token in _TOKEN.findall(pattern)]
    if tokens and tokens[-1][0] == "[" and _WHOLE_SET.fullmatch(tokens[-1]) is None:
        raise BadPattern("cannot be read: it has a set without an end")
    # First: Python takes long to read a large set that ignores case.
    if (piece := next(_find_python_only(tokens), None)) is not None:
        raise BadPattern(
            f"uses {piece!r}, which clients do not support",
            "Write it in the dialect of JSON Schema: ^ and $ for the ends, no flags and no named groups.",
        )
    try:
        re.compile("".join(tokens))
    except (re.error, RecursionError, OverflowError) as error:
        raise BadPattern(f"cannot be read: {error}") from None
    if (size := _measure(tokens)) > _LARGEST:
        raise BadPattern(
            "takes too long on some texts, because it repeats so much",
            "Limit the length of a text with max_length, and keep the counts in its pattern small.",
        )
    *conditions, (_, matches) = [(wanted, _compile_linear(part)) for wanted, part in _split(tokens)]
    if not conditions:
        return Pattern(matches, size)
    return Pattern(lambda text: matches(text) and all(meets(text) is wanted for wanted, meets in conditions), size)


def can_compile(pattern: Any) -> bool:
    """Whether this is a pattern that both we and clients can run, on any text."""
    try:
        return isinstance(pattern, str) and bool(compile_pattern(pattern))
    except BadPattern:
        return False


class Budget:
    """The time that the patterns of someone else's schema may take in all: to read them, and to run them."""

    def __init__(self) -> None:
        self._left = PATTERN_STEPS

    def compile(self, pattern: object, length: int) -> Pattern | None:
        """This pattern, to be run on a text of this length; None if it can't be used, or the time is up."""
        if not isinstance(pattern, str):
            return None
        # Python makes a table of each set beyond Latin-1.
        sets = pattern.count("[") if _BEYOND_LATIN.search(pattern) else 0
        if not self._take(PATTERN_SET_STEPS * sets):
            return None
        try:
            compiled = compile_pattern(pattern)
        except BadPattern:
            self._take(len(pattern) * PATTERN_TEXT_CHARACTERS)
            return None
        return compiled if self._take(compiled.size * max(PATTERN_TEXT_CHARACTERS, length)) else None

    def _take(self, steps: int) -> bool:
        self._left -= steps
        return self._left >= 0


def is_portable(pattern: str) -> bool:
    """Whether hosts that run patterns in RE2, as those in Go do, can compile this. One that is too long isn't read."""
    if len(pattern) > PATTERN_CHARACTERS:
        return False
    return not any(_UNPORTABLE.match(token) or _counts_high(token) for token in _TOKEN.findall(pattern))


def make_portable(pattern: str) -> str | None:
    """The pattern without its look-ahead, which lets more through; None if nothing is left that RE2 can compile."""
    if len(pattern) > PATTERN_CHARACTERS:
        return None
    if is_portable(pattern):
        return pattern
    *_, (_, rest) = _split(_TOKEN.findall(pattern))
    simple = "".join(rest)
    return simple if simple.strip("^$") and is_portable(simple) else None


def _counts_high(token: str) -> bool:
    count = _COUNT.fullmatch(token)
    return count is not None and max(int(count[1]), int(count[3] or 0)) > _MOST_COUNTED


# --- what is refused -------------------------------------------------------------------------


def _find_python_only(tokens: Tokens) -> Iterator[str]:
    """The pieces that JavaScript reads differently or not at all: `\\Z` would match a letter Z there."""
    for before, token in zip(("", *tokens), tokens, strict=False):
        if token in (r"\A", r"\Z", r"\z") or token[:2] == "{," or (token[:2] == "(?" and token not in _GROUPS):
            yield token
        elif token == "+" and _is_repeat(before):
            yield before[-1] + token


def _is_repeat(token: str) -> bool:
    return token in ("*", "+", "?") or _COUNT.fullmatch(token) is not None


def _measure(tokens: Tokens) -> int:
    """The size of a pattern with its repeats written out."""
    totals, last = [1], 0
    for token in tokens:
        if token in _GROUPS:
            totals.append(0)
            last = 1
        elif token == ")":
            last = totals.pop() + 1
        elif count := _COUNT.fullmatch(token):
            last *= max(int(count[1]) + bool(count[2]), int(count[3] or 0)) - 1
        else:
            last = 7 if _WIDE.fullmatch(token) else 1
        totals[-1] += max(last, 0)
    return totals[0]


# --- the linear engine -----------------------------------------------------------------------


def _split(tokens: Tokens) -> Iterator[tuple[bool, Tokens]]:
    """The patterns that must match, and those that must not: `^(?=a)(?!b)c` is `^a`, not `^b`, and `^c`."""
    at = 1
    has_choice = any(token == "|" and depth == 0 for token, depth in _depths(tokens))
    if tokens[:1] == ["^"] and not has_choice:
        while at < len(tokens) and tokens[at] in _LOOK_AHEAD:
            end = _find_end(tokens, at)
            if _is_repeat("".join(tokens[end + 1 : end + 2])):
                break
            yield tokens[at] == "(?=", ["^", "(?:", *tokens[at + 1 : end + 1]]
            at = end + 1
    yield True, [*tokens[:1], *tokens[at:]]


def _find_end(tokens: Tokens, start: int) -> int:
    """Where the group that starts here ends; the end of the pattern, if it doesn't."""
    places = enumerate(_depths(tokens[at] for at in range(start, len(tokens))), start)
    return next((place for place, (token, depth) in places if token == ")" and depth == 0), len(tokens) - 1)


def _depths(tokens: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Each token, and how many groups it is in; the bracket that ends a group is outside."""
    depth = 0
    for token in tokens:
        depth -= token == ")"
        yield token, depth
        depth += token in _GROUPS


def _compile_linear(tokens: Iterable[str]) -> Callable[[str], bool]:
    schema = core_schema.str_schema(pattern="".join(map(_translate, tokens)), regex_engine="rust-regex")
    try:
        return SchemaValidator(schema).isinstance_python
    except SchemaError:
        raise BadPattern(
            "cannot be run in linear time",
            "Use no back-references and no look-around, except look-ahead right after ^. If the text must meet such a "
            "condition, check it in the type of the answer, for example with pydantic.AfterValidator.",
        ) from None


def _escape_in_set(token: str) -> str:
    """Escape what could mean something else in a set: Python warns of `[[a]` and `[a&&b]`."""
    if token[0] != "[":
        return token
    return "[" + _IN_SET.sub(_escape_set_operator, token[1:])


def _escape_set_operator(found: re.Match[str]) -> str:
    if found[0] == "--":
        raise BadPattern("has -- in a set", r"Write \- for each hyphen that means itself.")
    return found[0] if found[0][0] == "\\" else f"\\{found[0]}"


def _translate(token: str) -> str:
    if token[0] == "[":
        return "[" + _IN_SET.sub(lambda found: _translate_escape(found[0], _IN_SET_TRANSLATIONS), token[1:])
    return _translate_escape(token, _TRANSLATIONS)


def _translate_escape(text: str, table: dict[str, str]) -> str:
    if text in table:
        return table[text]
    if text[0] == "\\" and not (text[1].isascii() and text[1].isalnum()):
        return f"\\x{{{ord(text[1]):x}}}"  # `\<` would be the start of a word
    return text
