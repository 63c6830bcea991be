"""Everything that midcall raises, in one tree.

    MidcallError
    ├── NotAnswered              a question was not answered with a value
    │   ├── UserDeclined         the user said no
    │   ├── UserCancelled        the user closed the form without deciding
    │   ├── TimedOut             nobody answered in time
    │   ├── InvalidAnswer        the answers did not fit the form, at any attempt
    │   └── CannotAsk            the user could not be asked at all
    │       ├── NoCall           no MCP call is running here
    │       ├── NoChannel        this client has no way to be asked
    │       └── ClientFailed     the client disconnected or answered with an error
    ├── InvalidQuestion          the author's question cannot be asked (also a ValueError)
    │   ├── InvalidForm          MCP cannot show this form
    │   │   └── SecretInForm     the form asks for a secret
    │   └── DuplicateKey         one key for two questions
    ├── MalformedAnswer          the client did not send an answer at all: a protocol error
    ├── ReplayError              the call cannot be resumed from its journal
    │   ├── ReplayMismatch       the replayed code did not do what was recorded
    │   ├── InvalidJournal       the state is damaged, or of another version
    │   ├── JournalTooLarge      the state is too large to travel with a request
    │   ├── TooManyRounds        one more round than clients accept
    │   ├── NotRecordable        a `once` result that JSON cannot hold (also a TypeError)
    │   └── OnceUnknown          nobody knows whether a `once` has run
    ├── StoreError               the store cannot be reached, or refuses
    │   ├── RecordRefused        somebody without the keys wrote, changed or moved a record
    │   └── StoreFull            this caller, or all of them, have too much in the store
    ├── VaultLocked              there is a secret, but its key is missing
    ├── OAuthError               an account could not be connected or used
    │   ├── CallbackRefused      a browser came back with an answer that is not accepted
    │   └── ProviderFailed       the provider is unreachable, refuses, or sends something invalid
    │       └── GrantRefused     it does not know this code or refresh token (midcall.portal.oauth.errors)
    ├── BadCallback              an unsigned or late webhook (midcall.portal.webhooks)
    ├── Misuse                   a verb was used where it cannot work (also a RuntimeError)
    ├── InstallError             a setting of `install` is wrong (also a ValueError)
    │
    │   on the client's side, in midcall.client:
    ├── CannotConnect            there is no connection to the server
    ├── CannotAnswer             an answerer ends a question with an error instead of an outcome
    │   └── NoAnswer             a script has no answer to this question
    ├── BadScript                a file of answers cannot be read (also a ValueError)
    ├── NotPending               no question is open under this id (also a LookupError)
    └── DoesNotFit               the content does not fit the form (also a ValueError)

Errors that a tool can meet are defined here, and `midcall` exports them; an error that only one part raises is defined
there. Each class has its own text: what happened, what the author can do about it, and what the model reads.

This module imports nothing of MCP, so that the pure core can raise. Servers hide the text of exceptions that they don't
know, so `midcall.server.frameworks.errors` adds the base class that a server lets through; `except UserDeclined` works
either way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

if TYPE_CHECKING:
    from midcall.language.problems import Problem

QUOTE: Final = 200
"""How much of a client's own text the model reads."""
UNSEEN: Final = "The client answered automatically, at once: the user has probably not seen the question."
UNSEEN_FOR_MODEL: Final = (
    "This tool asked the user a question, but the client answered it automatically, at once, so the user has probably "
    "not seen it. Nobody decided anything. Tell the user what the tool needs, and that this client cannot ask in this "
    "mode."
)

ErrorT = TypeVar("ErrorT", bound=Exception)


class MidcallError(Exception):
    """Base of everything that midcall raises.

    `text` says what happened, `advice` is what the author of the server can do next, and `for_model` is what the
    model reads if the tool doesn't catch the error.
    """

    advice: str = ""
    for_model: str = (
        "This call failed because of a problem in the server itself. Calling it again will not help. Tell the user."
    )

    def __init__(self, message: str, *, advice: str = "", for_model: str = "") -> None:
        super().__init__(message)
        self.text = message
        self.advice = advice or self.advice
        self.for_model = for_model or self.for_model

    def __str__(self) -> str:
        return self.with_advice

    def __reduce__(self) -> tuple[Any, ...]:
        return MidcallError.rebuild, (type(self), self.args, self.__dict__)

    @staticmethod
    def rebuild(kind: type[ErrorT], args: tuple[Any, ...], state: Mapping[str, Any]) -> ErrorT:
        """Copy or unpickle an error: same class, arguments and attributes. Its `__init__` doesn't run."""
        error = Exception.__new__(kind)
        error.args = args
        error.__dict__.update(state)
        return error

    @property
    def with_advice(self) -> str:
        """The text and the advice: what logs say."""
        return f"{_sentence(self.text)} {self.advice}".strip()

    @property
    def docs(self) -> str:
        """The command that explains this error: the errors page comes with the package."""
        return f"midcall explain {type(self).__name__}"

    @property
    def reference(self) -> str:
        """How logs end: the command that says more."""
        return f"For details, run: {self.docs}"


def _sentence(text: str) -> str:
    return text if text[-1:] in ".!?" else f"{text}."


class NotAnswered(MidcallError):
    """A question was not answered with a value."""


class UserDeclined(NotAnswered):
    """The user said no. If `unseen`, the client did, so fast that the user has probably not seen the question."""

    for_model = (
        "The user declined to answer, so the tool stopped. Do not ask for the same thing again. Offer an alternative, "
        "or ask the user how to proceed."
    )

    def __init__(self, message: str = "The user declined.", *, unseen: bool = False, **texts: Any) -> None:
        super().__init__(UNSEEN if unseen else message, **({"for_model": UNSEEN_FOR_MODEL} if unseen else {}) | texts)
        self.unseen = unseen


class UserCancelled(NotAnswered):
    """The user closed the form without deciding. If `unseen`, the client did, as for `UserDeclined`."""

    for_model = (
        "The user dismissed the question without answering, so the tool stopped. Call it again only if the user asks "
        "you to."
    )

    def __init__(self, message: str = "The user cancelled.", *, unseen: bool = False, **texts: Any) -> None:
        super().__init__(UNSEEN if unseen else message, **({"for_model": UNSEEN_FOR_MODEL} if unseen else {}) | texts)
        self.unseen = unseen


class TimedOut(NotAnswered):
    """Nobody answered in time."""

    for_model = "The user did not answer in time, so the tool stopped. Call it again when the user is back."

    def __init__(self, message: str = "", *, within: float | None = None, **texts: Any) -> None:
        time = "in time" if within is None else f"within {within:g} s"
        super().__init__(message or f"The user did not answer {time}.", **texts)


class InvalidAnswer(NotAnswered):
    """The answers did not fit the form, at any attempt. `problems` says why."""

    for_model = (
        "The user's answers did not fit the form, so the tool stopped. Tell the user, and call it again if they want "
        "to retry."
    )

    def __init__(self, problems: Sequence[Problem], attempts: int = 1, **texts: Any) -> None:
        times = "once" if attempts == 1 else f"{attempts} times"
        super().__init__(f"No valid answer, asked {times}: {'; '.join(map(str, problems))}.", **texts)
        self.problems = tuple(problems)


class CannotAsk(NotAnswered):
    """The user could not be asked."""


class NoCall(CannotAsk):
    """No MCP call is running here."""


class NoChannel(CannotAsk):
    """This client has no way to be asked.

    `mode` is the elicitation mode of the `question`, which the model reads, and `reasons` says for each channel why it
    can't carry the question. `undeclared` is the mode that the client would have to declare, if that would help. The
    error's text has the main reason only, because tools pass it to the model; `advice` is for the log.
    """

    for_model = (
        "This tool needs input from the user, but this client cannot show questions. Tell the user to try a client "
        "that supports MCP elicitation."
    )
    # The reasons that the advice is about.
    REFUSED: ClassVar[str] = "the question refuses it"
    NO_PORTAL: ClassVar[str] = "no portal is installed"
    NO_DEFAULT: ClassVar[str] = "the question has no default"

    def __init__(
        self,
        reason: str,
        *,
        mode: str = "form",
        undeclared: str | None = None,
        reasons: Mapping[str, str] | None = None,
        question: str = "",
        advice: str = "",
        for_model: str = "",
    ) -> None:
        reasons = dict(reasons or {})
        if question:
            asked = question if len(question) <= QUOTE else f"{question[:QUOTE]}…"
            for_model = f"{for_model or NoChannel.for_model} Its question was: {asked}"
        super().__init__(
            f"The user cannot be asked: {reason}", advice=advice or _channel_advice(mode, reasons), for_model=for_model
        )
        self.mode = mode
        self.undeclared = undeclared
        self.reasons = reasons

    def __str__(self) -> str:
        return _sentence(self.text)


def _channel_advice(mode: str, reasons: Mapping[str, str]) -> str:
    """Why no channel can carry the question, and what would help."""
    by_reason: dict[str, list[str]] = {}  # several channels often have the same one
    for channel, reason in reasons.items():
        by_reason.setdefault(reason, []).append(channel)
    each = "; ".join(f"{', '.join(channels)}: {reason}" for reason, channels in by_reason.items())
    helps = [f"By channel: {each}."] if each else []
    if NoChannel.REFUSED in by_reason:
        helps.append("Allow the question more channels: its via= refuses some.")
    fallbacks = ["check with can_ask() first"]
    if NoChannel.NO_DEFAULT in by_reason:
        fallbacks.insert(0, "give the question a default=")
    if NoChannel.NO_PORTAL in by_reason:
        fallbacks.insert(0, "install a portal, which reaches any user by a link (install(..., portal=Portal()))")
    what = "URLs (mode: url)" if mode == "url" else "forms"
    helps.append(f"For clients that cannot show {what}: {', or '.join(fallbacks)}.")
    helps.append("Clients that can show them need stdio, stateful HTTP or protocol 2026-07-28.")
    return " ".join([*helps, "`midcall doctor` reports what this server lacks."])


class ClientFailed(CannotAsk):
    """The client disconnected, or answered the question with an error.

    `code`, `message` and `data` are those of the client's error.
    """

    advice = "The user may not have seen the question. Treat it as not answered."

    def __init__(
        self, code: int | None = None, message: str = "", data: Any = None, *, gone: bool = False, **texts: Any
    ) -> None:
        answered = f"The client answered the question with an error ({code}: {message})."
        super().__init__("The client disconnected while the user was asked." if gone else answered, **texts)
        why = f" ({message[:QUOTE]})" if message and not gone else ""
        self.for_model = texts.get("for_model") or (
            f"This tool needs input from the user, but the client could not show the question{why}. Tell the user to "
            "try again, or to use another client."
        )
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return _sentence(self.text)


class InvalidQuestion(MidcallError, ValueError):
    """The question cannot be asked as the author wrote it."""


class InvalidForm(InvalidQuestion):
    """MCP cannot show this form. `path` names the part that is wrong."""

    def __init__(self, message: str, *, path: str = "", **texts: Any) -> None:
        super().__init__(f"{path}: {message}" if path else message, **texts)
        self.path = path


class SecretInForm(InvalidForm):
    """The form asks for a secret, which must never pass through a client."""


class DuplicateKey(InvalidQuestion):
    """Two questions of a call have the same key."""


class MalformedAnswer(MidcallError):
    """The client did not send an answer at all."""


class ReplayError(MidcallError):
    """The call cannot be resumed from its journal."""

    for_model = "This call could not be resumed, and nothing more was done. Call the tool again to start over."


class ReplayMismatch(ReplayError):
    """The replayed code did not do what was recorded."""

    advice = (
        "A replayed tool runs again from the top and must ask the same questions each time. Put everything that "
        "changes between runs (time, random numbers, reads) into `once`; if only a message changes, a key= will do."
    )


class InvalidJournal(ReplayError):
    """The state is damaged, or of a version that cannot be read."""

    def __init__(self, message: str = "The state of this call cannot be read.", **texts: Any) -> None:
        super().__init__(message, **texts)


class JournalTooLarge(ReplayError):
    """The recorded state is too large to travel with a request."""

    advice = (
        "With a store the state stays on the server: install(..., store=...). Or record less: let `once` return an id "
        "or a summary, and limit what users can type (max_length)."
    )
    for_model = MidcallError.for_model

    def __init__(self, size: int, limit: int, **texts: Any) -> None:
        super().__init__(
            f"The state of this call has grown to {size:,} bytes, and at most {limit:,} travel with a request.", **texts
        )


class TooManyRounds(ReplayError):
    """The call needs one more round than clients accept."""

    advice = "Ask questions that belong together with ask_all(...): it puts them into one round."
    for_model = (
        "This tool asked too many questions in one call and was stopped. Calling it again will not help. Tell the user "
        "that its author can ask several questions at once (ask_all)."
    )

    def __init__(self, limit: int, **texts: Any) -> None:
        super().__init__(f"This call needs more than {limit} rounds, and clients give up after that.", **texts)


class NotRecordable(ReplayError, TypeError):
    """A `once` result, or its annotation, cannot be held in JSON. If the effect has run, `step` names it."""

    advice = "Return plain data, a pydantic model, a dataclass or a TypedDict, and annotate it."
    for_model = MidcallError.for_model

    def __init__(self, message: str, *, step: str | None = None, **texts: Any) -> None:
        lost = "" if step is None else " The function has run, and its result is lost."
        super().__init__(f"{message}{lost}", **texts)
        if step is not None:
            self.for_model = (
                f"The step {step!r} of this tool was done, but its result could not be recorded because of a bug in "
                "the tool. Do not call the tool again until the user has checked what happened."
            )


class OnceUnknown(ReplayError):
    """Nobody knows whether an effect has finished. `step` names the `once`, if it is one."""

    def __init__(self, message: str = "", *, step: str = "", **texts: Any) -> None:
        super().__init__(message or f"once({step!r}) was started before, and nobody knows whether it finished", **texts)
        if step:
            self.advice = (
                "The process that ran it may have died. If the function is safe to repeat, use once.retry(...), or let "
                "it take `idempotency_key`."
            )
            self.for_model = (
                f"The step {step!r} of this tool was started, and nobody knows whether it finished. Do not call the "
                "tool again until the user has checked what happened."
            )


class StoreError(MidcallError):
    """The store cannot be reached, or refuses.

    Nothing was changed, unless the text says that nobody knows. The text never names a user, a password or stored data.
    """

    for_model = (
        "This server cannot reach its database. That is not the user's fault, and nothing is lost. Call the tool "
        "again in a few minutes."
    )


class RecordRefused(StoreError):
    """Somebody without the keys of this server wrote, changed or moved a record in the store. It counts for nothing."""

    advice = (
        "Replicas of a server need the same keys, name and namespace; keep an earlier key in MIDCALL_KEYS until its "
        "calls have ended. If yours do, someone else writes to your store: find out who. Nothing was deleted."
    )
    for_model = (
        "What the server has stored about this call failed a security check, so the call was stopped. Tell the "
        "user to report this to the operator of the server. Do not try again now."
    )

    def __init__(self, kind: str, **texts: Any) -> None:
        super().__init__(
            f"A record in the store ({kind[:20]!r}) was not written with the keys of this server, or was changed or "
            "moved since.",
            **texts,
        )


class StoreFull(StoreError):
    """This caller has reached its quota in the store, or all callers together have reached theirs."""

    for_model = (
        "This server has too many unfinished calls, so it cannot ask another question now. Nothing is lost. Finish or "
        "wait for the calls that are open, and try again later."
    )


class VaultLocked(MidcallError):
    """The vault cannot open a secret: its key is missing, or it was sealed for somebody else."""


class OAuthError(MidcallError):
    """An account could not be connected or used. `text` may be shown to the user."""

    status = 502
    """The HTTP status of a page that shows it."""

    def __init__(self, message: str, *, advice: str = "", for_model: str = "") -> None:
        retry = "Nothing was done, and nothing is lost. Call the tool again in a few minutes."
        super().__init__(message, advice=advice, for_model=for_model or f"{_sentence(message)} {retry}")


class CallbackRefused(OAuthError):
    """A browser came back with an answer that is not accepted. Nothing has changed for the user."""

    def __init__(self, message: str, *, status: int = 400, **texts: Any) -> None:
        super().__init__(message, **texts)
        self.status = status


class ProviderFailed(OAuthError):
    """The provider is unreachable, refuses, or sends something invalid. Retrying may help."""


class Misuse(MidcallError, RuntimeError):
    """A verb was used where it cannot work."""


class InstallError(MidcallError, ValueError):
    """A setting of `install` is wrong, or its server is."""
