"""`midcall doctor`: what a server has to reach its users, and what is missing."""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import suppress
from typing import Final

from midcall.cli.call.results import as_json as json_text
from midcall.cli.connection import Link
from midcall.cli.console import print_out
from midcall.cli.doctor.findings import told
from midcall.cli.doctor.impatient import hurry
from midcall.cli.doctor.offers import visit
from midcall.cli.exits import DONE, TOOL_FAILED, USAGE, Ends
from midcall.client.lines.colors import Ink
from midcall.core.text import plain_line
from midcall.doctor.checks import Report, looked_at, misnamed
from midcall.doctor.imported import CannotImport, installation_in
from midcall.doctor.masked import masked
from midcall.doctor.surroundings import Surroundings
from midcall.doctor.target import is_source, why_nothing
from midcall.server.installation import Installation
from midcall.wording import cli as usage

__all__ = ["run"]

_CLOSING: Final = 0.5
"""What hangs is left behind: the process ends with this command."""


def run(link: Link, *, as_json: bool) -> int:
    """Look at a server: at its code, if that is named, else at what it offers."""
    if (found := is_source(link.target)) is not None:
        return _examine(*found, as_json=as_json)
    if (why := why_nothing(link.target)) is not None:
        raise _refused(why)
    return link.run(visit(link, as_json=as_json))


def _refused(why: str) -> Ends:
    return Ends(USAGE, usage.usage("midcall doctor", plain_line(why)))


def _examine(path: str, name: str | None, *, as_json: bool) -> int:
    logging.getLogger().addHandler(logging.NullHandler())
    try:
        installation = installation_in(path, name)
    except CannotImport as error:
        raise _refused(f"{error}{_also(error)}") from None
    try:
        report = asyncio.run(_looked_at(installation))
    except Exception as error:  # of a store, an identity or a name service of somebody's own
        raise Ends(TOOL_FAILED, masked(plain_line(_unexpected(type(error).__name__, str(error))))) from None
    _print(report, as_json=as_json)
    return TOOL_FAILED if report.broken else DONE


def _also(error: CannotImport) -> str:
    """A setting that is missed may be there, under another name."""
    return "".join(f" {each.text}" for each in misnamed(Surroundings.here().misnamed)) if error.of_ours else ""


async def _looked_at(installation: Installation) -> Report:
    hurry()
    try:
        return await looked_at(installation)
    finally:
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSING):
                await installation.close()


def _print(report: Report, *, as_json: bool) -> None:
    if as_json:
        print_out(json_text(report.as_data(), ascii=sys.stdout.isatty()))
        return
    ink = Ink.on_stream(sys.stdout)
    print_out(f"{ink.bold(plain_line(report.server))}\n")
    for heading, findings in report.sections().items():
        print_out(f"\n{ink.bold(heading)}\n{told(findings, ink)}")


def _unexpected(kind: str, text: str) -> str:
    return (
        f"Looking at the server failed with {kind}{f': {text}' if text else ''}. If it has a store, an identity or a "
        "principal of its own, look there; else it is a mistake in midcall."
    )
