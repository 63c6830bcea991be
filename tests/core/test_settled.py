"""Answers that fit, where a run does not simply meet them again by the short way."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from midcall.core.journal import VERSION, Journal, decode, encode
from midcall.core.question import MISSING, Question
from midcall.core.replay import Replay
from midcall.errors import InvalidJournal, ReplayMismatch
from tests.core.test_journal import SWAP

A, B, C = (Question(message, str) for message in ("a?", "b?", "c?"))


def kept(*asked: tuple[Question[Any], Any, bool]) -> Journal:
    """The journal after all of these were answered and read by the short way."""
    replay = Replay(Journal("call"))
    for question, answer, line in asked:
        identity = replay.identify(question)
        entry = replay.wait(identity, question, line=line, deadline=None)
        replay.settle(identity, entry, "accept", {question.form.names[0]: answer})
    again = Replay(decode(encode(replay.journal)))
    for question, _, _ in asked:
        assert again.recall(question) is not MISSING
    assert not again.journal.entries
    return decode(encode(again.journal))


@pytest.mark.parametrize(
    ("type", "answer"), [(int, 0), (bool, False), (str, ""), (list[Literal["a"]], []), (float, 0.0)]
)
def test_an_answer_that_is_false_is_still_an_answer(type: Any, answer: Any) -> None:
    question = Question("What?", type)
    journal = kept((question, answer, True))
    assert journal.settled == {question.base: answer}
    assert Replay(decode(encode(journal))).recall(question) == answer
    entry = Replay(journal).find(question.base, question)
    assert entry is not None
    assert entry[:4] == ("fits", 1, "What?", {question.form.names[0]: answer})


def lines(journal: Journal) -> dict[str, tuple[str, int]]:
    entries = {question.base: journal.entry(question.base) for question in (A, B, C)}
    return {base: (entry.label, entry.line) for base, entry in entries.items() if entry is not None}


def test_only_the_tools_own_task_leaves_answers_unused() -> None:
    journal = kept((A, "1", True), (B, "2", False), (C, "3", True))
    assert lines(journal) == {A.base: ("a?", 1), B.base: ("b?", 0), C.base: ("c?", 1)}
    replay = Replay(journal)
    replay.recall(A)
    replay.depart("d?")
    for each in (replay.journal, decode(encode(replay.journal))):
        assert each.strays == 1
        assert lines(each) == {A.base: ("a?", 1), B.base: ("b?", 0)}
        assert each.settled == {A.base: "1", B.base: "2"}


def test_a_branch_that_is_late_has_gone_nowhere() -> None:
    replay = Replay(kept((A, "1", True), (B, "2", False)))
    replay.recall(A)
    replay.depart("d?")
    assert replay.journal.strays == 0
    assert list(replay.journal.settled) == [A.base, B.base]


def test_a_mismatch_names_what_was_answered() -> None:
    journal = kept((A, "1", True))
    journal.strays = 1
    with pytest.raises(ReplayMismatch, match="a\\?"):
        Replay(journal).depart("d?")


def test_labels_are_read_again_after_another_answer() -> None:
    journal = kept((A, "1", True))
    assert list(journal.labels()) == [A.base]
    journal.settle(B.base, "2", "b?", 0)
    assert lines(journal) == {A.base: ("a?", 1), B.base: ("b?", 0)}


@pytest.mark.parametrize(
    "rest",
    [
        "1",
        "null",
        "[]",
        "[1,{}]",
        "[1,{},{}]",
        "[1,[7],{}]",
        "[1,[],{},0,null,null]",
        "[1,[],{},0,0,0,null,null,null,0]",
        "[" * 100_000 + "]" * 100_000,
    ],
)
def test_the_last_line_is_a_list_of_three_or_nine(rest: str) -> None:
    with pytest.raises(InvalidJournal):
        decode(f"midcall/{VERSION} c 1 \n\n\n" + rest.translate(SWAP))


@pytest.mark.parametrize("labels", ["", "1", '["a","b"]', '"a?","b?"', "[" * 100_000 + "]" * 100_000])
def test_damaged_labels_are_a_damaged_journal(labels: str) -> None:
    mark, settled, _, rest = encode(kept((A, "1", True))).split("\n")
    journal = decode("\n".join((mark, settled, labels.translate(SWAP), rest)))
    assert Replay(journal).recall(A) == "1"
    with pytest.raises(InvalidJournal):
        journal.entry(A.base)
