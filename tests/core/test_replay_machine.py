"""The replay machine alone, without an event loop: programs of questions and effects, cut anywhere."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.core.journal import Entry, Journal, decode, effect_name, encode
from midcall.core.question import MISSING, Question, Visit
from midcall.core.replay import Replay, parse_answer
from midcall.errors import DuplicateKey, MalformedAnswer, ReplayMismatch
from midcall.language.problems import Problem

QUESTIONS = [Question(f"{name}?", str) for name in "abc"] + [
    Question("k?", str, key="k"),
    Visit("v?", "https://x.example/"),
]


class Waits(Exception):
    pass


def ask(replay: Replay, question: Any, answers: dict[str, Any], *, quick: bool = False) -> Any:
    """As a verb does, with a client that answers by message; the short way first where it is quick."""
    if quick and (value := replay.recall(question)) is not MISSING:
        return value
    identity = replay.identify(question)
    entry = replay.find(identity, question)
    if entry is None:
        replay.depart(question.message)
        entry = replay.wait(identity, question, line=True, deadline=None)
    if entry.kind == "waiting":
        answers[replay.wire_key(identity, entry.attempt)] = f"answer to {identity}"
        raise Waits
    return entry.value["answer"]


def effect(replay: Replay, name: str, ran: list[str]) -> Any:
    identity = replay.identify_effect(name, "")
    entry = replay.find_mark(identity)
    if entry is None:
        replay.depart_with_effect(name)
        ran.append(identity)
        replay.record_effect(identity, name, "", f"result of {identity}", line=True)
        return f"result of {identity}"
    return entry.value


steps = st.lists(
    st.tuples(st.sampled_from(["ask", "ask in any way"]), st.sampled_from(range(3)))
    | st.tuples(st.just("effect"), st.sampled_from(["charge", "mail"])),
    max_size=12,
)


def run_to_the_end(program: list[tuple[str, Any]], random: Random) -> tuple[list[Any], list[str], int]:
    """Run it in rounds, with the journal through its text each time."""
    state, ran, rounds = encode(Journal("call")), [], 0
    responses: dict[str, Any] = {}
    while True:
        replay = Replay(decode(state))
        replay.take_answers(responses, now=0)
        waiting: dict[str, Any] = {}
        try:
            trail = [
                effect(replay, what, ran)
                if kind == "effect"
                else ask(replay, QUESTIONS[what], waiting, quick=kind == "ask" or random.random() < 0.5)
                for kind, what in program
            ]
        except Waits:
            rounds += 1
            responses = {wire: {"action": "accept", "content": {"answer": answer}} for wire, answer in waiting.items()}
            replay.journal.asked = tuple(waiting)
            state = encode(replay.journal)
            continue
        return trail, ran, rounds


@given(steps, st.randoms())
def test_a_program_gives_each_step_its_own_answer_however_often_it_is_cut(
    program: list[tuple[str, Any]], random: Random
) -> None:
    trail, ran, rounds = run_to_the_end(program, random)
    replay = Replay(Journal("x"))
    expected = [
        f"result of {replay.identify_effect(what, '')}"
        if kind == "effect"
        else f"answer to {replay.identify(QUESTIONS[what])}"
        for kind, what in program
    ]
    assert trail == expected
    assert rounds == sum(kind != "effect" for kind, _ in program)
    assert len(ran) == len(set(ran)) == sum(kind == "effect" for kind, _ in program)


@given(steps, st.permutations(range(3)))
def test_the_order_in_which_distinct_questions_are_met_does_not_matter(
    program: list[tuple[str, Any]], order: list[int]
) -> None:
    journal = Journal("call")
    for index in range(3):
        identity = Replay(journal).identify(QUESTIONS[index])
        entry = Entry("accept", False, "", {"answer": f"for {index}"})
        journal.entries[identity] = entry
    replay = Replay(decode(encode(journal)))
    for index in order:
        question = QUESTIONS[index]
        entry = replay.find(replay.identify(question), question)
        assert entry is not None
        assert entry.value == {"answer": f"for {index}"}


def test_only_what_waits_and_has_left_in_this_round_takes_an_answer() -> None:
    journal = Journal("call")
    replay = Replay(journal)
    recorded = replay.wait(replay.identify(QUESTIONS[0]), QUESTIONS[0], line=True, deadline=None)
    identity = next(iter(journal.entries))
    replay.settle(identity, recorded, "decline")
    waiting = replay.identify(QUESTIONS[1])
    replay.wait(waiting, QUESTIONS[1], line=True, deadline=None)
    since = replay.identify(QUESTIONS[2])
    replay.wait(since, QUESTIONS[2], line=True, deadline=None)
    names = (identity, waiting, since, "stranger")
    answers = {name: {"action": "accept", "content": {"answer": "x"}} for name in names}
    assert replay.take_answers(answers, 0) == ()
    journal.asked = (identity, waiting, "stranger")
    assert replay.take_answers(answers | {since: "nonsense"}, 0) == (waiting,)
    open_still = journal.entry(since)
    assert open_still is not None
    assert open_still.kind == "waiting"
    entry = journal.entry(identity)
    assert entry is not None
    assert entry.kind == "decline"
    assert "stranger" not in journal.entries


def test_an_answer_that_is_rejected_leaves_under_another_key() -> None:
    journal = Journal("call")
    replay = Replay(journal)
    identity = replay.identify(QUESTIONS[0])
    entry = replay.wait(identity, QUESTIONS[0], line=True, deadline=None)
    accepted = replay.settle(identity, entry, "accept", {"answer": 7})
    again = replay.reject(identity, accepted, [Problem("answer", "type", {"expected": "text"})], ["answer"], None)
    assert replay.wire_key(identity, entry.attempt) != replay.wire_key(identity, again.attempt)
    journal.asked = (replay.wire_key(identity, again.attempt),)
    assert replay.take_answers({identity: {"action": "accept", "content": {}}}, 0) == ()
    assert again.problems == (("answer", "type", "must be text"),)


def test_of_an_answer_that_is_rejected_goes_along_what_was_asked_and_typed() -> None:
    journal = Journal("call")
    replay = Replay(journal)
    identity = replay.identify(QUESTIONS[0])
    entry = replay.wait(identity, QUESTIONS[0], line=True, deadline=None)
    accepted = replay.settle(identity, entry, "accept", {"answer": "Oslo", "pasted": "x" * 70_000, "other": 1})
    again = replay.reject(identity, accepted, [], ["answer", "pasted"], None)
    assert again.value == {"answer": "Oslo"}


def test_one_key_for_two_questions_is_refused() -> None:
    replay = Replay(Journal("call"))
    replay.identify(QUESTIONS[3])
    with pytest.raises(DuplicateKey, match="'k'"):
        replay.identify(QUESTIONS[3])


def test_a_failed_effect_gives_its_place_to_the_next() -> None:
    replay = Replay(Journal("call"))
    first = replay.identify_effect("charge", "x")
    replay.fail_effect(first, "charge", "x", line=True)
    assert replay.identify_effect("charge", "x") == first
    assert replay.identify_effect("charge", "x") != first


def test_an_effect_that_failed_gives_its_place_to_no_other_arguments() -> None:
    replay = Replay(Journal("call"))
    first = replay.identify_effect("charge", "x")
    replay.fail_effect(first, "charge", "x", line=True)
    second = replay.identify_effect("charge", "y")
    assert second != first
    replay.record_effect(second, "charge", "y", 1, line=True)
    again = Replay(decode(encode(replay.journal)))
    assert [again.identify_effect("charge", which) for which in "xy"] == [first, second]


@given(st.permutations("aabc"), st.permutations("aabc"), st.integers(0, 4))
def test_effects_of_one_name_are_met_by_their_arguments_in_any_order(first: str, then: str, recorded: int) -> None:
    replay = Replay(Journal("call"))
    before: dict[str, list[str]] = {}
    for which in first[:recorded]:
        before.setdefault(which, []).append(replay.identify_effect("e", which))
        replay.record_effect(before[which][-1], "e", which, 1, line=False)
    again = Replay(decode(encode(replay.journal)))
    met = [(which, again.identify_effect("e", which)) for which in then]
    assert len({identity for _, identity in met}) == len(met)
    for which, known in before.items():
        assert [identity for each, identity in met if each == which][: len(known)] == known


def test_branches_that_have_not_reached_their_records_are_not_a_mismatch() -> None:
    journal = Journal(
        "call", entries={"?x": Entry("accept", False, "x?", {}), effect_name("e", 0): Entry("effect", False, "e", 1)}
    )
    Replay(journal).depart("other?")
    assert len(journal.entries) == 2


def test_a_mismatch_names_what_was_recorded_and_what_was_met() -> None:
    journal = Journal("call", entries={effect_name("charge", 0): Entry("effect", True, "charge", 1)})
    with pytest.raises(ReplayMismatch) as caught:
        Replay(journal).depart("Sure?")
    for word in ("'charge'", "'Sure?'", "once"):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("recorded", "met", "told"),
    [
        ("Sure?", "Sure?", "with the same message, but its form differs."),
        ("How many nights ", "How many nights in Oslo?", "its message differs further on, or its form differs."),
        ("Sure?", "Really?", "met was 'Really?'."),
    ],
)
def test_a_mismatch_of_questions_that_read_alike_says_what_differs(recorded: str, met: str, told: str) -> None:
    entries: dict[str, Any] = {
        "?x": Entry("accept", True, recorded, {}),
        effect_name("e", 0): Entry("effect", True, "charge", 1),
    }
    with pytest.raises(ReplayMismatch) as caught:
        Replay(Journal("call", entries=entries)).depart(met)
    assert caught.value.text.endswith(told)


@pytest.mark.parametrize(
    ("met", "told"), [("charge", "with the same name, but its arguments differ."), ("send", "met was 'send'.")]
)
def test_a_mismatch_of_effects_that_read_alike_says_what_differs(met: str, told: str) -> None:
    journal = Journal("call", entries={effect_name("charge", 0): Entry("effect", True, "charge", 1, "x")})
    with pytest.raises(ReplayMismatch) as caught:
        Replay(journal).depart_with_effect(met)
    assert caught.value.text.endswith(told)


@given(st.from_type(object) | st.dictionaries(st.text(), st.text()))
def test_rubbish_is_not_an_answer(answer: object) -> None:
    if isinstance(answer, dict) and answer.get("action") in ("accept", "decline", "cancel", "reject"):
        return
    with pytest.raises(MalformedAnswer):
        parse_answer(answer)
