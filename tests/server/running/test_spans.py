"""The error of a run is recorded on the span of the request that returns it."""

from __future__ import annotations

import asyncio

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from midcall.testing import connect
from tests.auditing import exported
from tests.calling import Elicit, asking, begin, finish, retry

ANSWERS = {"a?": "1"}


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return exported()


def calls(exporter: InMemorySpanExporter) -> list[ReadableSpan]:
    """The spans of the requests of a call, as the server has them, in order."""
    spans = [each for each in exporter.get_finished_spans() if each.kind is trace.SpanKind.SERVER]
    return [each for each in spans if each.name.startswith("tools/call")]


async def test_an_error_is_recorded_on_the_span_of_the_request_that_returns_it(exporter: InMemorySpanExporter) -> None:
    async def tool(elicit: Elicit) -> str:
        await elicit("a?")
        raise ValueError("out of stock")

    async with connect(asking("lowlevel", tool)) as client:
        first = await begin(client, "tool")
        for _ in range(2):
            with pytest.raises(Exception, match=r"."):
                await retry(client, first, ANSWERS)
    asked, failed, again = calls(exporter)
    assert asked.status.status_code is not trace.StatusCode.ERROR
    assert failed.status.status_code is trace.StatusCode.ERROR
    assert again.status.status_code is trace.StatusCode.ERROR


async def test_a_span_that_the_tool_opens_after_its_answer_belongs_to_the_newest_request(
    exporter: InMemorySpanExporter,
) -> None:
    async def tool(elicit: Elicit) -> str:
        await elicit("a?")
        with trace.get_tracer("test").start_as_current_span("work"):
            await asyncio.sleep(0)
        return "done"

    async with connect(asking("mcpserver", tool)) as client:
        assert await finish(client, await begin(client, "tool"), ANSWERS) == "done"
    _asked, retried = calls(exporter)
    [work] = [each for each in exporter.get_finished_spans() if each.name == "work"]
    assert work.parent is not None
    assert retried.context is not None
    assert work.parent.span_id == retried.context.span_id
