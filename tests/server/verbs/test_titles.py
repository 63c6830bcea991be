"""What a client gets of a form that was made by hand: labels, too."""

from __future__ import annotations

from typing import Any

import pytest

from midcall import Flag, Form, Text, ask
from midcall.client import Script, connect
from midcall.testing import ERAS
from tests.kinds import KINDS, Kind, server_with


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("kind", KINDS)
async def test_each_field_that_is_sent_has_a_title(kind: Kind, era: Any) -> None:
    async def book(token: str) -> str:
        answer = await ask("Who travels?", Form(Text("first_name"), Flag("sure", title="Are you sure?")))
        return str(answer["first_name"])

    script = Script(lambda asked: {"first_name": "Ada", "sure": True})
    async with connect(server_with(book, kind=kind), script, era=era) as client:
        await client.call_tool("book", {"token": "x"})
    [asked] = script.asked
    assert asked.form is not None
    assert [field.title for field in asked.form] == ["First name", "Are you sure?"]
