"""Ask the user in the middle of an MCP call.

    import midcall
    from midcall import ask, confirm

    mcp = MCPServer("travel")
    midcall.install(mcp)

    @mcp.tool()
    async def book(destination: str) -> str:
        days = await ask("How many days?", int)
        ...

A server author needs only the names below. They are loaded on first use, so that a command that
only prints its help does not load an MCP stack.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from midcall.errors import (
    CallbackRefused,
    CannotAsk,
    ClientFailed,
    DuplicateKey,
    InstallError,
    InvalidAnswer,
    InvalidForm,
    InvalidJournal,
    InvalidQuestion,
    JournalTooLarge,
    MalformedAnswer,
    MidcallError,
    Misuse,
    NoCall,
    NoChannel,
    NotAnswered,
    NotRecordable,
    OAuthError,
    OnceUnknown,
    ProviderFailed,
    RecordRefused,
    ReplayError,
    ReplayMismatch,
    SecretInForm,
    StoreError,
    StoreFull,
    TimedOut,
    TooManyRounds,
    UserCancelled,
    UserDeclined,
    VaultLocked,
)
from midcall.logs import guard_logs

if TYPE_CHECKING:
    from midcall import client as client
    from midcall import from_thread as from_thread
    from midcall import testing as testing
    from midcall.core.forms.fields import Choice, Choices, Flag, Number, Text
    from midcall.core.forms.form import Form
    from midcall.core.outcome import STRONG, Accepted, Cancelled, Declined, Outcome, Via
    from midcall.core.question import Question, Visit
    from midcall.language.problems import Problem
    from midcall.server.channels.required import UrlElicitationRequired
    from midcall.server.install import install
    from midcall.server.installation import Installation
    from midcall.server.verbs import (
        approve,
        ask,
        ask_all,
        authorize,
        can_ask,
        choose,
        complete,
        confirm,
        elicit,
        once,
        secret,
        suspending,
        visit,
    )

__version__ = "0.1.0"

guard_logs()

_MODULES = ("client", "from_thread", "testing")
"""Loaded when they are first used, too."""

_HOMES = {
    "midcall.core.forms.fields": ("Choice", "Choices", "Flag", "Number", "Text"),
    "midcall.core.forms.form": ("Form",),
    "midcall.core.outcome": ("STRONG", "Accepted", "Cancelled", "Declined", "Outcome", "Via"),
    "midcall.core.question": ("Question", "Visit"),
    "midcall.language.problems": ("Problem",),
    "midcall.server.install": ("install",),
    "midcall.server.installation": ("Installation",),
    "midcall.server.channels.required": ("UrlElicitationRequired",),
    "midcall.server.verbs": (
        "approve",
        "ask",
        "ask_all",
        "authorize",
        "can_ask",
        "choose",
        "complete",
        "confirm",
        "elicit",
        "once",
        "secret",
        "suspending",
        "visit",
    ),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "STRONG",
    "Accepted",
    "CallbackRefused",
    "Cancelled",
    "CannotAsk",
    "Choice",
    "Choices",
    "ClientFailed",
    "Declined",
    "DuplicateKey",
    "Flag",
    "Form",
    "InstallError",
    "Installation",
    "InvalidAnswer",
    "InvalidForm",
    "InvalidJournal",
    "InvalidQuestion",
    "JournalTooLarge",
    "MalformedAnswer",
    "MidcallError",
    "Misuse",
    "NoCall",
    "NoChannel",
    "NotAnswered",
    "NotRecordable",
    "Number",
    "OAuthError",
    "OnceUnknown",
    "Outcome",
    "Problem",
    "ProviderFailed",
    "Question",
    "RecordRefused",
    "ReplayError",
    "ReplayMismatch",
    "SecretInForm",
    "StoreError",
    "StoreFull",
    "Text",
    "TimedOut",
    "TooManyRounds",
    "UrlElicitationRequired",
    "UserCancelled",
    "UserDeclined",
    "VaultLocked",
    "Via",
    "Visit",
    "approve",
    "ask",
    "ask_all",
    "authorize",
    "can_ask",
    "choose",
    "complete",
    "confirm",
    "elicit",
    "install",
    "once",
    "secret",
    "suspending",
    "visit",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"midcall.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'midcall' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
