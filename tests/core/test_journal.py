"""The journal as text: what goes in comes out, and rubbish is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.core.journal import VERSION, Entry, Foreign, Journal, decode, encode, is_journal
from midcall.errors import InvalidJournal

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
content = st.dictionaries(st.text(), json_values, max_size=3)
times = st.none() | st.floats(0, 1e12)


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


journals = st.builds(
    Journal,
    call=st.text(),
    rounds=st.integers(0, 100),
    strays=st.integers(0, 2),
    progress=st.none() | st.integers(0, 100) | st.floats(0, 100),
    entries=st.dictionaries(st.text(), entries(), max_size=5),
    foreign=st.none() | st.builds(Foreign, st.none() | st.text(), st.none() | content),
)


def listed(journal: Journal) -> Any:
    """All of it, as plain JSON data."""
    found = {identity: journal.entry(identity) for identity in list(journal.entries)}
    return json.loads(
        json.dumps(
            [journal.call, journal.rounds, journal.strays, journal.progress, list(found.items()), journal.foreign]
        )
    )


@given(journals)
def test_a_journal_survives_the_way_through_its_text(journal: Journal) -> None:
    text = encode(journal)
    assert is_journal(text)
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


@given(journals, st.integers(0, 7), json_values)
def test_a_journal_with_a_field_of_the_wrong_kind_is_refused_or_read_as_it_stands(
    journal: Journal, index: int, value: Any
) -> None:
    fields = json.loads(encode(journal))
    fields[index] = value
    try:
        again = decode(json.dumps(fields))
    except InvalidJournal:
        return
    listed(again)


@given(journals, st.data())
def test_a_journal_that_is_cut_off_is_refused(journal: Journal, data: st.DataObject) -> None:
    text = encode(journal)
    with pytest.raises(InvalidJournal):
        decode(text[: data.draw(st.integers(0, len(text) - 1))])


@pytest.mark.parametrize("version", [0, VERSION + 1, -1, "1", None, True, 1.5, [1]])
def test_another_version_is_refused_and_named(version: Any) -> None:
    fields = json.loads(encode(Journal("x")))
    fields[1] = version
    with pytest.raises(InvalidJournal) as caught:
        decode(json.dumps(fields))
    assert "version" in str(caught.value)


def test_states_of_others_are_not_taken_for_ours() -> None:
    for state in ("", "{}", '["midcal"]', '{"v":1}', "state 1", ' ["midcall",1]'):
        assert not is_journal(state)
