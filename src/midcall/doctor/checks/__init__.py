"""What an installation has, channel by channel, and what is missing: for `midcall doctor`.

`examined` looks at what was installed, and at nothing else. `looked_at` also opens the store and its vault, and knocks
at the portal and its issuer: all at once, and nobody is waited for longer than a few seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from midcall.doctor.checks.channels import channels
from midcall.doctor.checks.identity import identity_now
from midcall.doctor.checks.keeping import store_now
from midcall.doctor.checks.portal import portal_now, portal_of
from midcall.doctor.checks.report import Finding, Report, State
from midcall.doctor.checks.settings import misnamed, settings
from midcall.doctor.surroundings import Surroundings

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["Finding", "Report", "State", "examined", "looked_at", "misnamed"]


def examined(installation: Installation, surroundings: Surroundings | None = None) -> Report:
    """What was installed, without touching anything; by default as on a machine that its user sits at."""
    here = surroundings or Surroundings()
    return Report(installation.server_title, channels(installation), settings(installation, here))


async def looked_at(installation: Installation, surroundings: Surroundings | None = None) -> Report:
    """The same, after a look at what has to answer for it. And at the environment."""
    here = surroundings or Surroundings.here()
    report = examined(installation, here)
    found = await asyncio.gather(*(_now(installation, finding, here) for finding in report.installation))
    now = [*misnamed(here.misnamed), *(each for some in found for each in some)]
    return Report(report.server, report.channels, tuple(now))


async def _now(installation: Installation, before: Finding, here: Surroundings) -> list[Finding]:
    looking = _looking(installation, before, here)
    return [before] if looking is None else await looking


def _looking(installation: Installation, before: Finding, here: Surroundings) -> Awaitable[list[Finding]] | None:
    match before.name, portal_of(installation):
        case "store", _:
            return store_now(installation, before)
        case "portal", portal if portal is not None:
            return portal_now(portal, here)
        case "identity", portal if portal is not None:
            return identity_now(portal, before)
        case _:
            return None
