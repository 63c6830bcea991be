"""`midcall doctor`: check an installation in your code, or a server from outside."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from rich.text import Text

from midcall.cli.connection import ServerLink
from midcall.cli.console import heading, print_parts
from midcall.cli.doctor.daemon_threads import use_daemon_threads
from midcall.cli.doctor.outside import check_outside
from midcall.cli.doctor.tables import draw_findings, print_settings
from midcall.cli.exits import DONE, TOOL_FAILED, Ends, usage_error
from midcall.cli.stdout import print_json
from midcall.core.text import plain_line
from midcall.doctor.checks import run_checks
from midcall.doctor.checks.options import describe_unknown
from midcall.doctor.effective import find_effective
from midcall.doctor.inspection import Report, Setup, Surroundings
from midcall.doctor.locate import NOTHING_NAMED, CannotImport, explain_target, find_installation, find_source
from midcall.doctor.masking import mask
from midcall.server.installation import Installation
from midcall.settings.cli import CHECK_CLOSE_SECONDS


def run(link: ServerLink | None, *, as_json: bool) -> int:
    """Check a server: its code, if that is named, else what it offers to a client."""
    if link is None:
        raise _refuse(NOTHING_NAMED)
    if (found := find_source(link.target)) is not None:
        return _check(_import(*found), as_json=as_json)
    if (why := explain_target(link.target)) is not None:
        raise _refuse(why)
    return link.run(check_outside(link, as_json=as_json))


def show_settings(target: str | None, *, as_json: bool) -> int:
    """Print all settings; with a target, those of the installation in that code."""
    setup = None
    if target is not None:
        found = find_source(target)
        if found is None:
            raise _refuse(f"--settings needs the server's code: a file or a module, not {target!r}")
        setup = Setup(_import(*found))
    print_settings(find_effective(setup), as_json=as_json)
    return DONE


def _refuse(why: str) -> Ends:
    return usage_error("midcall doctor", plain_line(why))


def _import(path: str, name: str | None) -> Installation:
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        return find_installation(path, name)
    except CannotImport as error:
        # A missing setting may be there, under a misspelled name.
        unknown = Surroundings.here().unknown if error.is_setting else ()
        raise _refuse(f"{error}{f' {describe_unknown(unknown)}' if unknown else ''}") from None


def _check(installation: Installation, *, as_json: bool) -> int:
    try:
        report = asyncio.run(_run_checks(installation))
    except Exception as error:  # from the author's own store or identity
        why = (
            f"The checks failed with {type(error).__name__}{f': {error}' if str(error) else ''}. If the server has its "
            "own store, identity or principal, look there; otherwise it is a bug in midcall."
        )
        raise Ends(TOOL_FAILED, mask(plain_line(why))) from None
    if as_json:
        print_json(report.as_data())
    else:
        print_parts(heading(plain_line(report.server)))
        for title, findings in report.sections().items():
            print_parts(Text(), heading(title), draw_findings(findings))
    return TOOL_FAILED if report.broken else DONE


async def _run_checks(installation: Installation) -> Report:
    use_daemon_threads()
    try:
        return await run_checks(installation)
    finally:
        with suppress(TimeoutError):  # the process ends with this command, so leave what hangs behind
            async with asyncio.timeout(CHECK_CLOSE_SECONDS):
                await installation.close()
