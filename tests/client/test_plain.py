from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.core.text import plain, plain_line


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("How many days?", "How many days?"),
        ("Wie viele Tage – 東京, नमस्ते?", "Wie viele Tage – 東京, नमस्ते?"),
        ("family 👨\u200d👩\u200d👧", "family 👨\u200d👩\u200d👧"),
        ("two\nlines", "two\nlines"),
        ("two\r\nlines", "two\nlines"),
    ],
)
def test_what_is_plain_stays_as_it_is(said: str, shown: str) -> None:
    assert plain(said) == shown


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[31m",
        "\x1b[2J",
        "\x1b[1;1H",
        "\x1b[?1049h",
        "\x1b]0;a title\x07",
        "\x1b]8;;https://evil.example\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1b(0",
        "\x1bc",
        "\x9b31m",
        "\x9d0;a title\x9c",
    ],
)
def test_escape_sequences_are_removed_whole(sequence: str) -> None:
    assert plain(f"be{sequence}fore") == "before"


def test_an_escape_that_never_ends_does_not_eat_the_text() -> None:
    assert plain("\x1b]0;pay 5 euros") == "␛]0;pay 5 euros"
    assert plain("pay\x1b") == "pay␛"


@pytest.mark.parametrize(
    ("control", "shown"), [("\x07", "␇"), ("\x08", "␈"), ("\r", "␍"), ("\x7f", "␡"), ("\x85", "\\x85")]
)
def test_other_control_characters_become_visible(control: str, shown: str) -> None:
    assert plain(f"a{control}b") == f"a{shown}b"


@pytest.mark.parametrize("control", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
def test_what_turns_text_around_is_removed(control: str) -> None:
    assert plain(f"exe.{control}gpj") == "exe.gpj"


@pytest.mark.parametrize("hidden", ["\u200b", "\u2060", "\ufeff", "\u00ad", "\U000e0041"])
def test_what_cannot_be_seen_is_removed(hidden: str) -> None:
    assert plain(f"exam{hidden}ple") == "example"


def test_half_a_character_can_be_printed() -> None:
    assert plain("a\ud800b") == "a\ufffdb"


def test_a_label_stays_on_its_line() -> None:
    assert plain_line("Your\n  name\u2028please\t!") == "Your name please !"


@pytest.mark.parametrize(
    "piece", ["\x1b]", "\x9d", "\x1b[", "\x1b[1", "\x1bP\x1b[", "\x1b]0;a", "é", "\u202e", "\x1b "]
)
def test_text_without_end_is_made_plain_in_time(piece: str) -> None:
    began = time.process_time()
    plain(piece * (1_000_000 // len(piece)))
    plain(f"\x1b]{piece[-1] * 1_000_000}")
    assert time.process_time() - began < 5


def test_a_sequence_that_another_breaks_off_is_shown() -> None:
    assert plain("\x1b]0;pay\x1b[31m 5\x07") == "␛]0;pay 5␇"


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(said: str) -> None:
    for char in plain(said):
        assert char == "\n" or unicodedata.category(char) not in ("Cc", "Cs", "Zl", "Zp")
    assert plain(plain(said)) == plain(said)
    assert "\n" not in plain_line(said)
