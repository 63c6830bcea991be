"""Check how the portal knows who is looking, and what it can't serve without that."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from midcall.doctor.inspection import Finding, Setup
from midcall.settings.cli import CHECK_SECONDS

if TYPE_CHECKING:
    from midcall.portal.app import Portal

_SIGN_IN: Final = 'Portal(..., identity=Oidc(...)) or ProxyJwt(...): see the page "Identify the user of a page".'
_ISSUER: Final = (
    "Open <issuer>/.well-known/openid-configuration from this machine, and compare it with what Oidc(...) was given."
)


async def check_identity(setup: Setup) -> list[Finding]:
    """Describe it, and ask the issuer to describe itself."""
    if setup.portal is None:
        return []
    before = describe_identity(setup, setup.portal)
    why = await _find_trouble(setup.portal)
    if why is None:
        return [before]
    return [Finding("identity", "broken", f"{before.text} But {why}.", _ISSUER)]


def describe_identity(setup: Setup, portal: Portal) -> Finding:
    """Whether visitors and callers are known, and can be compared."""
    from midcall.portal.identity.visitors import Nobody

    if isinstance(portal.identity, Nobody):
        text = "It cannot identify anyone: it serves plain forms, but no secrets, authorizations or approvals."
        return Finding("identity", "doubtful", text, _SIGN_IN)
    known_by = f"{type(portal.identity).__name__} identifies visitors."
    knows_callers = setup.installation.knows_callers
    if knows_callers is False and not portal.local:
        text = (
            f"{known_by} But nothing identifies callers: this server has no MCP authorization, so secrets, "
            "authorizations and approvals have no owner."
        )
        advice = (
            "Give the server auth= and token_verifier=, or install(..., principal=...): see the page "
            '"Identify the user of a page".'
        )
        return Finding("identity", "doubtful", text, advice)
    if knows_callers and portal.local:
        text = (
            f"{known_by} But callers sign in with an access token, and cannot be compared with the user of this "
            "machine: no secrets, authorizations or approvals."
        )
        return Finding("identity", "doubtful", text, _SIGN_IN)
    return Finding("identity", "ok", known_by)


async def _find_trouble(portal: Portal) -> str | None:
    from midcall.portal.identity.oidc import Oidc

    if not isinstance(portal.identity, Oidc):
        return None
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await portal.identity.trouble()
    except TimeoutError:
        return f"the issuer that signs users in did not answer within {CHECK_SECONDS:g} s"
