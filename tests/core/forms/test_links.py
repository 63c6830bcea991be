from __future__ import annotations

import pytest

from midcall.core.forms.fields import Choice, Choices, Flag, Text
from midcall.core.forms.form import Form
from midcall.core.urls import find_links


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("See https://example.com/a?b=c#d.", ["https://example.com/a?b=c#d"]),
        ("(HTTP://EXAMPLE.COM)", ["HTTP://EXAMPLE.COM"]),
        ("https://en.wikipedia.org/wiki/Oslo_(city), or not", ["https://en.wikipedia.org/wiki/Oslo_(city)"]),
        ("app link: myapp://open/1!", ["myapp://open/1"]),
        ("go to www.example.com, now", ["www.example.com"]),
        ("at example.com/pay?x or example.co.uk:8080/a", ["example.com/pay?x", "example.co.uk:8080/a"]),
        ("write to mailto:a@example.com", ["mailto:a@example.com"]),
        ("[here](https://a.example/x) and [there](/login)", ["https://a.example/x", "/login"]),
        ("<https://a.example> <a href='https://b.example/x'>b</a>", ["https://a.example", "https://b.example/x"]),
        ("https://a.example https://a.example", ["https://a.example"]),
        ("the end.https://a.example", ["end.https://a.example"]),
    ],
)
def test_what_a_client_may_make_clickable_is_found(text: str, links: list[str]) -> None:
    assert list(find_links(text)) == links


@pytest.mark.parametrize(
    "text",
    [
        "How many days?",
        "and/or, 10:30, 1.5/2, e.g. this, node.js, main.py, v1.2/3",
        "Your address, such as name@example.com",
        "Time: now. Note:this",
        "Booking.com or Hotels.com?",
        "",
    ],
)
def test_plain_text_has_no_links(text: str) -> None:
    assert find_links(text) == ()


@pytest.mark.parametrize("piece", ["a.", "a-", "a.a-", "www.", "a:", "a+"])
def test_no_text_is_searched_for_longer_than_it_is(piece: str) -> None:
    assert find_links(f"{piece * 100_000} https://a.example")[-1:] == ("https://a.example",)


def test_all_texts_are_searched_in_order_and_missing_ones_passed_over() -> None:
    assert find_links("https://b.example", None, "https://a.example") == ("https://b.example", "https://a.example")


def test_a_form_gives_every_text_that_a_client_shows() -> None:
    form = Form(
        Text("name", title="Your name", description="In full", default="https://not.shown"),
        Flag("news"),
        Choice("seat", {"w": "Window"}),
        Choices("days", ["mon"]),
    )
    assert form.texts() == ("Your name", "In full", "news", "seat", "Window", "days", "mon")
