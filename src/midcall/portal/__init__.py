"""The web pages behind URL mode: secrets, authorizations, approvals and forms, out of band.

    from midcall.portal import Oidc, Portal, Provider

app.py        the portal
access.py     who may see an interaction
detached/     open pages of stdio servers that may have ended
pages/        the pages: four kinds of interaction, the account page, notices
identity/     who is looking
oauth/        access to other services
vault.py      encrypted secrets
webhooks.py   signed callbacks for visits

Names are imported when they are first used: a server without a portal needs none of its packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from midcall.core.caller import Caller
    from midcall.portal.app import Portal
    from midcall.portal.identity import FromCallable, Identity, Loopback, Oidc, ProxyJwt
    from midcall.portal.oauth import Provider

__all__ = ["Caller", "FromCallable", "Identity", "Loopback", "Oidc", "Portal", "Provider", "ProxyJwt"]

_HOME = {
    "Portal": "midcall.portal.app",
    "Caller": "midcall.core.caller",
    "Provider": "midcall.portal.oauth",
    **dict.fromkeys(["FromCallable", "Identity", "Loopback", "Oidc", "ProxyJwt"], "midcall.portal.identity"),
}
_PACKAGES = {"jinja2", "markupsafe", "itsdangerous", "authlib", "joserfc", "keyring", "publicsuffixlist"}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'midcall.portal' has no attribute {name!r}")
    try:
        value = globals()[name] = getattr(import_module(home), name)
    except ImportError as exc:
        if exc.name is not None and exc.name.partition(".")[0] not in _PACKAGES:
            raise
        raise ImportError('The portal needs packages that are not installed: pip install "midcall[portal]"') from None
    return value


def __dir__() -> list[str]:
    return __all__
