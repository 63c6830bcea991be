"""The four kinds of page, without JavaScript: what they show, what they accept, what reaches the tool."""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from midcall.core.caller import Caller, ServerIdentity
from midcall.errors import StoreError
from midcall.portal.pages.rendering import PageCache, script
from midcall.stores.interactions import Kind
from midcall.stores.memory import Memory
from tests.portal.sites import ADA, BASE, BOB, KEY, controls_of, site, visiting

KINDS: list[Kind] = ["secret", "authorize", "approve", "form"]
FILLED = {"f0": "Ada Lovelace", "f1": "4", "f2": "1"}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_page_names_the_server_the_client_the_purpose_and_the_time(kind: Kind) -> None:
    at = site()
    id = await at.begin(kind)
    async with visiting(at, **{"x-test-name": "ada@example.com"}) as ada:
        page = await ada.open(id)
    assert page.status_code == 200
    for said in (
        "Travel desk",
        "Chat Client",
        "So that I can look at your repositories.",
        "Open until",
        "minutes left",
    ):
        assert said in page.text
    assert "Signed in as ada@example.com" in page.text
    for button in ("accept", "decline", "cancel"):
        assert f'value="{button}"' in page.text


@pytest.mark.parametrize("kind", KINDS)
async def test_a_page_writes_the_names_of_the_server_and_the_client_as_they_are(kind: Kind) -> None:
    at = site()
    id = await at.begin(kind, server="tRavel", client="mCp")
    async with visiting(at) as ada:
        page = await ada.open(id)
    text = re.sub(r"[\w-]{20,}", "", page.text)  # without its random tokens, which may hold any letters
    assert text.count("mCp") == text.lower().count("mcp") > 0
    assert text.count("tRavel") == text.lower().count("travel") - text.count("Travel desk") > 0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_decline_and_cancel_reach_the_tool(kind: Kind, action: str) -> None:
    at = site()
    id = await at.begin(kind)
    async with visiting(at) as ada:
        done = await ada.press(id, action)
    assert done.status_code == 200
    assert ("You declined" if action == "decline" else "Cancelled") in done.text
    assert await at.action(id) == action
    assert at.finished == [id]


# --- secrets ---------------------------------------------------------------------------------


async def test_a_secret_goes_to_the_vault_and_nowhere_else() -> None:
    at = site()
    id = await at.begin("secret")
    async with visiting(at) as ada:
        page = await ada.open(id)
        assert 'type="password"' in page.text
        assert 'autocomplete="off"' in page.text
        done = await ada.press(id, "accept", {"s0": "ghp_swordfish"})
    assert done.status_code == 200
    assert "Saved" in done.text
    assert "swordfish" not in done.text
    assert await at.portal.vault.get(ADA, "github") == {"value": "ghp_swordfish"}
    ending = await at.ending(id)
    assert ending is not None
    assert (ending.action, ending.content) == ("accept", {"checked": False})
    assert "swordfish" not in str(await at.store.values(ADA))


READERS = {
    ServerIdentity("Travel desk"): "only Travel desk",
    ServerIdentity("desk <b>", place="/srv/desk <b>.py"): "only desk &lt;b&gt; <span>/srv/desk &lt;b&gt;.py</span>",
    ServerIdentity("desk", "team <b>", "/srv/desk.py"): "all servers of the namespace “team &lt;b&gt;”",
}


@pytest.mark.parametrize("identity", READERS, ids=["name", "file", "namespace"])
@pytest.mark.parametrize(("kind", "who"), [("secret", "Can be read by"), ("authorize", "Can be used by")])
async def test_a_page_says_which_server_will_be_able_to_read_what_is_entered(
    kind: Kind, who: str, identity: ServerIdentity
) -> None:
    at = site(None, identity=None, server=identity)
    me = at.portal.owner_of(Caller())
    await at.portal.start()
    async with httpx2.AsyncClient(base_url=at.portal.url) as http:
        page = (await http.get(f"/i/{await at.begin(kind, owner=me)}")).text
        mine = (await http.get("/mine")).text
        await at.portal.vault.keep(me, "github", {"value": "x"}, now=1.0)
        listed = (await http.get("/mine")).text
    await at.portal.close()
    assert f"<dt>{who}</dt><dd>{READERS[identity]}</dd>" in page
    assert ("It goes only to" in page) is (kind == "secret" and not identity.namespace)
    assert "Nothing is stored." in mine
    assert (identity.namespace or identity.place or identity.name).replace("<b>", "&lt;b&gt;") in listed


async def test_a_secret_can_have_several_fields() -> None:
    at = site()
    fields = [{"name": "user", "title": "User name", "description": "As you sign in"}, {"name": "key", "title": "Key"}]
    id = await at.begin("secret", name="jira", fields=fields)
    async with visiting(at) as ada:
        page = await ada.open(id)
        assert "As you sign in" in page.text
        missing = await ada.press(id, "accept", {"s0": "ada-hidden", "s1": "  "})
        assert missing.status_code == 422
        assert "Key is required." in missing.text
        assert "ada-hidden" not in missing.text
        assert await at.action(id) is None
        await ada.press(id, "accept", {"s0": "ada", "s1": "k-1"})
    assert await at.portal.vault.get(ADA, "jira") == {"user": "ada", "key": "k-1"}


async def test_a_check_rejects_a_secret_on_the_page_and_nothing_is_stored() -> None:
    async def check(value: str) -> str | None:
        return None if value.startswith("ghp_") else f"is not a token: {value} begins otherwise."

    at = site(checks={"github": check})
    id = await at.begin("secret", fields=[{"name": "value", "title": "github"}])
    async with visiting(at) as ada:
        wrong = await ada.press(id, "accept", {"s0": "swordfish"})
        assert wrong.status_code == 422
        assert "github is not a token: … begins otherwise." in wrong.text
        assert "swordfish" not in wrong.text
        assert await at.portal.vault.names(ADA) == []
        assert await at.action(id) is None
        assert (await ada.press(id, "accept", {"s0": "ghp_1"})).status_code == 200
    assert await at.portal.vault.get(ADA, "github") == {"value": "ghp_1"}
    ending = await at.ending(id)
    assert ending is not None
    assert ending.content == {"checked": True}


async def test_a_check_can_come_with_the_call_and_gets_the_fields() -> None:
    seen: list[Any] = []

    async def check(values: Any) -> str | None:
        seen.append(values)
        return None

    at = site()
    id = await at.begin("secret")
    at.portal.add_check("github", check)
    async with visiting(at) as ada:
        await ada.press(id, "accept", {"s0": "ghp_1"})
    assert seen == [{"value": "ghp_1"}]


async def test_a_check_of_several_fields_gets_them_all() -> None:
    seen: list[Any] = []

    async def check(value: Any) -> str | None:
        seen.append(value)
        return None

    at = site(checks={"jira": check})
    id = await at.begin("secret", name="jira", fields=[{"name": "user"}, {"name": "key"}])
    async with visiting(at) as ada:
        await ada.press(id, "accept", {"s0": "ada", "s1": "k"})
    assert seen == [{"user": "ada", "key": "k"}]


async def test_if_a_check_fails_nothing_is_stored_and_the_page_says_so(caplog: pytest.LogCaptureFixture) -> None:
    async def check(value: str) -> str | None:
        raise RuntimeError(f"no network for {value}")

    at = site(checks={"github": check})
    id = await at.begin("secret")
    async with visiting(at) as ada:
        failed = await ada.press(id, "accept", {"s0": "swordfish"})
    assert failed.status_code == 422
    assert "could not be checked" in failed.text
    assert await at.portal.vault.names(ADA) == []
    assert "swordfish" not in caplog.text
    assert "RuntimeError" in caplog.text


# --- approvals -------------------------------------------------------------------------------


async def test_an_approval_shows_every_detail_in_full() -> None:
    at = site()
    long = "x" * 30_000
    id = await at.begin("approve", details={"to": "ACME <b>", "amount": 40, "paid": True, "why": None, "text": long})
    async with visiting(at) as ada:
        page = (await ada.open(id)).text
    for said in ("ACME &lt;b&gt;", "40", "Yes", "(nothing)", long):
        assert said in page


async def test_an_approval_is_bound_to_the_digest_of_what_was_shown() -> None:
    at = site()
    id = await at.begin("approve")
    async with visiting(at) as ada:
        other = await ada.press(id, "accept", {"digest": "another"})
        assert other.status_code == 409
        assert await at.action(id) is None
        done = await ada.press(id, "accept")
    assert "Approved" in done.text
    ending = await at.ending(id)
    assert ending is not None
    assert ending.digest == await at.digest(id)


async def test_details_that_changed_while_the_page_was_open_are_not_approved() -> None:
    """The page of one interaction cannot approve another, either."""
    at = site()
    small, large = await at.begin("approve"), await at.begin("approve", details={"amount": 4000})
    async with visiting(at) as ada:
        controls = await ada.controls(small)
        swapped = await ada.post(f"/i/{large}", {**controls, "do": "accept"})
    assert swapped.status_code == 403
    assert await at.action(large) is None


# --- forms -----------------------------------------------------------------------------------


async def test_a_form_is_checked_and_its_answer_stored() -> None:
    at = site()
    id = await at.begin("form")
    async with visiting(at) as ada:
        wrong = await ada.press(id, "accept", {"f0": "A", "f1": "many"})
        assert wrong.status_code == 422
        assert "Full name must have at least 2 characters." in wrong.text
        assert dict(controls_of(wrong.text))["f1"] == "many"
        assert await at.action(id) is None
        done = await ada.press(id, "accept", FILLED)
    assert "Sent" in done.text
    ending = await at.ending(id)
    assert ending is not None
    assert ending.content == {"name": "Ada Lovelace", "days": 4, "seat": "a"}


async def test_a_form_that_is_too_large_can_only_be_declined() -> None:
    at = site()
    schema = {"type": "object", "properties": {f"f{n}": {"type": "string"} for n in range(2100)}}
    id = await at.begin("form", schema=schema)
    async with visiting(at) as ada:
        page = await ada.open(id)
        assert "too large" in page.text
        assert 'value="accept"' not in page.text
        assert (await ada.press(id, "accept")).status_code == 413
        assert (await ada.press(id, "decline")).status_code == 200


async def test_without_an_identity_only_plain_forms_are_served() -> None:
    at = site(identity=None)
    for kind in ("secret", "authorize", "approve"):
        id = await at.begin(kind, owner="")
        async with visiting(at, None) as anyone:
            page = await anyone.open(id)
            assert page.status_code == 403
            assert "repositories" not in page.text
            assert at.portal.why_not(kind, "") is not None
    form = await at.begin("form", owner="")
    async with visiting(at, None) as anyone:
        assert (await anyone.press(form, "accept", FILLED)).status_code == 200
        assert (await anyone.get("/mine")).status_code == 403
    assert at.portal.why_not("form", "") is None
    assert await at.action(form) == "accept"


async def test_a_form_with_an_owner_is_not_open_to_all() -> None:
    at = site(identity=None)
    id = await at.begin("form", owner=ADA)
    async with visiting(at, None) as anyone:
        page = await anyone.open(id)
    assert page.status_code == 403
    assert "Full name" not in page.text


# --- what became of it -----------------------------------------------------------------------


async def test_an_answered_page_shows_its_outcome() -> None:
    at = site()
    id = await at.begin("approve")
    async with visiting(at) as ada:
        controls = await ada.controls(id)
        await ada.press(id, "accept")
        again = await ada.open(id)
        assert again.status_code == 410
        assert "Approved on" in again.text
        second = await ada.post(f"/i/{id}", {**controls, "do": "decline"})
        assert second.status_code == 409
    assert await at.action(id) == "accept"


async def test_an_expired_page_is_gone() -> None:
    passed = [0.0]
    at = site(clock=lambda: time.time() + passed[0])
    id = await at.begin("secret", lasts=60)
    async with visiting(at) as ada:
        controls = await ada.controls(id)
        passed[0] = 61
        opened = await ada.open(id)
        posted = await ada.post(f"/i/{id}", {**controls, "s0": "swordfish", "do": "accept"})
    assert (opened.status_code, posted.status_code) == (410, 410)
    assert "This page has expired" in posted.text
    assert await at.action(id) is None
    assert await at.portal.vault.names(ADA) == []


async def test_get_changes_nothing() -> None:
    at = site()
    async with visiting(at) as ada:
        for kind in KINDS:
            id = await at.begin(kind)
            for query in ("", "?do=accept", f"?do=decline&digest={await at.digest(id)}"):
                await ada.get(f"/i/{id}{query}")
                await ada.http.head(f"/midcall/i/{id}{query}")
            assert await at.action(id) is None
    assert at.finished == []
    assert await at.portal.vault.names(ADA) == []


async def test_an_unknown_page_is_404_and_another_method_405() -> None:
    at = site()
    id = await at.begin()
    async with visiting(at) as ada:
        for path in (
            "/i/nothing-of-this-kind-is-here",
            "/i/short",
            "/i/..%2f..%2fetc",
            "/elsewhere",
            "/i/" + "a" * 500,
        ):
            assert (await ada.get(path)).status_code == 404
        assert (await ada.http.put(f"/midcall/i/{id}")).status_code == 405
        assert (await ada.press(id, "something")).status_code == 400
        assert (await ada.get(f"/i/{id}/")).status_code == 404


class Gone(Memory):
    """A store that goes away and comes back."""

    away = False

    async def read(self, id: str) -> Any:
        if self.away:
            raise StoreError("gone")
        return await super().read(id)

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Any:
        if self.away:
            raise StoreError("gone")
        return await super().complete(id, outcome, owner=owner, now=now)


async def test_health_does_not_wait_for_a_store_that_does_not_respond(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent(Memory):
        async def read(self, id: str) -> Any:
            await asyncio.Event().wait()

    monkeypatch.setattr("midcall.portal.routes.HEALTH_SECONDS", 0.01)
    at = site(store=Silent())
    async with asyncio.timeout(5), visiting(at) as prober:
        answer = await prober.get("/health")
    assert (answer.status_code, answer.json()) == (503, {"status": "unavailable"})


async def test_if_the_store_is_unreachable_the_page_says_so_and_nothing_is_lost(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Gone()
    at = site(store=store)
    id = await at.begin()
    async with visiting(at) as ada:
        controls = await ada.controls(id)
        store.away = True
        for answer in (await ada.open(id), await ada.post(f"/i/{id}", {**controls, **FILLED, "do": "accept"})):
            assert answer.status_code == 503
            assert "Nothing is lost" in answer.text
        assert "the store cannot be reached: gone" in caplog.text
        assert (await ada.get("/health")).json() == {"status": "unavailable"}
        store.away = False
        assert (await ada.get("/health")).json() == {"status": "ok"}
        assert (await ada.post(f"/i/{id}", {**controls, **FILLED, "do": "accept"})).status_code == 200


async def test_a_hook_that_fails_loses_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    at = site()

    async def broken(id: str) -> None:
        raise RuntimeError(id)

    at.portal.on_finish = broken
    id = await at.begin("approve")
    async with visiting(at) as ada:
        assert (await ada.press(id, "accept")).status_code == 200
    assert await at.action(id) == "accept"
    assert id not in caplog.text


# --- many at once ----------------------------------------------------------------------------


class Slow(Memory):
    """Lets others go first, as a store elsewhere does."""

    async def put(self, value: Any, *, instead_of: bytes | None = None) -> bool:
        kept = await super().put(value, instead_of=instead_of)
        await asyncio.sleep(0)
        return kept

    async def complete(self, id: str, outcome: str, *, owner: str | None, now: float) -> Any:
        await asyncio.sleep(0)
        return await super().complete(id, outcome, owner=owner, now=now)


@pytest.mark.parametrize("kind", ["secret", "approve", "form"])
async def test_submitting_twice_at_once_stores_once(kind: Kind) -> None:
    at = site(store=Slow())
    id = await at.begin(kind)
    async with visiting(at) as ada:
        controls = await ada.controls(id)
        tries = [{**controls, **FILLED, "s0": f"secret-{n}", "do": "accept"} for n in range(8)]
        answers = await asyncio.gather(*(ada.post(f"/i/{id}", each) for each in tries))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] + [409] * 7
    assert at.finished == [id]
    if kind == "secret":
        winner = [answer.status_code for answer in answers].index(200)
        assert await at.portal.vault.get(ADA, "github") == {"value": f"secret-{winner}"}


# --- templates -------------------------------------------------------------------------------


async def test_an_author_can_replace_our_templates(tmp_path: Path) -> None:
    (tmp_path / "notice.html").write_text("<p>{{ heading }}: mine</p>")
    at = site(templates=tmp_path, title="ACME Travel")
    id = await at.begin()
    async with visiting(at) as ada:
        assert "ACME Travel" in (await ada.open(id)).text
        assert (await ada.get("/i/nothing-of-this-kind-is-here")).text == "<p>There is no such page: mine</p>"


async def test_text_from_others_is_never_markup() -> None:
    at = site(title="<i>T</i>")
    evil = "<script>alert(1)</script>\u202e"
    for kind, about in (
        ("secret", {"name": evil, "fields": [{"name": "a", "title": evil, "description": evil}]}),
        ("approve", {"details": {evil: evil, "b": {evil: evil}}}),
        ("authorize", {"provider": evil, "scopes": [evil]}),
        ("form", {"schema": {"type": "object", "properties": {"a": {"type": "string", "title": evil}}}}),
    ):
        id = await at.begin(kind, **about)
        async with visiting(at, **{"x-test-name": "<u>"}) as ada:
            page = (await ada.open(id)).text
        assert page.count("<script") == page.count(f">{script()}</script>") == 1, "only our own"
        assert "<u>" not in page
        assert "\u202e" not in page


async def test_the_address_holds_only_the_id_under_the_base_url() -> None:
    at = site()
    id = await at.begin()
    assert at.portal.address(id) == f"{BASE}/i/{id}"
    assert len(id) >= 22
    assert BOB not in at.portal.address(id)


# --- replicas --------------------------------------------------------------------------------


async def test_a_page_from_one_replica_can_be_answered_at_another() -> None:
    """Also after a restart, and while the keys are being rotated."""
    store = Memory()
    one, two = site(store=store), site(store=store, keys=["new key of the tests: 0123456789abcdef", KEY])
    for kind in ("secret", "approve", "form"):
        id = await one.begin(kind)
        async with visiting(one) as there:
            controls = {**await there.controls(id), **FILLED, "s0": "swordfish", "do": "accept"}
            cookies = dict(there.http.cookies)
        async with visiting(two) as here:
            here.http.cookies.update(cookies)
            assert (await here.post(f"/i/{id}", controls)).status_code == 200
        assert await one.action(id) == "accept"
    async with visiting(two) as here, visiting(one) as there:
        id = await two.begin("approve")
        controls = {**await here.controls(id), "do": "accept"}
        there.http.cookies.update(dict(here.http.cookies))
        assert (await there.post(f"/i/{id}", controls)).status_code == 403, "this one does not know the new key yet"


def test_a_page_that_is_opened_again_is_not_rendered_again() -> None:
    drawn, times = PageCache(2), list[str]()

    def draw(token: str) -> str:
        times.append(token)
        return f"<{token}>"

    assert [drawn.get("a", token, draw) for token in ("t1", "t2")] == ["<t1>", "<t2>"]
    assert len(times) == 1
    assert drawn.get("b", "t3", lambda token: "x" * 200_000 + token).endswith("t3")
    for key in "cde":
        drawn.get(key, "t", draw)
    assert len(drawn) == 2
