from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import idna
import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.client.urls import hosts, in_ascii, look, open_in_browser
from midcall.client.urls.hosts import BadHost, read_host
from midcall.settings.client import URL_CHARACTERS
from scripts.peers import node
from tests.budget import cpu_budget

HOST_TEXT = st.text(st.sampled_from("abz019.-xn@:[]/?#%\\ \u0430\u3002\u202e\uff0e\u05d0é𝐚"), max_size=30)
WEB_LIKE = st.builds("{}://{}{}".format, st.sampled_from(["http", "https", "HTTPS", "ftp"]), HOST_TEXT, st.text())

# --- the parts -------------------------------------------------------------------------------


@given(st.one_of(st.text(), WEB_LIKE, st.builds("https://{}".format, HOST_TEXT)))
def test_the_parts_are_always_the_whole_address_and_nothing_raises(url: str) -> None:
    address = look(url)
    assert "".join(address.parts) == url
    assert address.openable is (not address.why_not)
    assert all(text.isprintable() for text in (*address.doubts, address.why_not))
    if address.openable:
        assert address.domain
        assert address.host.isascii()
        assert address.host.endswith(address.registrable)
        assert url.isprintable()


@pytest.mark.parametrize(
    ("url", "before", "domain"),
    [
        ("https://example.com", "https://", "example.com"),
        ("HTTPS://WWW.EXAMPLE.COM/", "HTTPS://WWW.", "EXAMPLE.COM"),
        ("https://a.b.example.co.uk:8443/x?y#z", "https://a.b.", "example.co.uk"),
        ("https://example.com.evil.org/example.com", "https://example.com.", "evil.org"),
        ("https://example.com./", "https://", "example.com"),
        ("https://example.com。evil.org/", "https://example.com。", "evil.org"),
        ("https://someone.github.io/", "https://", "someone.github.io"),
        ("https://co.uk/", "https://", "co.uk"),
        ("https://shop.例え.jp/", "https://shop.", "例え.jp"),
        ("https://user:word@www.example.com/@evil.org", "https://user:word@www.", "example.com"),
        ("https://example.com?@evil.org", "https://", "example.com"),
        ("http://localhost:8000/", "http://", "localhost"),
        ("http://127.0.0.1:8000/", "http://", "127.0.0.1"),
        ("http://[::1]:8000/", "http://", "[::1]"),
        ("http://app.localhost/", "http://", "app.localhost"),
    ],
)
def test_the_domain_is_the_part_that_someone_registered(url: str, before: str, domain: str) -> None:
    address = look(url)
    assert address.parts == (before, domain, url[len(before) + len(domain) :])
    assert address.openable


def test_names_are_compared_in_plain_letters() -> None:
    address = look("https://Shop.MÜNCHEN.de/")
    assert (address.host, address.registrable) == ("shop.xn--mnchen-3ya.de", "xn--mnchen-3ya.de")
    assert look("https://shop.xn--mnchen-3ya.de/").host == address.host


# Nothing, a dot, a digit, other letters: what browsers make of some characters.
ODD = (
    *"\u00ad\u034f\u180b\u180c\u180d\u180e\u180f\u200b\u2060\ufe0f\ufeff\u115f\u3164\uffa0\U000e0100",
    *"\u3002\uff0e\uff61\u2024\u33c2\u2488\u1e9e",
)
NAMES = [
    name.format(char)
    for char in (*ODD, *(chr(code) for code in range(0xA1, 0x30000, 211) if chr(code).isprintable()))
    for name in ("ev{}il.example", "{}a.example", "\U0001f600{}.example")
]
OPENED = """
const names = JSON.parse(require("fs").readFileSync(0, "utf8"));
const open = (name) => { try { return new URL(`https://${name}/`).hostname } catch { return null } };
console.log(JSON.stringify(names.map(open)));
"""


@pytest.mark.skipif(node() is None, reason="no Node.js: make venv")
def test_a_host_is_the_one_that_a_browser_opens_or_is_not_offered() -> None:
    done = subprocess.run(
        [str(node()), "-e", OPENED], input=json.dumps(NAMES), capture_output=True, text=True, timeout=60, check=True
    )
    looked = [(look(f"https://{name}/"), opened) for name, opened in zip(NAMES, json.loads(done.stdout), strict=True)]
    assert [(it.url, it.host, opened) for it, opened in looked if it.openable and opened not in (it.host, None)] == []
    assert sum(it.openable for it, _ in looked) > len(NAMES) / 2


def test_a_host_that_browsers_read_differently_is_not_offered() -> None:
    """To Chromium a capital ß is a ß, to others it is ss: https://strasse.example is another host."""
    assert not look("https://stra\u1e9ee.example/").openable
    assert look("https://straße.example/").openable


@pytest.mark.parametrize(
    "label",
    [
        "".join(map(chr, range(0x4E00, 0x4E00 + 20_000))),
        "a" + "\u0301\u0316" * 15_000,
        "\U0001f600\U0001f601" * 15_000,
        "a." * 16_000,
        "1" * 30_000,
        "@" * 30_000,
        "\ufdfa" * 250,
    ],
)
@pytest.mark.parametrize(
    "url", ["https://{}.example/", "https://a.example/{}", "https://{}@a.example/", "https://[{}]/"]
)
def test_no_address_takes_long(label: str, url: str) -> None:
    with cpu_budget(2):
        look(url.format(label))


def test_without_the_list_of_suffixes_the_whole_host_is_the_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "publicsuffixlist", None)
    hosts._suffixes.cache_clear()
    try:
        assert look("https://www.example.com/x").parts == ("https://", "www.example.com", "/x")
    finally:
        monkeypatch.undo()
        hosts._suffixes.cache_clear()


# --- doubts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "https://www.example.co.uk/path?q=1#x",
        "https://example.com:443/",
        "https://a-b.example.org/%E2%82%AC",
    ],
)
def test_an_ordinary_address_raises_no_doubt(url: str) -> None:
    assert look(url).doubts == ()


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://xn--pple-43d.com/", 'xn--pple-43d.com is a name in other letters. It reads "аpple.com"'),
        ("https://XN--PPLE-43D.com/", 'It reads "аpple.com"'),
        ("https://xn--999999999.com/", "in code (xn--) that cannot be read"),
        ("https://xn--pple-43d.com/", "mixes letters of different scripts (Cyrillic, Latin)"),
        ("https://pаypal.com/", '"pаypal" mixes letters of different scripts (Cyrillic, Latin)'),
        ("https://pаypal.com/", "Its exact name is xn--pypal-4ve.com"),
        ("https://pаypal.com/", 'can be mistaken for "paypal", but is another name: letter 2 ("а") is Cyrillic.'),
        ("https://аррӏе.com/", 'can be mistaken for "apple", but is another name: all of its letters are Cyrillic.'),
        ("https://gοοgle.com/", 'for "google", but is another name: letters 2 ("ο") and 3 ("ο") are Greek.'),
        ("https://pаypаl-аааааа.com/", 'letters 2 ("а"), 5 ("а"), 8 ("а"), 9 ("а"), 10 ("а") and 3 more are Cyrillic.'),
        ("https://gοоgle.com/", ': letter 2 ("ο") is Greek; letter 3 ("о") is Cyrillic.'),
        ("https://éxample.com/", 'for "example", but is another name: letter 1 ("é") is not one of a to z.'),
        ("https://ｅxample.com/", "not written in plain letters (a to z). Its exact name is example.com."),
        ("https://パイソン.jp/", "Its exact name is xn--eck7byc4g.jp"),
        ("https://bank.com@evil.example/", 'The part before the @ ("bank.com") is not the site. The site is evil'),
        ("https://a@b@evil.example/", 'The part before the @ ("a@b") is not the site'),
        ("https://bank.com%2F@evil.example/", "is not the site"),
        ("https://93.184.216.34/", "only the number 93.184.216.34"),
        ("https://1572395042/", "1572395042 is another way to write the number 93.184.216.34"),
        ("https://0x5db8d822/", "0x5db8d822 is another way to write the number 93.184.216.34"),
        ("https://0135.0270.0330.042/", "0135.0270.0330.042 is another way to write the number 93.184.216.34"),
        ("https://93.184.55330/", "93.184.55330 is another way to write the number 93.184.216.34"),
        ("https://[2606:4700::1111]/", "only the number [2606:4700::1111]"),
        ("https://example.com:8443/", "the unusual port 8443"),
        ("https://example.com:80/", "the unusual port 80"),
        ("http://example.com/", "plain http"),
        ("http://127.0.0.1:8000/", "a program on this computer (127.0.0.1)"),
        ("http://localhost:8000/", "a program on this computer (localhost)"),
        ("http://[::1]/", "a program on this computer ([::1])"),
        ("http://[::ffff:127.0.0.1]/", "on this computer"),
        ("https://[64:ff9b::7f00:1]/", "on this computer"),
        ("https://[2002:7f00:1::]/", "on this computer"),
        ("https://[64:ff9b::c0a8:101]/", "your own network"),
        ("https://224.0.0.1/", "your own network"),
        ("http://2130706433/", "a program on this computer (127.0.0.1)"),
        ("http://0/", "a program on this computer (0.0.0.0)"),
        ("https://192.168.1.1/", "your own network (192.168.1.1)"),
        ("https://169.254.169.254/latest", "your own network"),
        ("https://100.64.0.1/", "your own network"),
        ("https://router/", "your own network (router)"),
        ("https://printer.local/", "your own network (printer.local)"),
        ("https://example.com/שלום", "run from right to left"),
        (f"https://example.com/{'x' * 2000}", "very long (2,020 characters)"),
    ],
)
def test_every_doubtful_kind_is_called_out(url: str, told: str) -> None:
    assert [doubt for doubt in look(url).doubts if told in doubt]
    assert look(url).openable


@pytest.mark.parametrize("url", ["http://localhost:8000/", "http://127.0.0.1:8000/", "http://[::1]:8000/"])
def test_on_this_computer_plain_http_and_any_port_are_usual(url: str) -> None:
    assert len(look(url).doubts) == 1


# --- what is not offered ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "/relative",
        "//example.com",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "ftp://example.com",
        "data:text/html,x",
        "https:example.com",
        "https://",
        "https:///path",
        "https://user@/",
        "https://exa\u202emple.com",
        "https://exam\u200bple.com",
        "https://example.com/\x1b[2J",
        "https://example.com/\n",
        " https://example.com",
        "https://a b",
        "https://example.com\\@evil.org",
        "https://example.com/\u2800\u2800",
        "https://example\u3164.com",
        "https://[::1",
        "https://[::1%25eth0]/",
        "https://[1.2.3.4]/",
        "https://a..b/",
        "https://ex%61mple.com/",
        "https://example.com⁄login.evil.org/",
        "https://1.2.3.4.5/",
        "https://256.1.1.1/",
        "https://09.1.1.1/",
        "https://example.com:99999/",
        "https://example.com:x/",
        "https://example.com:0/",
        "https://exa|mple.com/",
        f"https://{'a' * 300}.com/",
        "https://example.com/" + "x" * URL_CHARACTERS,
    ],
)
def test_an_address_that_hides_where_it_leads_is_not_offered(url: str) -> None:
    address = look(url)
    assert not address.openable
    assert address.why_not.startswith("its address ")
    assert address.parts == (url, "", "")


# --- opening ---------------------------------------------------------------------------------

OPENS = "import sys; from midcall.client.urls import open_in_browser; print(open_in_browser(sys.argv[1]))"


def opens(url: str, **env: str) -> str:
    """What a fresh process says, with nothing of this one's screen and browser."""
    kept = {k: v for k, v in os.environ.items() if k not in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")}
    ran = subprocess.run(
        [sys.executable, "-c", OPENS, url], env=kept | env, capture_output=True, text=True, timeout=30, check=True
    )
    assert ran.stderr == ""
    return ran.stdout.strip()


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these always have a screen")
def test_without_a_screen_nothing_is_opened() -> None:
    assert opens("https://example.com/") == "False"


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_the_browser_of_the_user_gets_exactly_the_address(tmp_path: Path) -> None:
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {seen}\n')
    browser.chmod(0o755)
    url = "https://example.com/?a=$(id)&b='x'%20;c"
    assert opens(url, BROWSER=str(browser)) == "True"
    assert seen.read_text() == f"{url}\n"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="BROWSER is for other systems")
def test_a_missing_browser_is_reported(tmp_path: Path) -> None:
    assert opens("https://example.com/", BROWSER=str(tmp_path / "none"), PATH=str(tmp_path)) == "False"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "--help", "https://a b/"])
def test_only_web_addresses_are_opened(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", "false")
    assert open_in_browser(url) is False


def test_the_length_of_a_host_is_checked_before_it_is_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """To encode a long one takes quadratic time, in some versions of idna."""

    def fail(*_: object, **__: object) -> str:
        pytest.fail("it was encoded")

    monkeypatch.setattr(idna, "uts46_remap", fail)
    with pytest.raises(BadHost):
        read_host("\u4e2d" * 300)
    assert not look("https://" + "\u4e2d" * 300).openable


@pytest.mark.parametrize(
    ("url", "copied"),
    [
        ("https://example.com/a?b=%20&c=[1]~_-.#d", "https://example.com/a?b=%20&c=[1]~_-.#d"),
        ("https://münchen.de:8443/✓ü", "https://xn--mnchen-3ya.de:8443/%E2%9C%93%C3%BC"),
        ("https://ü@münchen.de/", "https://%C3%BC@xn--mnchen-3ya.de/"),
        ("http://[::1]/", "http://[::1]/"),
    ],
)
def test_an_address_to_copy_is_the_same_one_in_ascii(url: str, copied: str) -> None:
    assert in_ascii(url) == copied
    assert look(copied).host == look(url).host
