from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midcall.core.forms.formats import FORMATS, is_date, is_date_time, is_email, is_uri

FITTING = {
    "email": """name@example.com a.b+c@x.org te~st@a-b.co x@localhost "joe..x"@x.org
        me@[127.0.0.1] me@[IPv6:::1] 1@2.3""",
    "uri": """https://example.com http://example.com:8080/a/b?c=d#e https://user:pw@x.org/ ftp://x.org/f
        urn:isbn:0451450523 mailto:a@b.c tel:+49-30-1 file:///etc/hosts http://[::1]:80/ http://[v1.a:b]/ http://a/%20
        x-app+1.0:go https://xn--mller-kva.de/?q=%C3%BC news:comp.lang""",
    "date": "2026-07-28 2024-02-29 0001-01-01 9999-12-31",
    "date-time": """2026-07-28T09:30:00Z 2026-07-28t09:30:00z 2026-07-28T09:30:00.123456789+02:00
        2024-02-29T00:00:00-23:59 1998-12-31T23:59:60Z 1998-12-31T15:59:60.5-08:00 1999-01-01T00:59:60+01:00""",
}
UNFITTING = {
    "email": """name example.com @x.org a@ a@b@c .a@x.org a.@x.org a..b@x.org a@-x.org a@x-.org a@x..org a@.x a@x.
        a@x_y.org é@x.org a@é.org me@[1.2.3] me@[IPv6:z] me@[::1] <a@x.org> a@x.org, "a@x.org """.strip(),
    "uri": """example.com /a/b //x.org/a ?q #f http:// http: https:///a http://x.org:port/ http://x.org:99999/ 1x:a
        http://a/%2 http://a/%zz http://a/<b> http://ü.de http://[::g]/ http://[::1%25en0]/ http://a\\b http://[::1
        :a a|b:c foo: http://x.org/{a} http://a@b@c/""",
    "date": "2023-02-29 2026-7-28 2026-13-01 2026-00-10 20260728 2026-W01-1 0000-01-01 ２０２６-07-28 2026-07-28T",
    "date-time": """2026-07-28 2026-07-28T09:30:00 2026-07-28T09:30Z 2026-07-28T24:00:00Z 2026-07-28T09:60:00Z
        2026-07-28T09:30:61Z 2026-07-28T09:30:60Z 2026-02-30T09:30:00Z 2026-07-28T09:30:00+24:00 2026-07-28T09:30:00.Z
        2026-07-28T09:30:00+0200 2026-07-28_09:30:00Z 09:30:00Z 2026-07-28T09:30:00+02:60 1998-12-31T23:59:60+01:00""",
}


def cases(table: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (format, text) for format, texts in table.items() for text in [*texts.split(), *EXTRA[table is FITTING][format]]
    ]


EXTRA: dict[bool, dict[str, list[str]]] = {
    True: {
        "email": ['"a b"@x.org', '"a\\ b"@x.org', "a" * 64 + "@x.org"],
        "uri": ["http://a:" + "0" * 5000 + "80/"],
        "date": [],
        "date-time": [],
    },
    False: {
        "email": ["", "a b@x.org", "a@x.org\n", "a" * 65 + "@x.org", "a@" + "b" * 64 + ".org", "a@x .org"],
        "uri": [
            "",
            "http://a b",
            "https://a:" + "1" * 5000,
            "https://a:100000",
            "https://example.com\n",
            " https://example.com",
            "http://a/\t",
        ],
        "date": ["", "2026-07-28\n", " 2026-07-28"],
        "date-time": ["", "2026-07-28T09:30:00Z\n", "2026-07-28 09:30:00Z", "2026-07-28T"],
    },
}


@pytest.mark.parametrize(("format", "text"), cases(FITTING))
def test_a_text_of_the_format_is_taken(format: str, text: str) -> None:
    assert FORMATS[format](text)  # type: ignore[index]


@pytest.mark.parametrize(("format", "text"), cases(UNFITTING))
def test_a_text_that_is_not_of_the_format_is_refused(format: str, text: str) -> None:
    assert not FORMATS[format](text)  # type: ignore[index]


@given(st.dates())
def test_every_date_that_python_writes_is_a_date(day: date) -> None:
    assert is_date(day.isoformat())


zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.datetimes(timezones=zones))
def test_every_moment_with_an_offset_that_python_writes_is_a_date_time(moment: datetime) -> None:
    assert is_date_time(moment.isoformat())
    assert not is_date_time(moment.replace(tzinfo=None).isoformat())


@settings(max_examples=200)
@given(st.text(alphabet="0129-:TtZz+. ", max_size=26))
def test_a_date_time_that_we_take_python_reads_or_it_is_a_leap_second(text: str) -> None:
    if is_date_time(text):
        assert ":60" in text or datetime.fromisoformat(text.upper()).tzinfo is not None


@given(st.emails())
def test_every_email_address_that_the_rfcs_allow_is_one(address: str) -> None:
    assert is_email(address)


@settings(max_examples=200)
@given(st.text(max_size=20))
def test_any_text_gets_a_verdict(text: str) -> None:
    for prefix in ("", "http://", "a@", "2026-07-28T"):
        assert all(isinstance(fits(prefix + text), bool) for fits in FORMATS.values())


def test_a_long_text_gets_its_verdict_quickly() -> None:
    assert not is_email("a." * 40_000 + "@x")
    assert not is_uri("http://" + "a%20" * 20_000 + " ")
    assert not is_uri("a:" + "@" * 80_000 + " ")
