"""The probe: its tool, its questions, which a person reads, and its report."""

from __future__ import annotations

from collections.abc import Sequence


# --- its tool ----------------------------------------------------------------------------------
def title() -> str:
    return "Try out how this client asks its user"


def description() -> str:
    return (
        "Asks the user one harmless question of each kind, and reports what came of each: whether this client can "
        "be asked, how the question got there, and how it was answered. Changes nothing. For the author of this server."
    )


def timeout() -> str:
    return "For how many seconds each question may wait"


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
def heading(client: str, version: str) -> str:
    return f"{client or 'A client without a name'}, protocol {version}"


def declared(what: str) -> str:
    return f"Declared: {what}"


def elicitation(modes: Sequence[str] | None) -> str:
    return "no elicitation" if modes is None else f"elicitation {{{', '.join(modes)}}}"


def channels(mode: str, names: Sequence[str]) -> str:
    what = "Forms" if mode == "form" else "Visits"
    return f"{what} get there by: {', '.join(names) or 'nothing'}"


def columns() -> tuple[str, ...]:
    return "question", "asked by", "answer", "seconds", "remarks"


def too_fast() -> str:
    return "faster than a person reads: probably nobody saw it"


def scripted() -> str:
    return "a program answered"


def defaults_lost() -> str:
    return "it was not sent as it was filled in"


def no_answer(seconds: float) -> str:
    return f"nothing came within {seconds:g} s: perhaps nobody saw it"
