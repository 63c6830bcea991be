"""Where addresses are."""

from __future__ import annotations

from urllib.parse import SplitResult

import pytest

from midcall.core.urls import BadUrl, network_of, parse_url


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("8.8.8.8", "public"),
        ("2606:4700::1111", "public"),
        ("127.0.0.1", "this machine"),
        ("127.9.9.9", "this machine"),
        ("0.0.0.0", "this machine"),
        ("::1", "this machine"),
        ("::", "this machine"),
        ("::ffff:127.0.0.1", "this machine"),
        ("64:ff9b::7f00:1", "this machine"),
        ("2002:7f00:1::", "this machine"),
        ("169.254.169.254", "link-local"),
        ("::ffff:169.254.169.254", "link-local"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("fd00:ec2::254", "link-local"),
        ("100.100.100.200", "link-local"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("fc00::1", "private"),
        ("::ffff:10.0.0.1", "private"),
        ("224.0.0.1", "private"),
        ("255.255.255.255", "private"),
    ],
)
def test_an_ipv6_address_that_embeds_an_ipv4_address_is_in_its_network(address: str, network: str) -> None:
    assert network_of(address) == network


def test_the_length_of_a_host_in_other_letters_is_checked_before_it_is_normalized(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`urlsplit` normalizes it, which takes quadratic time."""

    def fail(url: str) -> SplitResult:
        pytest.fail("it was split")

    monkeypatch.setattr("midcall.core.urls.urlsplit", fail)
    for odd in ("https://", "https:/\t/", "https:\n//a@"):
        with pytest.raises(BadUrl, match="too long"):
            parse_url(odd + "\u0301\u0316" * 501)
