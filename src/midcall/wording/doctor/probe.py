"""The probe: its tool, its questions, which a person reads, and its report."""

from __future__ import annotations

from collections.abc import Sequence

# --- its tool ----------------------------------------------------------------------------------


# --- its questions -----------------------------------------------------------------------------
def message(kind: str) -> str:
    return {
        "text": "Test, question 1: type any word.",
        "integer": "Test, question 2: choose any whole number from 1 to 10.",
        "yes/no": "Test, question 3: answer yes or no, as you like.",
        "choice": "Test, question 4: choose any one of these.",
        "choices": "Test, question 5: choose any of these, or none.",
        "defaults": "Test, question 6: this is filled in already. Send it as it is.",
        "visit": "Test, question 7: open a page of this server. It only says that it is there.",
    }[kind]


# --- its report --------------------------------------------------------------------------------


def elicitation(modes: Sequence[str] | None) -> str:
    return "no elicitation" if modes is None else f"elicitation {{{', '.join(modes)}}}"


def channels(mode: str, names: Sequence[str]) -> str:
    what = "Forms" if mode == "form" else "Visits"
    return f"{what} get there by: {', '.join(names) or 'nothing'}"


def columns() -> tuple[str, ...]:
    return "question", "asked by", "answer", "seconds", "remarks"
