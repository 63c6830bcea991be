"""Why a TLS connection failed, as a word, and what to do about it."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypeAlias

Fault: TypeAlias = Literal["expired", "early", "other host", "self-signed", "unknown authority", "no TLS"]
"""What is wrong with a certificate, or "no TLS" if the other end doesn't speak TLS."""

_BY_CODE: Final[Mapping[int, Fault]] = {
    9: "early",
    10: "expired",
    18: "self-signed",
    19: "self-signed",
    62: "other host",
    64: "other host",
}
"""OpenSSL's codes. Any other code means that no known authority has signed it."""
_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL")

_OWN_AUTHORITY: Final = "If the authority is your own, set SSL_CERT_FILE=authority.pem"

_TEXTS: Final[Mapping[Fault, tuple[str, str]]] = {
    "expired": ("its certificate has expired", "Renew it, and reload the server that uses it."),
    "early": ("its certificate is not valid yet", "Check the clock here, and the one where the certificate was made."),
    "other host": (
        "its certificate is for another host",
        "Get a certificate for this host, or connect to a name that it covers.",
    ),
    "self-signed": (
        "its certificate is self-signed, or from an authority that this machine does not know",
        f"Browsers may reject it, too: use a certificate from an authority that they know. {_OWN_AUTHORITY}",
    ),
    "unknown authority": (
        "its certificate is from an authority that this machine does not know",
        f"Have the server send the whole chain, with the intermediate certificates. {_OWN_AUTHORITY}",
    ),
    "no TLS": (
        "it does not speak TLS, so it has no certificate",
        "If it serves http, write http://. Otherwise enable TLS in front of it.",
    ),
}


def fault_of(error: BaseException) -> Fault | None:
    """What is wrong with the other end's certificate, if that caused this error."""
    for each in _causes(error):
        if isinstance(each, ssl.SSLCertVerificationError):
            return _BY_CODE.get(each.verify_code, "unknown authority")
        if isinstance(each, ssl.SSLError) and each.reason in _NO_TLS:
            return "no TLS"
    return None


def describe_fault(fault: Fault) -> str:
    """What is wrong, as the end of a sentence."""
    return _TEXTS[fault][0]


def advise(fault: Fault) -> str:
    return _TEXTS[fault][1]


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
