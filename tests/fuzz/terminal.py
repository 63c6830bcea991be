"""A person, or a program, that types anything: at line prompts, and at the form in the terminal."""

from __future__ import annotations

import asyncio
import re
import time
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

from textual import events
from textual._xterm_parser import XTermParser

from midcall.client.asked import Asked, FormQuestion, VisitQuestion
from midcall.core.forms.check import check
from midcall.core.forms.form import Form
from midcall.core.outcome import Accepted
from midcall.errors import InvalidForm
from tests.cli.shell import here
from tests.client.lines.test_lines import TRIP, Session
from tests.fuzz.fuzzer import CPU_SECONDS, REJECTED, Finding, Take, Target, check_output
from tests.fuzz.mutation import PIECES, mutate_data, mutate_text
from tests.terminals import Desk, Hands

TYPED: Final = ("Ada", "ada@example.com", "4", "", "yes", "w", "1, skis", "?", "send", "decline", "cancel", "back", "y")
MESSAGES: Final = ("Tell me", "Two\nlines", "\x1b[2Jhidden", "See https://example.com/x", "\u202etxet")
LINK: Final = "https://example.com/connect?a=b"
HOSTILE: Final = re.compile(r"\x1b[]PX^_c]|[\x00\x08\x9b\u202a-\u202e\u2066-\u2069]")
"""What our own output never contains, without colours."""


def _make_question(random: Random) -> tuple[str, Any, str]:
    """A message, a schema, and a URL; one of both is used."""
    schema = TRIP.schema() if random.randrange(3) else mutate_data(random, TRIP.schema())
    url = "" if random.randrange(5) else mutate_text(random, LINK)
    return mutate_text(random, random.choice(MESSAGES)), schema, url


def _asked(made: tuple[str, Any, str]) -> Asked | None:
    message, schema, url = made
    if url:
        return Asked(VisitQuestion(message, url, "v"), "1", message[:30])
    try:
        return Asked(FormQuestion(message, Form.from_schema(schema, strict=False)), "1", message[:30])
    except InvalidForm:
        return None


def _check_outcome(asked: Asked, outcome: Any) -> str:
    if isinstance(outcome, Accepted) and asked.form is not None and check(asked.form, outcome.value):
        raise Finding(f"an answer that doesn't fit was accepted: {outcome.value!r}")
    return type(outcome).__name__


# --- line prompts ------------------------------------------------------------------------------


def _make_lines(random: Random) -> tuple[tuple[str, Any, str], list[str]]:
    lines = [mutate_text(random, random.choice(TYPED), TYPED).replace("\n", "") for _ in range(random.randint(1, 25))]
    return _make_question(random), lines


@asynccontextmanager
async def _open_lines() -> AsyncIterator[Take]:
    async def take(made: tuple[tuple[str, Any, str], list[str]]) -> str:
        question, lines = made
        asked = _asked(question)
        if asked is None:
            return REJECTED
        session = Session(lines, write=(shown := list[str]()).append)
        outcome = await session.answer(asked)
        if found := HOSTILE.search("".join(shown)):
            raise Finding(f"{found[0]!r} reached the terminal")
        return _check_outcome(asked, outcome)

    yield take


# --- the form ----------------------------------------------------------------------------------

KEYS: Final = (
    "tab",
    "shift+tab",
    "enter",
    "space",
    "up",
    "down",
    "backspace",
    "home",
    "ctrl+a",
    "ctrl+k",
    "pagedown",
    "x",
)

Act = tuple[str, Any]
ACT_SECONDS: Final = 5 * CPU_SECONDS
"""A hundred keys at once are a hundred inputs, and each draws the form again."""


def _make_acts(random: Random) -> tuple[tuple[str, Any, str], list[Act]]:
    """What happens at the form: keys, pasted text, bytes of the terminal, and other sizes of the window."""
    acts: list[Act] = []
    for _ in range(random.randint(2, 12)):
        match random.randrange(5):
            case 0:
                acts.append(("paste", mutate_text(random, random.choice((*TYPED, *PIECES)))))
            case 1:
                acts.append(("bytes", mutate_text(random, "".join(random.choices(PIECES, k=5)))[:100]))
            case 2:
                acts.append(("resize", (random.choice((1, 2, 20, 80, 300)), random.choice((1, 2, 5, 24, 100)))))
            case _:
                acts.append(("press", random.choice(KEYS)))
    return _make_question(random), acts


@asynccontextmanager
async def _open_forms() -> AsyncIterator[Take]:
    async def take(made: tuple[tuple[str, Any, str], list[Act]]) -> list[str]:
        question, acts = made
        asked = _asked(question)
        if asked is None:
            return [REJECTED]

        async def person(hands: Hands) -> None:
            for what, given in acts:
                start = time.process_time()
                await _act(hands, what, given)
                if (took := time.process_time() - start) > ACT_SECONDS:
                    raise Finding(f"{what} {given!r:.100} took {took:.2f} s of CPU time")
            hands.app.exit()

        desk = Desk(*[person] * 50)
        [outcome] = await desk.answer(asked)
        _check_outcome(asked, outcome)
        return [what for what, _ in acts]

    yield take


async def _act(hands: Hands, what: str, given: Any) -> None:
    app = hands.app
    if not app.is_running:
        return
    match what:
        case "paste":
            app.post_message(events.Paste(given))
        case "bytes":
            for message in XTermParser().feed(given):
                app.post_message(message)
        case "resize":
            await hands.pilot.resize_terminal(*given)
        case _:
            await hands.pilot.press(given)
    await hands.pilot.pause()


# --- the command line --------------------------------------------------------------------------

NOWHERE: Final = "http://127.0.0.1:9/mcp"
"""Nothing listens there: what a command does before and after is what is tried."""
COMMANDS: Final = (
    ["call", NOWHERE, "book", "destination=Oslo", "days:=4", "--era", "2025-11-25", "--json", "--timeout", "2"],
    ["call", NOWHERE, "book", "--header", "Authorization: Bearer x", "-v", "text=@/nonexistent"],
    ["call", NOWHERE, "book", "--answers", "/nonexistent.yaml"],
    ["tools", NOWHERE, "--era", "auto", "--json"],
    ["explain", "NoChannel"],
    ["call", "--help"],
)


def _make_command(random: Random) -> list[str]:
    """A command with a few changes; never another server, since that may be a program to start."""
    command = list(random.choice(COMMANDS))
    places = [at for at, each in enumerate(command) if each != NOWHERE and at]
    for _ in range(random.choice((0, 1, 1, 2))):
        at = random.choice(places)
        command[at] = mutate_text(random, command[at]).replace("\0", "")
    return [each.encode("utf-8", "replace").decode() for each in command]


@asynccontextmanager
async def _open_commands() -> AsyncIterator[Take]:
    async def take(command: list[str]) -> str:
        with warnings.catch_warnings():
            done = await asyncio.to_thread(here, *command)
        said = done.stdout + done.stderr
        check_output(said)
        if "unexpectedly" in said or done.returncode not in (0, 1, 2, 3, 4):
            raise Finding(f"exit code {done.returncode}: {said[-1000:]}")
        return REJECTED if done.returncode == 2 else f"exit code {done.returncode}"

    yield take


TARGETS: Final = (
    Target("lines", _make_lines, _open_lines, short=300, share=40, must=("Accepted", "Cancelled")),
    Target("forms", _make_acts, _open_forms, short=60, share=2, seconds=30.0),
    Target("commands", _make_command, _open_commands, short=60, share=2, must=("exit code 0", "exit code 4")),
)
