"""Everything that midcall raises, in one tree.

    MidcallError
    ├── NotAnswered              a question was not answered with a value
    │   ├── UserDeclined         the user said no
    │   ├── UserCancelled        the user closed the form without deciding
    │   ├── TimedOut             nobody answered in time
    │   ├── InvalidAnswer        the answers did not fit the form, as often as it was asked
    │   └── CannotAsk            the question could not be put to the user at all
    │       ├── NoCall           no MCP call is running here
    │       ├── NoChannel        this client has no way to be asked
    │       └── ClientFailed     the client broke off or answered with an error
    ├── InvalidQuestion          the author's question cannot be asked (also a ValueError)
    │   ├── InvalidForm          the form is not one that MCP can show
    │   │   └── SecretInForm     the form asks for a secret
    │   └── DuplicateKey         one key for two questions
    ├── MalformedAnswer          the client's answer is not one at all: a protocol error
    ├── ReplayError              the call cannot go on from what was recorded
    │   ├── ReplayMismatch       the code took another way than the journal
    │   ├── InvalidJournal       the state is damaged, or of another version
    │   ├── JournalTooLarge      the state has grown past what may travel
    │   ├── TooManyRounds        one more round than clients go along with
    │   ├── NotRecordable        a `once` result that JSON cannot hold (also a TypeError)
    │   └── OnceUnknown          nobody knows whether a `once` has run
    ├── StoreError               the store cannot be reached, or cannot do what it was asked to
    ├── VaultLocked              a secret is kept, and its key is missing
    ├── OAuthError               an account could not be connected, or its access not be used
    │   ├── CallbackRefused      a browser came back with an answer that is not taken
    │   └── ProviderFailed       the provider cannot be reached, refuses, or makes no sense
    │       └── GrantRefused     it does not know this code or refresh token (midcall.portal.oauth.errors)
    ├── BadCallback              a webhook that nobody signed, or too late (midcall.portal.webhooks)
    ├── Misuse                   a verb was used where it cannot work (also a RuntimeError)
    ├── InstallError             `install` cannot do what it was asked to (also a ValueError)
    │
    │   on the client's side, in midcall.client:
    ├── CannotConnect            there is no connection to the server
    ├── CannotAnswer             an answerer ends a question with an error, and not with an outcome
    │   └── NoAnswer             a script has no answer to this question
    ├── BadScript                a file of answers cannot be read (also a ValueError)
    ├── NotPending               no question is open under this id (also a LookupError)
    └── DoesNotFit               the content does not fit the form (also a ValueError)

What a tool can meet is defined here, and `midcall` has it; what only one part raises is defined there.

This module imports nothing of MCP, so that the pure core can raise. Where a server would hide
the text of an exception it does not know, `midcall.server.frameworks.errors` gives it the base class that
the server lets through; `except UserDeclined` works either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from midcall.restoring import restored

if TYPE_CHECKING:
    from midcall.core.forms.check import Problem

__all__ = [
    "CallbackRefused",
    "CannotAsk",
    "ClientFailed",
    "DuplicateKey",
    "InstallError",
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
    "OAuthError",
    "OnceUnknown",
    "ProviderFailed",
    "ReplayError",
    "ReplayMismatch",
    "SecretInForm",
    "StoreError",
    "TimedOut",
    "TooManyRounds",
    "UserCancelled",
    "UserDeclined",
    "VaultLocked",
]

DOCS = "docs/errors.md"


class MidcallError(Exception):
    """Base of everything that midcall raises.

    `advice` tells the author of the server what to do next; `for_model` is the sentence that ends
    an uncaught error's tool call, written for the model that made the call.
    """

    def __init__(self, message: str, *, advice: str = "", for_model: str = "") -> None:
        super().__init__(message)
        self.text = message
        self.advice = advice
        self.for_model = for_model or message

    def __str__(self) -> str:
        return self.with_advice

    def __reduce__(self) -> tuple[Any, ...]:
        return restored, (type(self), self.args, self.__dict__)

    @property
    def with_advice(self) -> str:
        """The text and the advice: what logs say."""
        return f"{_sentence(self.text)} {self.advice}".strip()

    @property
    def docs(self) -> str:
        """The page that explains this error."""
        return f"{DOCS}#{type(self).__name__.lower()}"

    @property
    def explained(self) -> str:
        """Where to read about it, also where there are no docs: the command line has the page too."""
        return f"See {self.docs}, or run: midcall explain {type(self).__name__}"


def _sentence(text: str) -> str:
    return text if text[-1:] in ".!?" else f"{text}."


class NotAnswered(MidcallError):
    """A question was not answered with a value."""


class UserDeclined(NotAnswered):
    """The user said no."""


class UserCancelled(NotAnswered):
    """The user closed the form without deciding."""


class TimedOut(NotAnswered):
    """Nobody answered in time."""


class InvalidAnswer(NotAnswered):
    """The answers did not fit the form, as often as it was asked. `problems` says why."""

    def __init__(self, message: str, problems: Sequence[Problem] = (), **texts: Any) -> None:
        super().__init__(message, **texts)
        self.problems = tuple(problems)


class CannotAsk(NotAnswered):
    """The question could not be put to the user."""


class NoCall(CannotAsk):
    """No MCP call is running here."""


class NoChannel(CannotAsk):
    """This client has no way to be asked.

    `mode` is the elicitation mode of the question, and `reasons` says of each channel why it does not serve.
    `undeclared` is the mode that the client would have to declare, if that would help. As text it is short, because
    tools hand it to the model; `advice` is for the log.
    """

    def __init__(
        self,
        message: str,
        *,
        mode: str = "form",
        undeclared: str | None = None,
        reasons: Mapping[str, str] | None = None,
        **texts: Any,
    ) -> None:
        super().__init__(message, **texts)
        self.mode = mode
        self.undeclared = undeclared
        self.reasons = dict(reasons or {})

    def __str__(self) -> str:
        return _sentence(self.text)


class ClientFailed(CannotAsk):
    """The client broke off, or answered the question with an error.

    `code`, `message` and `data` are those of the client's error.
    """

    def __init__(
        self, text: str, *, code: int | None = None, message: str = "", data: Any = None, **texts: Any
    ) -> None:
        super().__init__(text, **texts)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return _sentence(self.text)


class InvalidQuestion(MidcallError, ValueError):
    """The question cannot be asked as the author wrote it."""


class InvalidForm(InvalidQuestion):
    """The form is not one that MCP can show. `path` names the offender."""

    def __init__(self, message: str, *, path: str = "", **texts: Any) -> None:
        super().__init__(f"{path}: {message}" if path else message, **texts)
        self.path = path


class SecretInForm(InvalidForm):
    """The form asks for a secret, which must never pass through a client."""


class DuplicateKey(InvalidQuestion):
    """One key was given to two questions of a call."""


class MalformedAnswer(MidcallError):
    """What the client sent is not an answer at all."""


class ReplayError(MidcallError):
    """The call cannot go on from what was recorded."""


class ReplayMismatch(ReplayError):
    """The code took another way than the one that was recorded."""


class InvalidJournal(ReplayError):
    """The state is damaged, or of a version that cannot be read."""


class JournalTooLarge(ReplayError):
    """The recorded state has grown past what may travel with a request."""


class TooManyRounds(ReplayError):
    """The call would need one more round than clients go along with."""


class NotRecordable(ReplayError, TypeError):
    """A `once` result, or its annotation, cannot be held in JSON."""


class OnceUnknown(ReplayError):
    """A `once` was started and nobody knows whether it ended."""


class StoreError(MidcallError):
    """The store cannot be reached, or cannot do what it was asked to.

    Nothing was changed, unless the text says that nobody knows. It never names a user, a password or
    anything that is kept.
    """

    def __init__(self, message: str, *, advice: str = "", for_model: str = "") -> None:
        super().__init__(
            message,
            advice=advice,
            for_model=for_model
            or (
                "This server cannot reach the place where it keeps what its calls need. That is not the user's "
                "fault, and nothing that was kept is lost. Make the call again in a little while."
            ),
        )

    @property
    def docs(self) -> str:
        return "docs/stores.md#when-something-is-wrong"


class VaultLocked(MidcallError):
    """What the vault keeps cannot be opened: its key is missing, or it was sealed for somebody else."""


class OAuthError(MidcallError):
    """An account could not be connected, or its access not be used. `text` may be shown to the user."""

    status = 502
    """What a page that shows it answers with."""

    def __init__(self, message: str, *, advice: str = "", for_model: str = "") -> None:
        super().__init__(
            message,
            advice=advice,
            for_model=for_model
            or f"{message} Nothing was done, and nothing was lost: the tool can be called again in a little while.",
        )


class CallbackRefused(OAuthError):
    """A browser came back with an answer that is not taken. Nothing has changed for the user."""

    def __init__(self, message: str, *, status: int = 400, **texts: Any) -> None:
        super().__init__(message, **texts)
        self.status = status


class ProviderFailed(OAuthError):
    """The provider cannot be reached, refuses, or makes no sense. It can be tried again."""


class Misuse(MidcallError, RuntimeError):
    """A verb was used where it cannot work."""


class InstallError(MidcallError, ValueError):
    """`install` cannot do what it was asked to."""
