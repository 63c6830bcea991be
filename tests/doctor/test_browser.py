"""The doctor and the user's browser: what it advises must be true where the server runs, and with the portal it has."""

from __future__ import annotations

from typing import Any

import pytest

from midcall.doctor.inspection import Finding, Surroundings
from midcall.portal.app import Portal
from midcall.stores.memory import Memory
from tests.doctor.test_checks import KEYS, by_name, look
from tests.serving import free_port

CONTAINER, SSH, NO_DISPLAY = Surroundings(container=True), Surroundings(ssh=True), Surroundings(display=False)
FAR = [CONTAINER, SSH, NO_DISPLAY]
MOUNTED = "http://127.0.0.1:9/midcall"


async def found_in(where: Surroundings, portal: Portal | None) -> dict[str, Finding]:
    return by_name((await look(where, keys=KEYS, store=Memory(), portal=portal)).installation)


async def somebody(request: Any) -> str | None:
    return None


# --- in a container --------------------------------------------------------------------------------


async def test_in_a_container_a_local_portal_is_not_advised_to_publish_a_port() -> None:
    advice = (await found_in(CONTAINER, Portal()))["browser"].advice
    assert "-p) does not help" in advice
    assert "--network=host --user" in advice
    assert "MIDCALL_PORTAL_URL" in advice


async def test_in_a_container_a_portal_that_is_mounted_is_not_said_to_need_mounting() -> None:
    advice = (await found_in(CONTAINER, Portal(MOUNTED)))["browser"].advice
    assert "-p 127.0.0.1:9:9" in advice
    assert "identity=" in advice  # a visitor from outside of the container is not its user
    assert "mount" not in advice.lower()


async def test_in_a_container_a_mounted_portal_with_a_sign_in_needs_only_its_port() -> None:
    advice = (await found_in(CONTAINER, Portal(MOUNTED, identity=somebody)))["browser"].advice
    assert "-p 127.0.0.1:9:9" in advice
    assert "identity=" not in advice


# --- over SSH, or without a display ----------------------------------------------------------------


@pytest.mark.parametrize("where", [SSH, NO_DISPLAY])
async def test_a_port_that_is_another_one_at_each_start_must_stay_before_it_is_forwarded(where: Surroundings) -> None:
    advice = (await found_in(where, Portal()))["browser"].advice
    assert "MIDCALL_PORTAL_PORT=8765" in advice
    assert "ssh -L 8765:127.0.0.1:8765 HOST" in advice


@pytest.mark.parametrize("where", [SSH, NO_DISPLAY])
async def test_a_port_that_was_set_is_the_one_to_forward(where: Surroundings) -> None:
    port = free_port()
    advice = (await found_in(where, Portal(port=port)))["browser"].advice
    assert f"ssh -L {port}:127.0.0.1:{port} HOST" in advice
    assert "MIDCALL_PORTAL_PORT" not in advice


@pytest.mark.parametrize("where", [SSH, NO_DISPLAY])
async def test_the_port_of_a_mounted_portal_is_the_one_to_forward(where: Surroundings) -> None:
    advice = (await found_in(where, Portal(MOUNTED)))["browser"].advice
    assert "ssh -L 9:127.0.0.1:9 HOST" in advice
    assert "MIDCALL_PORTAL_PORT" not in advice


# --- anywhere --------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", FAR)
async def test_a_portal_with_an_address_that_users_reach_needs_no_advice_about_browsers(where: Surroundings) -> None:
    found = await found_in(where, Portal("https://mcp.invalid/midcall"))
    assert "browser" not in found
    assert "mount" not in found["portal"].advice.lower()


@pytest.mark.parametrize("where", FAR)
async def test_without_a_portal_one_on_loopback_is_not_advised_if_the_browser_is_far(where: Surroundings) -> None:
    advice = (await found_in(where, None))["portal"].advice
    assert "MIDCALL_PORTAL_URL" in advice
    assert "where the user's browser is not" in advice
    assert ("ssh -L" in advice) is not where.container


async def test_without_a_portal_one_on_loopback_is_advised_if_the_user_is_at_this_machine() -> None:
    advice = (await found_in(Surroundings(), None))["portal"].advice
    assert "portal=Portal()) for the user of this machine" in advice


@pytest.mark.parametrize("where", [*FAR, Surroundings()])
async def test_a_browser_counts_as_far_only_with_evidence(where: Surroundings) -> None:
    assert ("browser" in await found_in(where, Portal())) is (where != Surroundings())
