"""Signed callbacks: only what this server signed finishes a visit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midcall.errors import InstallError
from midcall.portal.webhooks import BadCallback, Callbacks

KEY, OLD = "k key of the tests: 0123456789abcdef", "o key of the tests: 0123456789abcdef"


@given(st.text(min_size=1).filter(lambda id: id.isprintable()))
def test_a_signed_callback_is_verified(id: str) -> None:
    callbacks = Callbacks(KEY)
    assert callbacks.verify(callbacks.sign(id)) == id


@given(st.text())
def test_an_unsigned_or_changed_callback_is_rejected(query: str) -> None:
    with pytest.raises(BadCallback):
        Callbacks(KEY).verify(query)


def test_a_signature_is_for_one_visit() -> None:
    query = Callbacks(KEY).sign("order-1")
    with pytest.raises(BadCallback, match="not signed"):
        Callbacks(KEY).verify(query.replace("order-1", "order-2"))


def test_a_signature_expires_and_nobody_can_extend_it() -> None:
    query = Callbacks(KEY, lasts=60, clock=lambda: 1000.0).sign("order-1")
    assert Callbacks(KEY, clock=lambda: 1059.0).verify(query) == "order-1"
    with pytest.raises(BadCallback, match="expired"):
        Callbacks(KEY, clock=lambda: 1061.0).verify(query)
    with pytest.raises(BadCallback, match="not signed"):
        Callbacks(KEY, clock=lambda: 1061.0).verify(query.replace("1060", "9060"))


def test_keys_can_be_rotated() -> None:
    query = Callbacks(OLD).sign("order-1")
    assert Callbacks([KEY, OLD]).verify(query) == "order-1"
    with pytest.raises(BadCallback):
        Callbacks(KEY).verify(query)


@pytest.mark.parametrize("keys", ["short", [], [KEY, "short"]])
def test_invalid_keys_fail_at_once(keys: list[str] | str) -> None:
    with pytest.raises(InstallError):
        Callbacks(keys)
