"""Settings by environment variable, for people who run a server that someone else wrote."""

from __future__ import annotations

from typing import Any

import pytest

from midcall import InstallError
from midcall.portal.app import Portal
from midcall.server.installation import installations
from tests.kinds import server_with


async def tool() -> str:
    return ""


def installed(**options: Any) -> Any:
    server = server_with(tool, **options)
    [found] = [each for each in installations if each.server is server._lowlevel_server]
    return found


def test_zero_seconds_are_not_the_default_of_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_PORTAL_TTL", "0")
    with pytest.raises(InstallError, match="MIDCALL_PORTAL_TTL='0' must be a number above 0"):
        Portal()


def test_the_code_takes_precedence_even_with_the_default_value(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEARTBEAT", "DOUBT", "STATE_TTL", "MAX_ROUNDS", "PORTAL_TTL", "PORTAL_PORT"):
        monkeypatch.setenv(f"MIDCALL_{name}", "77")
    monkeypatch.setenv("MIDCALL_PORTAL_HOST", "localhost")
    found = installed(heartbeat=10, doubt=0, state_ttl=3600, max_rounds=10)
    assert (found.heartbeat, found.doubt, found.state_ttl, found.max_rounds) == (10, 0, 3600, 10)
    assert installed(max_rounds=None).max_rounds is None
    portal = Portal(ttl=3600, host="127.0.0.1", port=0)
    assert (portal.ttl, portal._listen) == (3600, ("127.0.0.1", 0))  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("value", ["2.5", "0", "1e99", "١"])
def test_rounds_are_counted_in_whole_numbers(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MIDCALL_MAX_ROUNDS", value)
    with pytest.raises(InstallError, match=f"MIDCALL_MAX_ROUNDS='{value}' must be a whole number from 1 on"):
        installed()


def test_a_portals_url_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_PORTAL_URL", "https://mcp.example.com/midcall")
    monkeypatch.setenv("MIDCALL_PORTAL_TTL", "60")
    portal = Portal()
    assert (portal.url, portal.ttl) == ("https://mcp.example.com/midcall", 60.0)
    assert Portal("https://other.example.com").url == "https://other.example.com"


async def test_a_local_portals_port_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDCALL_PORTAL_HOST", "localhost")
    monkeypatch.setenv("MIDCALL_PORTAL_PORT", "1")
    assert Portal()._listen == ("localhost", 1)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("value", ["inf", "nan", "80.5", "70000", "-1", "80a"])
def test_an_invalid_port_is_reported_with_its_variable(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MIDCALL_PORTAL_PORT", value)
    with pytest.raises(InstallError, match=f"MIDCALL_PORTAL_PORT='{value}' must be a whole number from 0 to 65535"):
        Portal()
