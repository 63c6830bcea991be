"""A page shows everything that the user agrees to: nothing is cut, and nothing is hidden."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.portal.oauth import Provider
from midcall.portal.pages.interaction_kinds import Approve
from midcall.stores.interactions import Interaction, Kind
from tests.core.test_text import ANYTHING, decode
from tests.portal.sites import ADA, site, visiting

HIDDEN = [
    "ACME\u202e",
    "DE89\u200b3704",
    " leading",
    "trailing ",
    "two  spaces",
    "tab\tbed",
    "ACME\nAmount: 4 EUR",
    "\x1b[2Jgone",
    "p\u0430ypal",
    "caf\u0065\u0301",
    "a\U000e0041\ufe0f\u180e\u00ad\u2066\x85",
    "⟨U+202E⟩",
    '<b>"&amp;"</b>',
    "1\u05d0",
    "\u05d01",
    "z" + "\u0301" * 50,
    "x" * 30_000 + "\u200b",
]


class _Reader(HTMLParser):
    """The texts of a page, by the tags around them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: dict[str, list[str]] = {"th": [], "td": [], "blockquote": [], "code": [], "label": [], "h1": []}
        self._inside: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.found:
            self._inside.append(tag)
            self.found[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.found:
            self._inside.remove(tag)

    def handle_data(self, data: str) -> None:
        for tag in self._inside:
            self.found[tag][-1] += data


def read(html: str) -> dict[str, list[str]]:
    return _Reader(html).found


def decode_lines(shown: str) -> str:
    """The same for a value that is shown on several lines, each with its sign."""
    return decode(shown.replace("↵\n", "↵"))


@pytest.mark.parametrize("value", HIDDEN)
async def test_a_value_is_approved_with_every_character_of_it_shown(value: str) -> None:
    at = site()
    id = await at.begin("approve", details={"To": value, value: "label"})
    async with visiting(at) as ada:
        page = read((await ada.open(id)).text)
    assert [decode_lines(shown) for shown in page["td"]] == [value, "label"]
    assert [decode(shown) for shown in page["th"]] == ["To", value]


async def test_a_page_says_that_something_is_marked_if_something_is() -> None:
    at = site()
    async with visiting(at) as ada:
        for details, says in (({"To": "ACME"}, False), ({"To": "AC\u200bME"}, True), ({"T\u200bo": "ACME"}, True)):
            page = await ada.open(await at.begin("approve", details=details))
            assert ("Highlighted characters" in page.text) is says


@pytest.mark.parametrize("kind", ["approve", "secret", "authorize", "form"])
async def test_a_message_is_never_cut(kind: Kind) -> None:
    at = site(providers=[_provider("acme", "Acme")])
    said = "Pay 1 EUR." + "\n" * 300 + "x" * 40_000 + "\u202e And 9,000 EUR more."
    id = await at.begin(kind, message=said)
    async with visiting(at) as ada:
        [shown] = read((await ada.open(id)).text)["blockquote"]
    assert decode(shown) == said


@pytest.mark.parametrize("name", ["git\u200bhub", "long" * 200])
async def test_a_consent_page_shows_whole_names_and_scopes(name: str) -> None:
    at = site(providers=[_provider("acme", name)])
    async with visiting(at) as ada:
        secret = read((await ada.open(await at.begin("secret", name=name))).text)
        authorize = read((await ada.open(await at.begin("authorize", scopes=["read", name]))).text)
    assert decode(secret["h1"][0]) == f"Enter “{name}” for Travel desk"
    assert decode(secret["label"][0]) == name
    assert decode(authorize["h1"][0]) == f"Connect {name} to Travel desk"
    assert list(map(decode, authorize["code"])) == ["read", name]


def _provider(name: str, title: str) -> Provider:
    at = "https://acme.example"
    urls = {"authorize_url": f"{at}/authorize", "token_url": f"{at}/token"}
    return Provider(name, **urls, client_id="us", client_secret="s" * 20, title=title)


VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.sampled_from(["Yes", "No", "(nothing)", '"Yes"', "", "(empty text)"]), ANYTHING
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=6,
)


def rows(value: Any) -> list[Any]:
    page = Interaction("approve", ADA, "Travel desk", "Chat", "Pay", 1.0, 2.0, {"details": {"Value": value}})
    return Approve().context(page, None)["rows"]


@given(VALUES, VALUES)
def test_two_different_values_are_never_shown_alike(one: Any, other: Any) -> None:
    assert (rows(one) == rows(other)) is (json.dumps(one) == json.dumps(other))


@pytest.mark.parametrize("value", [0.1 + 0.2, 1e22, -0.0, 2**200, 12345678901234567.0, 1e-7])
def test_a_number_is_shown_with_every_digit(value: float) -> None:
    [(_, shown, _)] = rows(value)
    assert type(value)(shown) == value
    assert rows([value]) != rows([value + 1 if isinstance(value, int) else value * 1.0000001 + 1e-300])
