"""The audit trail of a portal: who was refused and why, and what users delete."""

from __future__ import annotations

import time
from typing import Any

import pytest

from midcall.portal.identity import Loopback
from midcall.settings.portal import POST_BYTES
from midcall.settings.web import FAILED_OPENS
from midcall.stores.interactions import Kind, short
from midcall.web import peer
from tests.auditing import Trail
from tests.portal.pages.test_account import delete, returned, with_acme, with_secrets
from tests.portal.sites import ADA, BOB, controls_of, served, site, visiting
from tests.portal.test_attacks import FILLED, KINDS

FOREIGN = {"origin": "https://evil.example"}


@pytest.mark.parametrize("kind", KINDS)
async def test_another_user_at_a_page_is_in_the_trail_with_both_names(kind: Kind) -> None:
    trail = Trail()
    at = site(audit=trail.audit)
    id = await at.begin(kind)
    async with visiting(at, BOB) as bob:
        await bob.open(id)
        await bob.post(f"/i/{id}", {**FILLED, "do": "accept"})
    events = await trail.events()
    assert [(event.name, event.outcome, event.user) for event in events] == [("page.refused", "wrong_user", BOB)] * 2
    assert {(event.page, event.details["owner"], event.details["kind"]) for event in events} == {(short(id), ADA, kind)}
    assert {event.server for event in events} == {"Travel desk"}


async def test_a_post_that_is_not_from_our_page_is_in_the_trail() -> None:
    trail = Trail()
    at = site(audit=trail.audit)
    id = await at.begin()
    async with visiting(at) as ada:
        controls = {**await ada.controls(id), **FILLED, "do": "accept"}
        await ada.post(f"/i/{id}", {**controls, "token": "forged"})
        await ada.post(f"/i/{id}", controls, headers=FOREIGN)
        await ada.post(
            "/mine", {**dict(controls_of((await ada.get("/mine")).text)), "do": "delete-all"}, headers=FOREIGN
        )
        await ada.post(f"/i/{id}", {"f0": "x" * (POST_BYTES + 1)})
        await ada.get("/mine", headers={"host": "evil.example"})
        await ada.post(f"/i/{id}", controls)
        await ada.post(f"/i/{id}", controls)
    assert await trail.told() == [
        *["page.refused page not_from_page"] * 3,
        "page.refused page too_large",
        "page.refused page wrong_host",
        "page.answered page",
        "page.refused page already",
    ]
    assert [event.user for event in await trail.events()] == [ADA] * 4 + [""] + [ADA] * 2


async def test_guessing_ids_is_in_the_trail_and_so_is_its_limit() -> None:
    trail = Trail()
    at = site(audit=trail.audit)
    async with visiting(at, None) as guesser:
        for number in range(FAILED_OPENS + 2):
            await guesser.open(f"a-guess-that-is-long-enough-{number}")
    outcomes = [event.outcome for event in await trail.events("page.refused")]
    assert outcomes == ["unknown"] * FAILED_OPENS + ["rate"] * 2


async def test_an_answer_that_comes_too_late_or_for_other_details_is_in_the_trail() -> None:
    trail = Trail()
    now = [time.time()]
    at = site(audit=trail.audit, clock=lambda: now[0])
    id = await at.begin("approve")
    async with visiting(at) as ada:
        controls = {**await ada.controls(id), "do": "accept"}
        await ada.post(f"/i/{id}", {**controls, "digest": "of other details"})
        now[0] += 10_000
        await ada.post(f"/i/{id}", controls)
    assert await trail.told() == ["page.refused page details_changed", "page.refused page expired"]
    assert {event.user for event in await trail.events()} == {ADA}


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize("kind", KINDS)
async def test_a_decline_on_a_page_is_in_the_trail(kind: Kind, action: str) -> None:
    trail = Trail()
    at = site(audit=trail.audit)
    id = await at.begin(kind)
    async with visiting(at) as ada:
        await ada.press(id, action)
    [event] = await trail.events()
    assert (event.name, event.outcome) == ("approval.declined" if kind == "approve" else "page.declined", action)
    assert event.user == ADA


async def test_another_user_of_this_machine_is_in_the_trail(monkeypatch: pytest.MonkeyPatch) -> None:
    trail = Trail()
    async with served(identity=Loopback(), audit=trail.audit) as at:
        id = await at.begin("secret", owner="local:0")
        monkeypatch.setattr(peer, "is_own", lambda request: False)
        async with visiting(at) as other:
            for path, status in ((f"/i/{id}", 403), ("/mine", 403), ("/callback/acme?code=x&state=y", 401)):
                page = await other.get(path, headers={"host": at.portal.url.split("/")[2]})
                assert page.status_code == status
    assert await trail.told() == ["page.refused page wrong_user"] * 3


async def test_what_a_user_deletes_is_in_the_trail() -> None:
    trail = Trail()
    at = site(audit=trail.audit)
    await with_secrets(at)
    async with visiting(at) as ada:
        await delete(ada, do="delete-all")
    events = await trail.events()
    assert [(event.name, event.user, event.details["name"]) for event in events] == [
        ("secret.deleted", ADA, "github"),
        ("secret.deleted", ADA, "jira <b>"),
    ]


async def test_accounts_are_connected_and_disconnected_by_their_user() -> None:
    trail = Trail()
    async with with_acme(audit=trail.audit) as (at, _):
        async with visiting(at) as ada:
            back = await returned(ada, await at.begin("authorize"))
            await ada.http.get(back.replace("state=", "state=x"))
            await ada.http.get(back)
            await ada.http.get(back)
            await delete(ada, do="delete", name="oauth:acme")
    events = await trail.events()
    assert [(event.name, event.outcome) for event in events] == [
        ("account.refused", "CallbackRefused"),
        ("account.connected", ""),
        ("account.refused", "CallbackRefused"),
        ("account.disconnected", ""),
    ]
    assert {event.user for event in events} == {ADA}


async def test_a_page_that_fails_is_in_the_trail(monkeypatch: pytest.MonkeyPatch) -> None:
    trail = Trail()
    at = site(audit=trail.audit)
    id = await at.begin("secret")

    async def broken(*_: Any, **__: Any) -> None:
        raise ValueError("a broken vault")

    monkeypatch.setattr(at.portal.vault, "keep", broken)
    async with visiting(at) as ada:
        assert (await ada.press(id, "accept", {"s0": "swordfish"})).status_code == 500
    [event] = await trail.events()
    assert (event.name, event.outcome, event.page) == ("page.refused", "ValueError", short(id))
