"""`midcall.testing` for pages: a prefilled vault, and forms that tests fill in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from typing import Any, Literal

import pytest
from mcp.server.context import ServerRequestContext

from midcall import Choice, Form, Text, ask, authorize, secret
from midcall.portal import Portal, Provider
from midcall.testing import ERAS, Asked, Era, fill_vault, press, replayed, run
from tests.kinds import KINDS, Kind, server_with

ACME = Provider("acme", client_id="me", authorize_url="https://acme.example/a", token_url="https://acme.example/t")
WITH_URLS = ERAS[1:]


async def reads() -> str:
    return await secret("github", "A token")


async def signs_in() -> str:
    parts = await secret("mail", "Your account", fields=["user", "password"])
    return f"{parts['user']}:{parts['password']}"


async def lists() -> str:
    return await authorize("acme")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_value_in_the_vault_is_used_without_asking(kind: Kind) -> None:
    server = server_with(reads, signs_in, lists, kind=kind, portal=Portal(providers=[ACME]), store="memory://")
    await fill_vault(
        server,
        secrets={"github": "ghp_1", "mail": {"user": "ada", "password": "x"}},
        accounts={"acme": "a token"},
    )
    for tool, expected in (("reads", "ghp_1"), ("signs_in", "ada:x"), ("lists", "a token")):
        done = await replayed(server, tool)
        assert (done.text, done.asked) == (expected, [])


async def test_fill_vault_takes_an_owner() -> None:
    def principal(ctx: ServerRequestContext[Any, Any]) -> str:
        return "ada"

    async def visitor(request: Any) -> str:
        return "ada"

    portal = Portal(identity=visitor)
    server = server_with(reads, portal=portal, store="memory://", principal=principal)
    with pytest.raises(ValueError, match="Pass owner="):
        await fill_vault(server, secrets={"github": "ghp_1"})
    await fill_vault(server, secrets={"github": "ghp_1"}, owner="ada")
    assert (await run(server, "reads")).text == "ghp_1"


async def test_a_missing_vault_and_an_unknown_provider_are_reported() -> None:
    with pytest.raises(ValueError, match="This server has no vault"):
        await fill_vault(server_with(reads), secrets={"github": "ghp_1"})
    server = server_with(lists, portal=Portal(providers=[ACME]), store="memory://")
    with pytest.raises(ValueError, match="no provider 'acne'; it has: acme"):
        await fill_vault(server, accounts={"acne": "a token"})


# --- forms on a page -----------------------------------------------------------------------------


class Room(Enum):
    SINGLE = "single"
    DOUBLE = "double"


@dataclass
class Stay:
    arrive: date
    wake_up: datetime
    nights: int
    room: Room
    breakfast: bool
    extras: list[Literal["towels", "cot", "sauna"]]
    floor: Literal["0", "1", "2", "3", "4", "5", "6", "7", "8"]
    note: str = "no pets"


STAY: dict[str, Any] = {
    "arrive": date(2026, 5, 1),
    "wake_up": datetime(2026, 5, 2, 6, 30, tzinfo=UTC),
    "nights": 3,
    "room": Room.DOUBLE,
    "breakfast": False,
    "extras": ["cot", "sauna"],
    "floor": "7",
}


async def stays() -> str:
    stay = await ask("How would you like to stay?", Stay)
    assert stay == Stay(**STAY)
    return stay.note


@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_form_on_a_page_is_filled_in_by_labels_with_python_values(era: Era) -> None:
    async def fills_in(asked: Asked) -> None:
        await press(asked.url, fields=STAY)

    server = server_with(stays, portal=Portal(), store="memory://")
    assert (await run(server, "stays", {}, fills_in, era=era, modes=("url",))).text == "no pets"


async def test_a_form_on_a_page_can_be_replayed() -> None:
    async def fills_in(asked: Asked) -> None:
        await press(asked.url, fields=STAY)

    server = server_with(stays, portal=Portal(), store="memory://")
    done = await replayed(server, "stays", {}, fills_in, modes=("url",))
    assert (done.text, len(done.asked)) == ("no pets", 1)


async def test_labels_and_titles_are_those_that_the_page_shows() -> None:
    async def tool() -> str:
        form = Form(
            Choice("size", {"s": "Small & light", "l": "Large"}, title="Your size"),
            Text("why", title="Why, in your own words?", max_length=1000, default="<no reason>"),
        )
        return str(await ask("Which?", form))

    async def fills_in(asked: Asked) -> None:
        await press(asked.url, fields={"Your size": "Small & light"})

    server = server_with(tool, portal=Portal(), store="memory://")
    done = await run(server, "tool", {}, fills_in, modes=("url",))
    assert done.text == str({"size": "s", "why": "<no reason>"})


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"arive": date(2026, 5, 1)}, "The page has no field 'arive'; it has: arrive, wake up, nights"),
        ({**STAY, "room": "triple"}, "'triple' is not an option of 'room'; the page has: single, double"),
        ({**STAY, "nights": "many"}, "rejected it: 422 .*nights must be a whole number"),
        ({}, "rejected it: 422"),
    ],
)
async def test_a_form_that_cannot_be_filled_in_fails_the_test(fields: dict[str, Any], told: str) -> None:
    server = server_with(stays, portal=Portal(), store="memory://")
    with pytest.raises(AssertionError, match=f"(?i){told}"):
        await run(server, "stays", {}, lambda asked: press(asked.url, fields=fields), modes=("url",))


@pytest.mark.parametrize("button", ["decline", "cancel"])
async def test_declining_on_the_page_needs_no_fields(button: Any) -> None:
    server = server_with(stays, portal=Portal(), store="memory://")
    done = await run(server, "stays", {}, lambda asked: press(asked.url, button), modes=("url",))
    assert done.failed
