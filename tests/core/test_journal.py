"""The journal as text: what goes in comes out, and rubbish is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.core.journal import VERSION, Entry, Foreign, Journal, Target, decode, encode, read_head
from midcall.errors import InvalidJournal

SWAP = str.maketrans('`"', '"`')

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
content = st.dictionaries(st.text(), json_values, max_size=3)
times = st.none() | st.floats(0, 1e12)
tokens = st.from_regex(r"\A[A-Za-z0-9_-]{1,24}\Z")


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    kind = draw(st.sampled_from(["waiting", "accept", "decline", "cancel", "timeout", "effect"]))
    value = draw(content) if kind == "accept" else draw(json_values) if kind == "effect" else None
    return Entry(
        kind,
        draw(st.booleans()),
        draw(st.text(max_size=10)),
        value,
        draw(st.text(max_size=4)),
        draw(st.integers(1, 9)),
        draw(times),
        tuple(draw(st.lists(st.tuples(st.text(), st.text(), st.text()), max_size=2))),
        draw(st.sampled_from(["round", "push"])),
    )


bare_journals = st.builds(
    Journal,
    call=tokens,
    rounds=st.integers(0, 100),
    turn=st.integers(0, 100),
    owner=st.just("") | tokens,
    strays=st.integers(0, 2),
    entries=st.dictionaries(st.text(), entries(), max_size=5),
    foreign=st.none() | st.builds(Foreign, st.none() | st.text(), st.none() | content),
    target=st.none() | st.builds(Target, st.text(), st.none() | content),
    left=times,
    asked=st.lists(st.text(), max_size=3).map(tuple),
)


@st.composite
def journals_of(draw: st.DrawFn) -> Journal:
    """A journal some of whose answers were read."""
    journal = draw(bare_journals)
    for identity, entry in list(journal.entries.items()):
        if entry[0] == "accept" and draw(st.booleans()):
            journal.keep(identity, entry[3], tuple(entry[3]))
    return journal


journals = journals_of()


def listed(journal: Journal) -> Any:
    """All of it, as plain JSON data."""
    found = {identity: journal.entry(identity) for identity in [*journal.settled, *journal.entries]}
    head = [
        journal.call,
        journal.rounds,
        journal.turn,
        journal.owner,
        journal.strays,
        journal.foreign,
        journal.target,
        journal.left,
        journal.asked,
    ]
    return json.loads(json.dumps([*head, list(found.items())]))


@given(journals)
def test_a_journal_survives_the_way_through_its_text(journal: Journal) -> None:
    text = encode(journal)
    assert read_head(text) == (journal.call, journal.turn, journal.owner)
    assert listed(decode(text)) == listed(journal)
    assert encode(decode(text)) == text


@given(journals)
def test_an_entry_keeps_its_place(journal: Journal) -> None:
    assert list(decode(encode(journal)).entries) == list(journal.entries)


@given(st.text())
def test_rubbish_is_refused(text: str) -> None:
    with pytest.raises(InvalidJournal):
        decode(text)


@given(json_values)
def test_other_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidJournal):
        decode(json.dumps(value))


@given(journals)
def test_answers_that_were_read_travel_as_the_text_they_came_as(journal: Journal) -> None:
    again = decode(encode(journal))
    answers, labels = again.text().split("\n")
    again.entries["more"] = Entry("accept", 1, '`More"', {"answer": '`"`'})
    again.keep("more", {"answer": '`"`'}, ("answer",))
    now, labels_now = again.text().split("\n")
    assert now.startswith(answers)
    assert labels_now.startswith(labels)
    assert listed(decode(encode(again))) == listed(again)


@given(journals, st.data())
def test_an_answer_that_is_forgotten_is_gone(journal: Journal, data: st.DataObject) -> None:
    names = [*journal.settled, *journal.entries]
    gone = data.draw(st.sampled_from(names)) if names else "nothing"
    journal.forget(gone)
    assert decode(encode(journal)).entry(gone) is None
    assert listed(decode(encode(journal))) == listed(journal)


@given(journals, st.integers(0, 8), json_values)
def test_a_journal_with_a_field_of_the_wrong_kind_is_refused_or_read_as_it_stands(
    journal: Journal, index: int, value: Any
) -> None:
    journal.strays += 1  # so that every field is written
    *lines, rest = encode(journal).split("\n")
    fields = json.loads(rest.translate(SWAP))
    fields[index] = value
    try:
        again = decode("\n".join((*lines, json.dumps(fields).translate(SWAP))))
    except InvalidJournal:
        return
    listed(again)


@given(journals, st.lists(json_values, max_size=3) | json_values)
def test_labels_of_the_wrong_kind_are_refused_at_the_latest_when_they_are_read(journal: Journal, labels: Any) -> None:
    mark, settled, _, rest = encode(journal).split("\n")
    line = json.dumps(labels).translate(SWAP)
    try:
        again = decode("\n".join((mark, settled, line[1:-1] if isinstance(labels, list) else line, rest)))
        found = again.labels()
    except InvalidJournal:
        return
    assert list(found) == list(again.settled)
    assert all(type(label) is str and line in (0, 1) for label, line in found.values())


@given(journals, st.data())
def test_a_journal_that_is_cut_off_is_refused(journal: Journal, data: st.DataObject) -> None:
    text = encode(journal)
    with pytest.raises(InvalidJournal):
        decode(text[: data.draw(st.integers(0, len(text) - 1))])


@pytest.mark.parametrize("version", ["0", "1", "4", "6", "-1", "x", ""])
def test_another_version_is_refused_and_named(version: str) -> None:
    with pytest.raises(InvalidJournal, match=f"version {version!r}|version {version}"):
        decode(encode(Journal("x")).replace(f"midcall/{VERSION}", f"midcall/{version}"))


def test_a_later_version_is_refused_and_named() -> None:
    text = encode(Journal("x"))
    assert text.startswith(f"midcall/{VERSION} ")
    with pytest.raises(InvalidJournal, match=f"version '{VERSION + 1}'|version {VERSION + 1}"):
        decode(text.replace(f"midcall/{VERSION}", f"midcall/{VERSION + 1}"))


@pytest.mark.parametrize("state", ["", "{}", '["midcal"]', '{"v":1}', "state 1", "midcall", f"midcall/{VERSION} a b"])
def test_what_does_not_begin_as_a_journal_has_no_head(state: str) -> None:
    with pytest.raises(InvalidJournal):
        read_head(state)
