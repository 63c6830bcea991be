"""Where addresses are."""

from __future__ import annotations

import pytest

from midcall.core.urls import network_of


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
