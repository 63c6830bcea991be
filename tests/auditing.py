"""An audit trail for tests: all events, in order."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from midcall.audit import Audit, Event


class Trail:
    """Collects the events of one or more servers."""

    def __init__(self) -> None:
        self.seen: list[Event] = []
        self.audit = Audit(self.seen.append)

    async def events(self, *beginnings: str) -> list[Event]:
        """The events so far; with `beginnings`, only those whose names begin with one of these."""
        assert await self.audit.flush()
        return [event for event in self.seen if event.name.startswith(beginnings or "")]

    async def told(self, *beginnings: str) -> list[str]:
        """The same as text: name, channel and outcome."""
        return [" ".join(filter(None, (e.name, e.via, e.outcome))) for e in await self.events(*beginnings)]

    async def call(self) -> str:
        """The digest of the only call; every event has it."""
        [call] = {event.call for event in await self.events()}
        assert call
        return call


def exported() -> InMemorySpanExporter:
    """Gets the spans that end from now on."""
    provider = trace.get_tracer_provider()
    if not isinstance(provider, TracerProvider):
        provider = TracerProvider()
        trace.set_tracer_provider(provider)
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return exporter
