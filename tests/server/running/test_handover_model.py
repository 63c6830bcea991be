"""The handover, checked in a model: no order of steps and faults breaks a promise, and no rule can be left out.

Small budgets of faults here; with `make chaos`, larger ones.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

import pytest

from tests.server.running.handover_model import RULES, Fault, Rule, check

TWICE = "an effect happened twice, and nobody was hurt"
ONCE_TWICE = "once happened twice"
ONCE_ELSEWHERE = "once began in a run whose turn went elsewhere"
WAITS = "the client waits for ever"
LEFT_BEHIND = "a run is left behind"

SMALL: list[dict[Fault, int]] = [
    {"copy": 1},
    {"crash": 1, "stop": 1},
    {"crash": 2},
    {"stop": 1, "lost bell": 1, "lost reply": 1},
    {"stop": 1, "drop": 1},
    {"copy": 1, "lost bell": 1, "lost reply": 1},
    {"copy": 1, "evict": 1},
    {"copy": 1, "drop": 1},
    {"stop": 1, "drop": 1, "outage": 1},
    {"shut down": 1, "stop": 1},
]
LARGE: list[dict[Fault, int]] = [
    {"copy": 1, "crash": 1},
    {"copy": 1, "stop": 1},
    {"copy": 1, "shut down": 1, "lost bell": 1},
    {"crash": 1, "stop": 1, "drop": 1, "lost reply": 1},
]
BUDGETS = SMALL + (LARGE if "MIDCALL_CHAOS_ROUNDS" in os.environ else [])


@pytest.mark.timeout(600)
@pytest.mark.parametrize("faults", BUDGETS, ids=lambda faults: ", ".join(f"{n} {name}" for name, n in faults.items()))
def test_no_order_of_steps_and_faults_breaks_a_promise(faults: Mapping[Fault, int]) -> None:
    assert check(faults) == {}


@pytest.mark.parametrize(
    ("rule", "fault", "broken"),
    [
        ("compare and set", "lost reply", TWICE),
        ("compare and set", "evict", "a turn has two outcomes"),
        ("take over", "crash", WAITS),
        ("claim what the owner has not", "evict", WAITS),
        ("look with each beat", "lost bell", WAITS),
        ("end what went elsewhere", "stop", LEFT_BEHIND),
        ("claim once", "stop", ONCE_TWICE),
        ("verify once", "stop", ONCE_ELSEWHERE),
        ("verify after claiming", "stop", ONCE_ELSEWHERE),
        ("read after a lost reply", "lost reply", WAITS),
        ("spare who beats", "lost bell", TWICE),
        ("give back what nobody continues", "drop", WAITS),
        ("owe what could not be given back", "outage", WAITS),
        ("continue what the state names", "stop", WAITS),
    ],
)
def test_without_any_one_rule_a_promise_breaks(rule: Rule, fault: Fault, broken: str) -> None:
    faults: dict[Fault, int] = {"drop": 1, "outage": 1} if fault == "outage" else {fault: 1}
    assert broken in check(faults, RULES - {rule})
    assert check(faults) == {}


def test_each_rule_is_tried_without() -> None:
    [marks] = [mark for mark in test_without_any_one_rule_a_promise_breaks.pytestmark if mark.name == "parametrize"]
    assert {rule for rule, _, _ in marks.args[1]} == RULES
