"""Draw two forms of the terminal answerer, as the real app shows them.

python -m scripts.terminal_picture      # writes docs/images/terminal-form.svg and terminal-visit.svg
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.client.terminal.flow import QuestionFlow, Step
from midcall.client.terminal.question_app import QuestionApp
from midcall.core.forms.fields import Choice, Choices, Flag, Number, Text
from midcall.core.forms.form import Form

ROOT = Path(__file__).parent.parent
PICTURES = ROOT / "docs/images"
COLUMNS = 84

TRIP = Form(
    Text("name", title="Name", description="As in your passport", min_length=2, max_length=40),
    Text("mail", title="Email", format="email"),
    Text("leaves", title="Departure", format="date"),
    Number("days", title="Days", integer=True, minimum=1, maximum=30, default=4),
    Flag("insurance", title="Insurance"),
    Choice("seat", {"window": "At the window", "aisle": "On the aisle"}, title="Seat", default="window"),
    Choices("extras", {"bike": "A bicycle", "guide": "A guide", "skis": "Skis"}, title="Extras", max_items=2),
)
URL = "https://accounts.fjord-travel.example:8443/connect/calendar?elicitationId=4af1c6d2-7b0e-49c1-8d6f-52c09e1d7a3b"


async def fill(pilot: Pilot[None]) -> None:
    await pilot.press(*"Ada", "space", *"Lovelace", "enter", *"ada", "at", "enter")
    await pilot.press(*"2026", "minus", *"08", "minus", *"01", "enter", "enter", "y", "enter", "enter")
    await pilot.press("down", "space", "down", "down", "space", "up")


async def look(pilot: Pilot[None]) -> None:
    await pilot.press("tab")


async def draw(asked: Asked, rows: int, person: Callable[[Pilot[None]], Awaitable[None]], name: str) -> None:
    app: Any = QuestionApp(QuestionFlow([Step(asked)]))
    async with app.run_test(size=(COLUMNS, rows)) as pilot:
        await person(pilot)
        await pilot.pause()
        path = PICTURES / f"{name}.svg"
        path.write_text(own(app.export_screenshot(title="midcall", simplify=True)))
    print(f"wrote {path.relative_to(ROOT)}")


def own(svg: str) -> str:
    """Make the picture use local fonts, so that it loads nothing and never changes."""
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("font-family: Fira Code, monospace", "font-family: ui-monospace, Menlo, Consolas, monospace")
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in re.sub(r"terminal-\d+", "midcall", svg).splitlines()) + "\n"


def asked(question: FormQuestion | VisitQuestion) -> Asked:
    return Asked(question, "1", "Fjord Travel", "1.4.0", "round", "2026-07-28")


async def main() -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    form = FormQuestion("Tell me about your trip to Oslo.", TRIP)
    await draw(asked(form), 32, fill, "terminal-form")
    visit = VisitQuestion("Connect your calendar, so that the trip is entered there.", URL, "1")
    await draw(asked(visit), 15, look, "terminal-visit")


if __name__ == "__main__":
    asyncio.run(main())
