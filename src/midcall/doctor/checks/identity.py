"""Who is looking at the pages of a portal, and what that leaves out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from midcall.doctor.checks.report import SECONDS, Finding

if TYPE_CHECKING:
    from midcall.portal.app import Portal
    from midcall.server.installation import Installation

__all__ = ["identity", "identity_now"]


def identity(installation: Installation, portal: Portal) -> Finding:
    """Whether visitors are known, and callers, and whether they can be compared."""
    from midcall.portal.identity.nobody import Nobody

    if isinstance(portal.identity, Nobody):
        return Finding(
            "identity",
            "doubtful",
            "Nobody can be identified there: only plain forms are served, no secrets, authorizations or approvals.",
            _everybody_is_nobody_advice(),
        )
    known_by = f"It tells who is looking by {type(portal.identity).__name__}."
    if installation.knows_callers is False and not portal.local:
        return Finding(
            "identity",
            "doubtful",
            (
                f"{known_by} But nothing tells who makes a call: this server has no MCP authorization, so secrets, "
                "authorizations and approvals have nobody to belong to."
            ),
            "Give the server auth= and token_verifier=, or install(..., principal=...): see docs/identity.md.",
        )
    if installation.knows_callers and portal.local:
        advice = _everybody_is_nobody_advice()
        return Finding(
            "identity",
            "doubtful",
            (
                f"{known_by} But callers sign in with an access token, and cannot be compared with the user of this "
                "machine: no secrets, authorizations or approvals."
            ),
            advice,
        )
    return Finding("identity", "ok", known_by)


async def identity_now(portal: Portal, before: Finding) -> list[Finding]:
    """The same, after the issuer was asked to describe itself."""
    why = await _trouble(portal)
    if why is None:
        return [before]
    return [
        Finding(
            "identity",
            "broken",
            f"{before.text} But {why}.",
            (
                "Open <issuer>/.well-known/openid-configuration from this machine, and compare it with what Oidc(...) "
                "has."
            ),
        )
    ]


async def _trouble(portal: Portal) -> str | None:
    from midcall.portal.identity.oidc import Oidc

    if not isinstance(portal.identity, Oidc):
        return None
    try:
        async with asyncio.timeout(SECONDS):
            return await portal.identity.trouble()
    except TimeoutError:
        return f"the issuer that signs users in did not answer within {SECONDS:g} s"


def _everybody_is_nobody_advice() -> str:
    return "Portal(..., identity=Oidc(...)) or ProxyJwt(...): see docs/identity.md."
