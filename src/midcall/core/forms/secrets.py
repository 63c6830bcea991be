"""Find the fields that ask for a secret, by their names, and a bare text by its message.

A form passes through the client, and may pass through the model, so it must not ask for a secret. Names are compared as
whole words: `accessToken` is found, `max_tokens` isn't. Only text and numbers can hold a secret.

In `ask("Your password?", str)` only the message names the secret. Messages often contain other people's words, so only
the plainest ones are refused: a short label, or "Enter" and "What is" with a secret's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from midcall.core.forms.fields import Number, Text
from midcall.core.forms.form import Form
from midcall.errors import InvalidQuestion, SecretInForm
from midcall.settings.calls import SECRET_NAME_CHARACTERS

_PHRASES: Final = (
    # passwords, including those in the languages that forms are most often written in
    *("password", "passwords", "passwd", "pwd", "passphrase", "passcode", "passwort", "kennwort"),
    *("mot de passe", "contraseña", "senha", "wachtwoord"),
    # keys and tokens
    *("secret", "secrets", "secret id", "credential", "credentials", "bearer", "connection string"),
    *("api key", "api keys", "access key", "access keys", "private key", "private keys", "secret key", "signing key"),
    *("encryption key", "master key", "recovery key", "ssh key", "service account key"),
    *("access token", "api token", "auth token", "refresh token", "session token", "security token"),
    *("access tokens", "api tokens", "auth tokens", "refresh tokens"),
    *("seed phrase", "recovery phrase", "mnemonic phrase"),
    # one-time codes
    *("otp", "totp", "one time code", "2fa code", "mfa code", "verification code", "authentication code"),
    *("auth code", "security code", "recovery code", "recovery codes", "backup code", "backup codes"),
    # payment and identity numbers that are enough to act for someone
    *("card number", "card no", "credit card", "debit card", "cvv", "cvc"),
    *("social security number", "ssn"),
)
# These follow a secret's name if the field is only about it: token_count, password_policy, api_key_name.
_ABOUT: Final = frozenset(
    {
        *("age", "budget", "count", "counts", "days", "expiry", "expiration", "format", "hint", "id", "ids"),
        *("length", "lifetime", "limit", "manager", "name", "names", "policy", "rotation", "strength", "ttl"),
        *("type", "types", "url", "usage"),
    }
)
# With one of these, a `token` gives no access to anything: next_page_token, stop_token.
_HARMLESS_TOKEN: Final = frozenset(
    {
        *("bos", "continuation", "cursor", "end", "eos", "mask", "max", "min", "next", "num", "pad", "page"),
        *("paging", "special", "start", "stop", "sync", "unk"),
    }
)
_AFTER_TOKEN: Final = frozenset({"for", "from", "of", "value"})

# In a message these are more often something else: a ring bearer, a way to pay.
_AMBIGUOUS: Final = frozenset({("bearer",), ("credit", "card"), ("creditcard",), ("debit", "card"), ("debitcard",)})
_NEVER_BEFORE: Final = frozenset({"or", "vs", "no", "not", "public"})
# With one of these, a short label asks about a secret or what to do with it: "Which token?", "Reset password?"
_NOT_IN_LABEL: Final = _NEVER_BEFORE | {
    *("what", "which", "whose", "who", "how", "why", "when", "where", "many", "any", "some", "every", "all"),
    *("is", "are", "was", "do", "does", "did", "has", "have", "had", "can", "should", "will", "must"),
    *("by", "with", "without", "via", "in", "on", "about", "and", "it"),
    *("add", "change", "check", "copy", "create", "delete", "forget", "forgot", "generate", "hide", "keep", "lost"),
    *("make", "need", "remember", "remove", "rename", "reset", "reuse", "revoke", "rotate", "save", "send", "share"),
    *("show", "skip", "store", "test", "update", "use", "validate", "verify", "want"),
}
_ARTICLES: Final = frozenset({"a", "an", "my", "our", "the", "their", "your"})
_OPENING = re.compile(
    r"(?:please\s+)?(what is|what['\u2019]s|enter|input|insert|paste|provide|supply|type in|type|"
    r"(?:give|send|tell) (?:me|us))\s+",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\"[^\"]*\"|`[^`]*`|\u201c[^\u201d]*\u201d|\u00ab[^\u00bb]*\u00bb|(?<!\w)'[^']*'(?!\w)")
_NAMED_SO_FAR = re.compile(
    r"\s*[?!.;\u2026](?=\s|[?!.]|$)|\s*:\s*$|,\s*please\b|\s+\(|\s+(?:for|to|of|at|from|here|below|again)\b",
    re.IGNORECASE,
)

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W\d_]+|\d+")


def secret_fields(form: Form) -> tuple[str, ...]:
    """The names of the fields whose name or title means a secret."""
    return tuple(
        field.name
        for field in form
        if isinstance(field, (Text, Number)) and any(map(_means_secret, (field.name, field.title or "")))
    )


def secret_properties(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The same for a raw schema, including one that no form can hold."""
    properties: Any = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ()
    return tuple(str(name) for name, prop in properties.items() if _property_asks_for_secret(str(name), prop))  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _property_asks_for_secret(name: str, prop: Any) -> bool:
    if not isinstance(prop, Mapping) or {"enum", "oneOf", "const"} & prop.keys():
        return False
    title: Any = prop.get("title")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    texts = (name, title) if isinstance(title, str) else (name,)
    return prop.get("type") not in ("boolean", "array") and any(map(_means_secret, texts))  # pyright: ignore[reportUnknownMemberType]


def secret_error(
    *names: str, advice: str = 'Ask with secret() instead. If it is not a secret, say why with not_secret="the reason".'
) -> SecretInForm:
    """The error for a form with these fields."""
    which = "this field asks" if len(names) == 1 else "these fields ask"
    why = f"{which} for a secret, and a form passes through the client and may pass through the model."
    return SecretInForm(why, path=", ".join(names), advice=advice)


def refuse_secrets(form: Form, reason: str | None = None, *, message: str | None = None) -> None:
    """Raise `SecretInForm` if the form asks for a secret, unless a reason says why it doesn't.

    `message` is the question's, if nothing else names what its one field asks for.
    """
    if reason is not None and not isinstance(reason, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidQuestion(f'not_secret={reason!r} must be the reason, as text: not_secret="a word in a game".')
    if reason is not None and reason.strip():
        return
    if names := secret_fields(form):
        raise secret_error(*names)
    if message is None or not all(isinstance(field, Text) and field.format is None for field in form):
        return
    if message_asks_for_secret(message):
        raise secret_error(*form.names)


def message_asks_for_secret(message: str) -> bool:
    """Whether a message is a secret's name, or a plain request for one. Only its first line counts, without quotes."""
    if len(message) <= SECRET_NAME_CHARACTERS:
        return _kept_reading(message)
    return _read_message(message.lstrip()[:SECRET_NAME_CHARACTERS])  # not cached: long messages quote files and letters


def _read_message(message: str) -> bool:
    line = _QUOTED.sub(" x ", message.lstrip().partition("\n")[0]).strip()
    end = _NAMED_SO_FAR.search(line)
    named, after = (line[: end.start()], end[0].strip().casefold()) if end else (line, "")
    opening = _OPENING.match(named)
    parts = named[opening.end() if opening else 0 :].split()
    before = _words_before_secret(parts)
    if before is None or "/" in named:
        return False
    words = [word.strip(",").casefold() for word in before]
    if parts[-1].casefold() in ("secret", "secrets") and after in ("of", "to") and _ARTICLES.issuperset(words):
        return False  # the secret of your success
    if opening is None:
        return len(before) <= 2 and _NOT_IN_LABEL.isdisjoint(words) and "," not in "".join(before)
    if opening[1].casefold().startswith("what") and words[:1] in (["a"], ["an"]):
        return False  # What is an API key?
    return len(before) <= 3 and _NEVER_BEFORE.isdisjoint(words)


_kept_reading = lru_cache(maxsize=1024)(_read_message)


def _words_before_secret(parts: list[str]) -> list[str] | None:
    """What precedes the secret's name at the end of a text, or None if the text doesn't end in one."""
    split = [(word, place) for place, part in enumerate(parts) for word in _words(part)]
    words = [word for word, _ in split]
    for size in range(min(_LONGEST, len(words)), 0, -1):
        phrase = tuple(words[-size:])
        if (
            phrase in _IN_MESSAGES
            or (phrase == ("token",) and _is_token(words))
            or (phrase, parts[-1]) == (("pin",), "PIN")
        ):
            return parts[: split[-size][1]]
    return None


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_CAMEL.sub(" ", text))]


def _means_secret(text: str) -> bool:
    return _name_means_secret(text[:SECRET_NAME_CHARACTERS])


@lru_cache(maxsize=4096)
def _name_means_secret(text: str) -> bool:
    words = _words(text)
    return _is_token(words) or _is_pin(words) or any(_says(words, phrase) for phrase in _COMPILED)


def _says(words: list[str], phrase: tuple[str, ...]) -> bool:
    if "public" in words and phrase[-1] in ("key", "keys"):
        return False
    size = len(phrase)
    ends = [end for end in range(size, len(words) + 1) if tuple(words[end - size : end]) == phrase]
    return any(end == len(words) or words[end] not in _ABOUT for end in ends)


def _is_token(words: list[str]) -> bool:
    """`token` alone means a secret, but not if it's one of many or a part of a text."""
    if "token" not in words or _HARMLESS_TOKEN.intersection(words):
        return False
    after = words[words.index("token") + 1 :]
    return not after or after[0] in _AFTER_TOKEN


def _is_pin(words: list[str]) -> bool:
    """Only as a separate word: `pincode` is a postal code to a billion people."""
    return words[-1:] == ["pin"] or any(_says(words, ("pin", what)) for what in ("code", "number"))


def _compile() -> Iterator[tuple[str, ...]]:
    for phrase in _PHRASES:
        words = tuple(_words(phrase))
        yield words
        if len(words) > 1:
            yield tuple(_words("".join(words)))  # apikey, cardnumber


_COMPILED: Final = frozenset(_compile())
_IN_MESSAGES: Final = _COMPILED - _AMBIGUOUS | {("pin", "code"), ("pin", "number")}
_LONGEST: Final = max(map(len, _COMPILED))
