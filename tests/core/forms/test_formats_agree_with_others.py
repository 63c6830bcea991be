"""Our formats against libraries that know nothing of us. Intended differences are listed here."""

from __future__ import annotations

import re

from email_validator import EmailNotValidError, validate_email
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rfc3339_validator import validate_rfc3339
from rfc3986_validator import validate_rfc3986

from midcall.core.forms.formats import is_date, is_date_time, is_email, is_uri

thorough = settings(max_examples=300)


def near(pattern: str) -> st.SearchStrategy[str]:
    """Texts that look like this, and such with one character changed, lost or doubled."""
    like = st.from_regex(pattern, fullmatch=True)
    return st.one_of(
        like, st.builds(_spoilt, like, st.integers(0, 40), st.sampled_from(["", "-", ":", "9", "%", "[", "é"]))
    )


def _spoilt(text: str, at: int, by: str) -> str:
    at %= max(1, len(text))
    return text[:at] + by + text[at + 1 :]


DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
TIME = r"[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,9})?(Z|z|[+-][0-2][0-9]:[0-6][0-9])?"
HOST = r"([a-z:]{1,5}@)?([a-z0-9.-]{0,20}|\[[0-9a-f:]{2,20}\])(:[0-9]{0,6})?"
URI = rf"[a-z][a-z0-9+.-]{{0,9}}:(//{HOST})?(/?[a-z0-9%?#/@:.-]{{0,20}})"
EMAIL = r"[a-zA-Z0-9.+_'-]{1,20}@[a-zA-Z0-9.-]{1,30}"


@thorough
@given(near(DATE))
@example("2024-02-29")
@example("2023-02-29")
@example("20240229")
def test_a_date_is_what_jsonschema_takes_for_one(text: str) -> None:
    checker = Draft202012Validator.FORMAT_CHECKER
    assert is_date(text) == checker.conforms(text, "date")


@thorough
@given(near(f"{DATE}[Tt ]{TIME}"))
@example("2026-07-28T09:30:00Z")
@example("2026-07-28t09:30:00z")
@example("2026-07-28 09:30:00Z")
def test_a_date_time_is_what_rfc3339_validator_takes_for_one(text: str) -> None:
    # It knows no leap second, no year 0, and takes no small letters; RFC 3339 has leap seconds and small letters.
    if re.search(r":60(\.|[Zz+-])", text) or text.startswith("0000"):
        return
    assert is_date_time(text) == validate_rfc3339(text.upper())


@thorough
@given(near(URI))
@example("https://example.com/a?b#c")
@example("http://[::1]:8000/")
@example("mailto:a@example.com")
@example("https://exa mple.com")
def test_what_we_take_for_a_uri_is_one_for_rfc3986_validator(text: str) -> None:
    if is_uri(text):
        assert validate_rfc3986(text)


@thorough
@given(near(URI))
@example("urn:isbn:0451450523")
@example("ftp://ftp.is.co.za/rfc/rfc1808.txt")
@example("http://user:pass@example.com:8080/p;q=1?x=%20#f")
def test_a_uri_for_rfc3986_validator_is_one_for_us_but_for_what_nobody_can_visit(text: str) -> None:
    if validate_rfc3986(text) and not is_uri(text):
        no_place = re.fullmatch(r"[a-z][a-z0-9+.-]*:(//)?([?#].*)?", text)
        no_host = re.match(r"(https?|wss?|ftp):(?!//[^/?#:@])", text) or re.match(
            r"(https?|wss?|ftp)://[^/?#]*@(:|[/?#]|$)", text
        )
        no_port = (port := re.search(r":([0-9]+)(?=[/?#]|$)", text)) and int(port[1]) > 65535
        assert no_place or no_host or no_port, text


@thorough
@given(near(EMAIL))
@example("name@example.com")
@example("o'neil+tag@sub.example.org")
@example("a..b@example.com")
@example("name@-example.com")
def test_an_address_for_email_validator_is_one_for_us(text: str) -> None:
    try:
        valid = validate_email(text, check_deliverability=False, test_environment=True)
    except EmailNotValidError:
        return
    if valid.ascii_email == text:
        assert is_email(text)
