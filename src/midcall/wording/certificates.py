"""A certificate that does not verify: what is wrong with it, and what to do."""

from __future__ import annotations


def wrong(fault: str) -> str:
    """As the end of a sentence."""
    return {
        "expired": "its certificate has expired",
        "early": "its certificate is not valid yet",
        "other host": "its certificate is for another host",
        "self-signed": "its certificate is signed by itself, or by an authority that this machine does not know",
        "unknown authority": "its certificate is of an authority that this machine does not know",
        "no TLS": "what answers there does not speak TLS, and so has no certificate",
    }[fault]


def advice(fault: str) -> str:
    return {
        "expired": "Renew it, and let what serves it load the new one.",
        "early": "Set the clock of this machine, or that of where the certificate was made.",
        "other host": "Get one that names this host, or use a name that it has.",
        "self-signed": _of_an_authority(),
        "unknown authority": f"Let the server send the whole chain, with the intermediate certificates. {_own()}",
        "no TLS": "If it is http there, write http://; else let what is in front of it speak TLS.",
    }[fault]


def _of_an_authority() -> str:
    return f"Browsers refuse it, too, unless they were told otherwise: use one of an authority that they know. {_own()}"


def _own() -> str:
    return "If the authority is your own, name its file here: SSL_CERT_FILE=authority.pem"
