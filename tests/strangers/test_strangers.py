"""Adoption changes nothing: other people's servers behave the same with and without midcall.

Each case is called without midcall on 2025-11-25 by the SDK's own client, and then with `midcall.install(server)` on
2025-11-25 and on 2026-07-28. The person's questions, the host's
results and the server's effects are the same, in the same order, and equally often.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.strangers.calling import Case, Version, in_memory
from tests.strangers.cases import CASES

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")

adopted = pytest.mark.parametrize(
    ("case", "version"),
    [pytest.param(case, version, id=f"{case.name} - {version}") for case in CASES for version in case.versions],
)

RESOLVED = ("a parameter that is resolved by a question",)

RUNS: dict[tuple[str, Version, bool], dict[str, Any]] = {}
"""Each case runs once in each way; several tests inspect it."""


async def seen(case: Case, version: Version, *, adopted: bool) -> dict[str, Any]:
    key = (case.name, version, adopted)
    if key not in RUNS:
        RUNS[key] = await in_memory(case, version, adopted=adopted)
    return RUNS[key]


async def before_and_after(case: Case, version: Version, *shown: str) -> list[list[Any]]:
    runs = [await seen(case, "2025-11-25", adopted=False), await seen(case, version, adopted=True)]
    return [[run[name] for name in shown] for run in runs]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_without_midcall_a_case_does_what_it_says(case: Case) -> None:
    assert (await seen(case, "2025-11-25", adopted=False))["effects"] == list(case.effects)


@adopted
async def test_every_effect_happens_as_often_as_before(case: Case, version: Version) -> None:
    before, after = await before_and_after(case, version, "effects")
    assert after == before


@adopted
async def test_the_person_is_asked_the_same_questions_in_the_same_order(case: Case, version: Version) -> None:
    before, after = await before_and_after(case, version, "asked", "sampled")
    assert after == before


@adopted
async def test_forms_and_urls_travel_unchanged(case: Case, version: Version) -> None:
    if case.name in RESOLVED and version == "2026-07-28":
        return  # there the SDK makes these rounds itself, and writes the form differently
    before, after = await before_and_after(case, version, "forms")
    assert after == before


@adopted
async def test_the_host_gets_the_same_results(case: Case, version: Version) -> None:
    before, after = await before_and_after(case, version, "results")
    assert after == before


@adopted
async def test_the_host_gets_the_same_notifications(case: Case, version: Version) -> None:
    before, after = await before_and_after(case, version, "logged", "progress")
    assert after == before


def test_no_two_cases_share_a_name() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
