"""Who is looking at the pages of a portal, and what that leaves out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from midcall.doctor.checks.report import SECONDS, Finding
from midcall.wording.doctor import portal as wording

if TYPE_CHECKING:
    from midcall.portal.app import Portal
    from midcall.server.installation import Installation

__all__ = ["identity", "identity_now"]


def identity(installation: Installation, portal: Portal) -> Finding:
    """Whether visitors are known, and callers, and whether they can be compared."""
    from midcall.portal.identity.nobody import Nobody

    if isinstance(portal.identity, Nobody):
        return Finding("identity", "doubtful", wording.everybody_is_nobody(), wording.everybody_is_nobody_advice())
    known_by = wording.known_by(type(portal.identity).__name__)
    if installation.knows_callers is False and not portal.local:
        return Finding("identity", "doubtful", wording.nobody_calls(known_by), wording.nobody_calls_advice())
    if installation.knows_callers and portal.local:
        advice = wording.everybody_is_nobody_advice()
        return Finding("identity", "doubtful", wording.callers_are_others(known_by), advice)
    return Finding("identity", "ok", known_by)


async def identity_now(portal: Portal, before: Finding) -> list[Finding]:
    """The same, after the issuer was asked to describe itself."""
    why = await _trouble(portal)
    if why is None:
        return [before]
    return [Finding("identity", "broken", wording.issuer_unusable(before.text, why), wording.issuer_advice())]


async def _trouble(portal: Portal) -> str | None:
    from midcall.portal.identity.oidc import Oidc

    if not isinstance(portal.identity, Oidc):
        return None
    try:
        async with asyncio.timeout(SECONDS):
            return await portal.identity.trouble()
    except TimeoutError:
        return wording.issuer_silent(SECONDS)
