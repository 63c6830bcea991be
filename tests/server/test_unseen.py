"""What nobody gets to see of a page: its id cannot be guessed, and neither traces nor the model are told of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp import MCPError
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from midcall import ProviderFailed, StoreError, ask, authorize, once
from midcall.stores.memory import Memory
from midcall.testing import Era, connect
from tests.kinds import server_with
from tests.portal.oauth.authorization_server import CLIENT
from tests.server.codes import shown
from tests.server.people import TOKEN, WITH_URLS, Person, fills, installed, presses, read_repo


async def test_the_address_of_a_page_holds_an_id_that_cannot_be_guessed_and_nothing_else() -> None:
    person = Person(presses("decline"))
    async with installed(read_repo) as (server, _), connect(server, person) as client:
        for _ in range(3):
            await client.call_tool("read_repo", {"name": "midcall"})
    places = [urlsplit(asked.url) for asked in person.asked]
    ids = {place.path.removeprefix("/i/") for place in places}
    assert len(ids) == 3
    assert all(len(id) * 6 >= 128 and "/" not in id for id in ids)
    assert not any(place.query or place.fragment or place.username for place in places)


@pytest.mark.parametrize("era", WITH_URLS)
async def test_a_trace_holds_no_id_and_no_secret(era: Era) -> None:
    exporter = InMemorySpanExporter()
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    person = Person(fills(TOKEN))
    async with installed(read_repo) as (server, _), connect(server, person, era=era) as client:
        assert not (await client.call_tool("read_repo", {"name": "midcall"})).is_error
    told = str([(span.name, span.attributes, span.events, span.status) for span in exporter.get_finished_spans()])
    assert "read_repo" in told
    [asked] = person.asked
    assert asked.url.rpartition("/")[2] not in told
    assert TOKEN not in told


# --- what a failure sounds like ----------------------------------------------------------------


class Away(Memory):
    async def create(self, *_: Any) -> Any:
        raise StoreError("PostgreSQL at db.internal cannot be reached")


async def test_an_unreachable_store_is_not_the_tools_mistake_and_the_model_may_retry(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def tool() -> str:
        return await once("greet", str.upper, "ada")

    async with connect(server_with(tool, store=Away())) as client:
        result = await client.call_tool("tool", {})
    assert result.is_error
    assert "Call the tool again in a few minutes" in shown(result)
    assert "db.internal" not in shown(result)
    [told] = [record for record in caplog.records if "db.internal" in record.getMessage()]
    assert (told.levelname, told.exc_info) == ("ERROR", None), "a line for each call, and not a traceback"


async def test_a_call_that_cannot_be_continued_without_its_store_is_a_protocol_error_with_the_same_sentence() -> None:
    async def tool() -> str:
        return await ask("Name?", str)

    async with connect(server_with(tool, store=Away()), ["ada"]) as client:
        with pytest.raises(MCPError, match="Call the tool again in a few minutes") as refused:
            await client.call_tool("tool", {})
    assert "db.internal" not in str(refused.value)


async def test_a_provider_that_is_away_is_named_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    from midcall.portal import Provider

    async def away(*_: Any) -> Any:
        raise ProviderFailed("Example Calendar cannot be reached, or did not answer in time.")

    async def tool() -> str:
        return await authorize("calendar")

    provider = Provider.discover("calendar", issuer="https://id.example.com", client_id=CLIENT[0])
    async with installed(tool, providers=[provider]) as (server, portal), connect(server) as client:
        monkeypatch.setattr(portal.oauth, "token", away)
        result = await client.call_tool("tool", {})
    assert result.is_error
    assert shown(result).startswith("Example Calendar cannot be reached")
    assert "Call the tool again in a few minutes" in shown(result)
