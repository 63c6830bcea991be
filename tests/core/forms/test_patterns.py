"""Every pattern runs in linear time on every text: none can hang a form."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from midcall.core.forms.check import check
from midcall.core.forms.fields import Text
from midcall.core.forms.form import Form
from midcall.core.forms.patterns import BadPattern, can_compile, compile_pattern, is_portable, make_portable
from midcall.core.forms.schema import find_hazards
from midcall.errors import InvalidForm
from midcall.settings.calls import PATTERN_CHARACTERS
from tests.budget import cpu_budget

HOSTILE = [
    "^(a+)+$",
    "^(a*)*$",
    "(a|a)*b",
    "(a|aa)+$",
    r"^(\w+\s?)*$",
    r"^([a-zA-Z0-9])(([\-.]|[_]+)?([a-zA-Z0-9]+))*$",
    "(x+x+)+y",
    "(.*a){20}",
    "a*a*a*a*b",
    "^(?:aa?){40}b",
    "(?:a?){100}b",
    "(?:a{1,80}){1,80}b",
    "(?:.?.?){380}b",
    "(?:[^b]{1,30}){1,30}b",
    "^(?=(a+)+$)(?!(a|a)*b).*b",
]
TOO_LARGE = [
    "((a{1,200}){1,200}){1,200}",
    "((a{1,20}){1,20}){1,20}b",
    "(?:a{1,100}){1,100}b",
    "a{1,999999999999999999999999}",
    "(?:(?:){999}){999}",
    "((((((((a{9}){9}){9}){9}){9}){9}){9}){9}){9}",
    ".{2000}",
    "a" * (PATTERN_CHARACTERS + 1),
    "(" * 1_000 + ")" * 1_000,
]
NOT_LINEAR = [
    *(r"(a+)\1+$", "(?=(a+)+$)b", "a(?=b)", "^(?=a)b|c", "^a(?!b)", "(?<=a)b", "b(?<!a)", "^(?=a)*b", r"^(?=(a))\1"),
    *("[a--b]", "[]--]"),
]
ORDINARY = [
    *("^[A-Z]{3}-[0-9]{4}$", "^[a-z]+$", "^[0-9]{5}$", "[0-9]", "^(yes|no)$", r"^\+?[0-9]{6,14}$", "^.{2,40}$", ""),
    *("^[a-z]+@[a-z]+$", "a+b", "^[a-zA-Z0-9]{1,255}$", r"^\[[a-z]\]$", "^[a-z]|[0-9]$", "^[-a]$", "^.{1,1000}$"),
    *(r"^(?:[a-z0-9]{1,63}\.){1,10}[a-z]{2,63}$", r"^(?!.*--)[a-z-]+$", r"^(?=.*\d)(?=.*[a-z]).{8,}$", "^{a}$", "a{"),
]


def read_form(**prop: object) -> Form:
    """A form as a client reads it from a server that it doesn't trust."""
    schema = {"type": "object", "properties": {"x": {"type": "string", **prop}}, "required": ["x"]}
    return Form.from_schema(schema, strict=False)


@pytest.mark.parametrize("pattern", TOO_LARGE + NOT_LINEAR, ids=range(len(TOO_LARGE + NOT_LINEAR)))
def test_a_pattern_that_cannot_run_in_linear_time_is_left_to_its_server(pattern: str) -> None:
    with cpu_budget(2):
        assert not can_compile(pattern)
        assert check(read_form(pattern=pattern, default="a"), {"x": "a" * 40 + "!"}) == ()


@pytest.mark.parametrize("pattern", TOO_LARGE + NOT_LINEAR, ids=range(len(TOO_LARGE + NOT_LINEAR)))
def test_an_author_learns_at_once_that_a_pattern_cannot_run_in_linear_time(pattern: str) -> None:
    with pytest.raises(InvalidForm, match=r"^x: pattern .* (takes too long|cannot be|has|uses)"):
        Text("x", pattern=pattern)


@pytest.mark.parametrize("pattern", ORDINARY)
def test_an_ordinary_pattern_is_checked_by_both_sides(pattern: str) -> None:
    assert read_form(pattern=pattern).fields == (Text("x", pattern=pattern),)


@pytest.mark.parametrize("pattern", HOSTILE)
def test_no_answer_and_no_default_makes_a_pattern_take_long(pattern: str) -> None:
    with cpu_budget(20):  # six texts of any length; measured: 3 s
        form, longest = Form(Text("x", pattern=pattern)), compile_pattern(pattern).longest
        for letter in ("a", "x", "\U0001f600"):
            for size in (40, longest - 1):
                check(form, {"x": letter * size + "!"})


def test_an_answer_that_would_take_long_is_too_long() -> None:
    compiled = compile_pattern("(?:.?.?){380}b")
    form = Form(Text("x", pattern="(?:.?.?){380}b", max_length=1_000_000))
    assert [(each.code, each.params) for each in check(form, {"x": "a" * (compiled.longest + 1)})] == [
        ("too_long", {"maximum": compiled.longest})
    ]
    assert check(Form(Text("x", pattern=r"\S")), {"x": "a" * 1_000_000}) == ()


def test_a_form_of_a_thousand_patterns_and_defaults_takes_no_longer_than_one() -> None:
    one: dict[str, Any] = {"type": "string", "default": "\U0001f600" * 999 + "b"}
    fields = {f"x{each}": {**one, "pattern": f"(?:.?.?){{{100 + each % 300}}}b"} for each in range(1_000)}
    with cpu_budget(5):
        form = Form.from_schema({"type": "object", "properties": fields}, strict=False)
    assert len(form.fields) == 1_000
    patterns = [prop.get("pattern") for prop in form.schema()["properties"].values()]
    assert (patterns[0], patterns[-1]) == ("(?:.?.?){100}b", None)


@pytest.mark.parametrize("pattern", ["(?i)" + "[\x00-\U0010ffff]" * 390, r"[\u0100-\uffff]" * 130, "[b-\ud7ff]" * 390])
def test_a_form_of_many_patterns_with_large_sets_is_read_in_bounded_time(pattern: str) -> None:
    """Python takes a thousandth of a second for each set, and far longer if it ignores case."""
    fields = {f"x{each}": {"type": "string", "pattern": f"{pattern}{each}"} for each in range(40)}
    with cpu_budget(3):
        Form.from_schema({"type": "object", "properties": fields}, strict=False)


@pytest.mark.parametrize("pattern", ["[" * 2_000, "[\\" * 1_000, "{" + "1" * 1_999, "{,1" * 600, "^" + "(?=a)" * 390])
def test_odd_patterns_in_many_fields_of_another_server_are_judged_in_bounded_time(pattern: str) -> None:
    """Each is short enough to be run: so each must be read in linear time, not only refused if it's long."""
    fields = {f"x{each}": {"type": "string", "pattern": f"{pattern}{each}"} for each in range(400)}
    with cpu_budget(3):
        find_hazards({"properties": fields})
        assert all(make_portable(prop["pattern"]) != "" for prop in fields.values())


@pytest.mark.parametrize("pattern", ["[", "[^", "[a", "[[a", "a[b\\", "[\\]", "[a\\]b"])
def test_a_set_without_an_end_is_refused(pattern: str) -> None:
    with pytest.raises(BadPattern, match="a set without an end"):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", ["[]]", "[^]]", "[[]", "[\\]]", "[a]]", "[a][b]", "\\[", "a{1}", "a{1,}", "a{1,2}", "a{1,2"]
)
def test_a_pattern_with_odd_brackets_is_read_to_its_end(pattern: str) -> None:
    assert can_compile(pattern)
    assert is_portable(pattern)


def test_an_unreadably_long_pattern_is_reported_for_what_it_is() -> None:
    long, counted = "a" * 2_001, "a{" + "9" * 5_000 + "}"
    assert find_hazards({"properties": {"x": {"pattern": long}}}) == ("a pattern in 'x' of more than 2,000 characters",)
    assert not is_portable(counted)  # Python refuses to read such a number
    assert make_portable(long) is None


def test_look_ahead_without_an_end_leaves_nothing_that_every_host_can_run() -> None:
    assert make_portable("^(?=a") is None
    assert make_portable("^(?=a)(?!b)c|d") is None
    assert make_portable("^(?=a)(?!b)c(?:e|f)") == "^c(?:e|f)"


@pytest.mark.parametrize("pattern", ["^[[a]b]$", "[a||b]", "[^[:alpha:]]", "[&&a]", "[~~]"])
def test_a_set_has_no_operators_and_python_does_not_warn_of_them(pattern: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matches = compile_pattern(pattern).matches
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        python = re.compile(pattern)
    for text in ("[b]", "a]", "|", "&", "~", "[", ":]", "x]", ""):
        assert matches(text) == (python.search(text) is not None)


@given(st.text())
@example("[[")
@example("[a-\\d]")
@example("\\")
@example("(?")
@example("[\\")
@example("^(?=")
def test_every_text_is_judged_as_a_pattern(pattern: str) -> None:
    assert can_compile(pattern) in (True, False)


PIECES = st.sampled_from(
    [
        *("a", "b", "[ab]", "[^a]", r"\d", r"\W", r"[\w-]", r"[\D]", r"[^\s]", r"\b", r"\B", ".", r"\.", r"\<", r"\-"),
        *("é", "[[]", "[&~|]", "[a-c-e]", r"[\]a]", "[]a]", "{", "}", "]", "(a|b)", "(?:ab)", r"[\b]", r"\u00e9"),
    ]
)
REPEATS = st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "{2,}", "+?"])


def write_pattern(start: str, parts: list[tuple[str, str]], end: str) -> str:
    return start + "".join(piece if piece in (r"\b", r"\B") else piece + repeat for piece, repeat in parts) + end


SIMPLE = st.builds(
    write_pattern,
    st.sampled_from(["", "^", "^(?=a)", "^(?!.*b)", "^(?=.*1)(?!a|é)"]),
    st.lists(st.tuples(PIECES, REPEATS), max_size=4),
    st.sampled_from(["", "$"]),
)
SPACES = r" \t\n\r\f\v\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"


@given(SIMPLE, st.text(alphabet="ab1é_-<.{}[] \n\r\u00a0\u2028😀", max_size=8))
@settings(max_examples=300)
@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")
def test_the_linear_engine_finds_what_the_dialect_says(pattern: str, text: str) -> None:
    # Here spelled for Python's engine, which is fast on texts this short.
    words = re.split(r"(\[\]?(?:\\.|[^\]\\])*\]|\\.|\.)", pattern)
    python = "".join("[^\n\r\u2028\u2029]" if word == "." else word.replace(r"\s", SPACES) for word in words)
    if python.endswith("$"):
        python = python[:-1] + r"\Z"
    if text or r"\B" not in pattern:  # only Python says that the middle of a word isn't in an empty text
        assert compile_pattern(pattern).matches(text) == (re.search(python, text, re.ASCII) is not None)


ATOMS = st.sampled_from(["a", "[ab]", ".", r"\S", r"\W", "[^a]", "\U0001f600", "(?:a|b)", "(?:aa?)"])
NESTED = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{9}", "{1,30}", "{0,99}", "{50,}"])),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}|{})".format, inner, inner),
    ),
    max_leaves=6,
)


@given(NESTED, st.sampled_from(["a", "ab", "\U0001f600", "a\U0001f600", "é "]))
@settings(max_examples=40, phases=[Phase.explicit, Phase.generate])
@example("(?:.?.?){380}", "\U0001f600")
def test_any_pattern_takes_about_a_second_at_most(pattern: str, part: str) -> None:
    with cpu_budget(10):
        try:
            compiled = compile_pattern(pattern + "Q")
        except BadPattern:
            pass
        else:
            compiled.matches((part * compiled.longest)[: min(compiled.longest, 200_000)])


def test_an_authors_own_pattern_is_unchanged() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "pattern": "^(ab?)+$"}}, "required": ["x"]}
    assert Form.from_schema(schema).schema()["properties"]["x"]["pattern"] == "^(ab?)+$"


def test_an_answer_that_is_too_long_is_checked_for_nothing_else() -> None:
    form = Form(Text("x", max_length=10, pattern=r"^(a+)+$", format="email"))
    for many in (11, 1_000_000):
        assert [problem.code for problem in check(form, {"x": "!" * many})] == ["too_long"]
