"""Why a secure connection was not made, as a word: for whoever tells people what to do about it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

__all__ = ["Fault", "fault_of"]

Fault: TypeAlias = Literal["expired", "early", "other host", "self-signed", "unknown authority", "no TLS"]
"""What is wrong with a certificate; or that there is none, since the other end does not speak TLS."""

_BY_CODE: Final[Mapping[int, Fault]] = {
    9: "early",
    10: "expired",
    18: "self-signed",
    19: "self-signed",
    62: "other host",
    64: "other host",
}
"""OpenSSL's codes. Other systems have codes of their own, and all others mean that nobody vouches for it."""
_NOT_SPOKEN: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL")


def fault_of(error: BaseException) -> Fault | None:
    """What was wrong with the other end's certificate, if this error came of that."""
    for each in _with_causes(error):
        if isinstance(each, ssl.SSLCertVerificationError):
            return _BY_CODE.get(each.verify_code, "unknown authority")
        if isinstance(each, ssl.SSLError) and each.reason in _NOT_SPOKEN:
            return "no TLS"
    return None


def _with_causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
