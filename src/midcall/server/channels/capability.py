"""What the client said that it can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from midcall.protocol import has_mode, has_visit_errors

if TYPE_CHECKING:
    from midcall.server.call import Call

__all__ = ["lacks", "lacks_the_error"]


def lacks(call: Call, mode: str) -> str | None:
    """Why this client cannot be asked in this mode; None if it can. `{}` means form only."""
    if not has_mode(call.version, mode):
        return f"protocol {call.version} has no {mode} elicitation"
    declared = call.elicitation
    if declared is None:
        return "the client did not declare elicitation"
    if mode == "url":
        return None if declared.url is not None else "the client did not declare URL elicitation"
    if declared.form is None and declared.url is not None:
        return "the client declared URL elicitation only"
    return None


def lacks_the_error(call: Call) -> str | None:
    """Why the error -32042 would mean nothing to this client; None if it would.

    A stateless server does not know what its client declared; there this error is all that it has.
    """
    unknown = has_visit_errors(call.version) and call.session.client_capabilities is None
    return None if unknown else lacks(call, "url")
