"""The checks of an installation, in one table.

A check is an async function that takes the `Setup` and returns its findings. All checks run at once, each with a short
timeout.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeAlias

from midcall.doctor.checks.channels import check_channels
from midcall.doctor.checks.identity import check_identity
from midcall.doctor.checks.options import (
    check_doubt,
    check_forms,
    check_keys,
    check_probe,
    check_runs,
    check_secrets,
    check_variables,
)
from midcall.doctor.checks.portal import check_portal
from midcall.doctor.checks.store import check_store
from midcall.doctor.inspection import Finding, Report, Setup, Surroundings

if TYPE_CHECKING:
    from midcall.server.installation import Installation

__all__ = ["CHECKS", "Check", "run_checks"]

Check: TypeAlias = Callable[[Setup], Awaitable[list[Finding]]]

CHECKS: Final[tuple[Check, ...]] = (
    check_variables,
    check_keys,
    check_store,
    check_runs,
    check_portal,
    check_identity,
    check_doubt,
    check_probe,
    check_secrets,
    check_forms,
)
"""In the order of the report."""


async def run_checks(installation: Installation, here: Surroundings | None = None) -> Report:
    """Run all checks."""
    setup = Setup(installation, here or Surroundings.here())
    channels, *found = await asyncio.gather(check_channels(setup), *(check(setup) for check in CHECKS))
    return Report(installation.server_title, tuple(channels), tuple(each for some in found for each in some))
