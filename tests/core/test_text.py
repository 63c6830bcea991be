"""Everything that a text contains can be seen, and two different texts never look the same."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.core.text import reveal
from tests.budget import cpu_budget

SIGNS = {"␣": " ", "⇥": "\t", "↵": "\n"}
HOSTILE = (
    " \t\n\r\x00\x1b\x7f\x85\x9b\xa0\xad\u0301\u0302\u0336\u034f\u061c\u115f\u1161\u1112\u180b\u180e\u2003\u200b\u200d"
    "\u200e\u2028\u202e\u2060\u2066\u2800\u3000\u3164\ufe0f\ufeff\uffa0\U000e0041\U000e0100\ud800\ue000\u0378"
    "⟨⟩␣⇥↵aeéпаαλ04৪אا<&"
)
ANYTHING = st.one_of(st.text(st.characters(exclude_categories=())), st.text(HOSTILE), st.text("ab \n\u0301⟨U+0301⟩"))


def decode(shown: str) -> str:
    """What somebody reads who knows the marks."""
    return re.sub("⟨U\\+([0-9A-F]{4,6})⟩|[␣⇥↵]", lambda m: chr(int(m[1], 16)) if m[1] else SIGNS[m[0]], shown)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Pay 40 EUR to ACME, Inc. <billing@acme.example>",
        "Zoë Müller, Việt Nam, İstanbul, Ελλάδα, Москва",
        "東京タワー Tシャツ, 한국어, नमस्ते दुनिया, สวัสดี, שָׁלוֹם, مُحَمَّد, བོད་སྐད་",
        "12.5 % – “quoted” … ½ ③ № ﬁ 🎉",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert reveal(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("exe.\u202egpj", "exe.⟨U+202E⟩gpj"),
        ("\x1b[2Jgone", "⟨U+001B⟩[2Jgone"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\U000e0041b", "a⟨U+E0041⟩b"),
        ("10\xa0000", "10⟨U+00A0⟩000"),
        ("half\ud800", "half⟨U+D800⟩"),
        (" two  spaces ", "␣two ␣spaces␣"),
        ("a\tb", "a⇥b"),
        ("ACME\nTo: Eve", "ACME↵To: Eve"),
        ("carriage\rreturn", "carriage⟨U+000D⟩return"),
        ("⟨U+202E⟩␣↵", "⟨U+27E8⟩U+202E⟩⟨U+2423⟩⟨U+21B5⟩"),
        ("caf\u0065\u0301", "cafe⟨U+0301⟩"),
        ("\u1112\u1161\u11ab", "\u1112⟨U+1161⟩⟨U+11AB⟩"),
        ("\u212aelvin; 5 \u2126\u037e", "⟨U+212A⟩elvin; 5 ⟨U+2126⟩⟨U+037E⟩"),
        ("n\u0336o\u0336t\u0336", "n⟨U+0336⟩o⟨U+0336⟩t⟨U+0336⟩"),
        ("p\u0430ypal", "p⟨U+0430⟩ypal"),
        ("p\u0430\u0308ypal", "p⟨U+0430⟩⟨U+0308⟩ypal"),
        ("1\u09ea00", "1⟨U+09EA⟩00"),
    ],
)
def test_what_can_mislead_is_marked(text: str, shown: str) -> None:
    assert reveal(text) == shown
    assert decode(shown) == text


def test_a_stack_of_combining_characters_does_not_cover_other_lines() -> None:
    stack = "".join(map(chr, range(0x300, 0x320)))
    assert reveal(f"o{stack}") == "o" + "".join(f"⟨U+{ord(each):04X}⟩" for each in stack)


def test_a_message_keeps_its_layout() -> None:
    assert reveal("Two items:\n  - oak\n  - a\u200bsh\t1", layout=True) == "Two items:\n  - oak\n  - a⟨U+200B⟩sh⇥1"


DEFAULT_IGNORABLE = (
    *("ad", "34f", "61c", "115f-1160", "17b4-17b5", "180b-180f", "200b-200f", "202a-202e", "2060-206f", "3164"),
    *("fe00-fe0f", "feff", "ffa0", "fff0-fff8", "1bca0-1bca3", "1d173-1d17a", "e0000-e0fff"),
)


@pytest.mark.parametrize("block", DEFAULT_IGNORABLE)
def test_no_character_that_unicode_lets_vanish_is_left(block: str) -> None:
    first, _, last = block.partition("-")
    for code in range(int(first, 16), int(last or first, 16) + 1):
        assert reveal(f"a{chr(code)}b") == f"a⟨U+{code:04X}⟩b"


@pytest.mark.parametrize("plane", [0, 1, 2, 14])
def test_every_character_is_either_shown_or_marked(plane: int) -> None:
    text = ".".join(map(chr, range(plane << 16, (plane + 1) << 16)))
    shown = reveal(text)
    assert decode(shown) == text
    assert {unicodedata.category(char)[0] for char in shown} <= set("LMNPSZ")
    assert " ." not in shown.replace(" ", "", 1), "of all spaces, only the one of ASCII is shown as such"


@given(ANYTHING)
def test_nothing_is_lost_and_nothing_is_hidden(text: str) -> None:
    for layout in (False, True):
        shown = reveal(text, layout=layout)
        assert decode(shown) == text
        assert unicodedata.is_normalized("NFC", shown), "nothing looks like another text by composing"
        for char in shown:
            assert char in (" \n" if layout else " ") or unicodedata.category(char)[0] not in "CZ"
    assert reveal(text) == " ".join(reveal(text).split(" ")).strip(" ")
    assert "  " not in reveal(text)


@given(ANYTHING, ANYTHING)
def test_two_different_texts_never_look_the_same(one: str, other: str) -> None:
    looks = [unicodedata.normalize("NFC", reveal(text)) for text in (one, other)]
    assert (looks[0] == looks[1]) is (one == other)


@pytest.mark.parametrize("piece", ["\u0301", "a\u0301", "\u202e", "東", " ", "а", "a\u0430", "\n", "⟨", "\u1161"])
def test_long_texts_are_shown_whole_in_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    with cpu_budget(20):
        assert decode(reveal(text)) == text
