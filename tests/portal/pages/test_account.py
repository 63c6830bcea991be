"""The account page: names and dates of what is stored, to see and to delete."""

from __future__ import annotations

import re

from midcall.portal.oauth import Provider
from tests.portal.oauth.authorization_server import CLIENT, authorization_server
from tests.portal.pages.test_authorize import returned, with_acme
from tests.portal.sites import ADA, BOB, Site, Visitor, controls_of, site, visiting


async def kept(at: Site, owner: str = ADA) -> list[str]:
    return [name for name, _ in await at.portal.vault.names(owner)]


async def delete(visitor: Visitor, **data: str) -> tuple[int, str]:
    page = await visitor.get("/mine")
    answer = await visitor.post("/mine", {**dict(controls_of(page.text)), **data})
    return answer.status_code, answer.text


async def with_secrets(at: Site) -> None:
    for owner, name in ((ADA, "github"), (ADA, "jira <b>"), (BOB, "github"), (BOB, "bobs-own")):
        await at.portal.vault.keep(owner, name, {"value": "swordfish"}, now=1_790_000_000.0)


async def test_names_and_dates_are_shown_and_never_a_value() -> None:
    at = site()
    await with_secrets(at)
    async with visiting(at) as ada:
        page = (await ada.get("/mine")).text
    assert "What Travel desk stores about you" in page
    assert "jira &lt;b&gt;" in page
    assert re.search(r"since 21 September 2026, \d\d:\d\d UTC", page)
    for hidden in ("swordfish", "bobs-own"):
        assert hidden not in page


async def test_one_is_deleted_or_all_and_only_ones_own() -> None:
    at = site()
    await with_secrets(at)
    async with visiting(at) as ada:
        assert (await delete(ada, do="delete", name="bobs-own"))[1].count("That was deleted already") == 1
        status, page = await delete(ada, do="delete", name="github")
        assert (status, "Deleted: github." in page) == (200, True)
        assert await kept(at) == ["jira <b>"]
        assert "Nothing is stored." in (await delete(ada, do="delete-all"))[1]
    assert await kept(at) == []
    assert await kept(at, BOB) == ["bobs-own", "github"]


async def test_deleting_needs_our_page_in_this_browser_and_the_same_user() -> None:
    at = site()
    await with_secrets(at)
    async with visiting(at) as ada, visiting(at, BOB) as bob, visiting(at, None) as nobody:
        data = {**dict(controls_of((await ada.get("/mine")).text)), "do": "delete-all"}
        assert (await ada.post("/mine", data, headers={"origin": "https://evil.example"})).status_code == 403
        assert (await ada.post("/mine", {**data, "token": ""})).status_code == 403
        assert (await bob.post("/mine", data)).status_code == 403
        assert (await nobody.post("/mine", data)).status_code == 401
        assert (await nobody.get("/mine")).status_code == 401
        ada.http.headers["x-test-user"] = BOB
        assert (await ada.post("/mine", data)).status_code == 403, "the page of one user deletes nothing of another"
    assert len(await kept(at)) == len(await kept(at, BOB)) == 2


async def test_opening_the_page_deletes_nothing() -> None:
    at = site()
    await with_secrets(at)
    async with visiting(at) as ada:
        await ada.get("/mine?do=delete-all&name=github")
    assert len(await kept(at)) == 2


async def test_access_to_a_provider_is_revoked_there_too() -> None:
    async with with_acme() as (at, acme):
        async with visiting(at) as ada:
            await ada.http.get(await returned(ada, await at.begin("authorize")))
            assert "Access to ACME" in (await ada.get("/mine")).text
            assert "Deleted: ACME." in (await delete(ada, do="delete", name="oauth:acme"))[1]
        assert acme.revoked
        assert await kept(at) == []


async def test_access_is_deleted_here_even_if_the_provider_is_unreachable() -> None:
    async with authorization_server() as acme:
        provider = Provider(
            "acme",
            authorize_url=f"{acme.url}/authorize",
            token_url=f"{acme.url}/token",
            revoke_url="http://127.0.0.1:9/revoke",
            client_id=CLIENT[0],
            client_secret=CLIENT[1],
        )
        at = site(providers=[provider])
        async with visiting(at) as ada:
            await ada.http.get(await returned(ada, await at.begin("authorize")))
            _, page = await delete(ada, do="delete-all")
        assert "acme could not be reached." in page
        assert await kept(at) == []
