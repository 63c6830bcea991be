"""Write `docs/settings.md` from the table in `midcall.settings.table`. With `--check`, fail if that page is stale."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

from midcall.settings.table import SETTINGS, Setting

PAGE = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
INTRODUCTION = """\
# Settings and limits

<!-- `make settings` writes this page from src/midcall/settings/. -->

Every limit says what happens when it is reached.

An argument in the code comes first, then the environment variable, then the default. `midcall doctor --settings` shows
the values in effect, and where each comes from. [Operations](operations.md) explains keys, stores and replicas.

A variable that isn't listed here is never read. [`midcall doctor`](doctor.md) points out misspelled ones.

## What you can set
"""
OTHERS = """
## Other variables

| variable | meaning |
|---|---|
| `PGHOST`, `PGUSER`, `PGPASSWORD`, ... | What a `postgresql://` URL leaves out. |
| `XDG_DATA_HOME`, `LOCALAPPDATA` | Where the SQLite file and the key of this machine are by default. |
| `NO_COLOR`, `ACCESSIBLE` | Like `MIDCALL_PLAIN`: line prompts instead of forms. |

## Fixed limits

Nobody can set these. They are listed so that you know what to expect.
"""
INTERVALS = """
## Fixed intervals

How often midcall repeats something. Nobody can set these either.
"""


def write() -> str:
    """The page."""
    settable = [setting for setting in SETTINGS if not setting.is_fixed]
    limits = [setting for setting in SETTINGS if setting.is_fixed and not setting.is_interval]
    intervals = [setting for setting in SETTINGS if setting.is_fixed and setting.is_interval]
    parts = (
        *(INTRODUCTION, *tables(settable, settable_rows), OTHERS, *tables(limits, limit_rows)),
        *(INTERVALS, "\n", *interval_rows(intervals)),
    )
    return "".join(parts)


def tables(settings: Iterable[Setting], rows: Callable[[Iterable[Setting]], Iterator[str]]) -> Iterator[str]:
    """A table for each subject."""
    for subject, some in groupby(settings, key=lambda setting: setting.subject):
        yield f"\n### {subject}\n\n"
        yield from rows(some)


def settable_rows(settings: Iterable[Setting]) -> Iterator[str]:
    yield "| argument | variable | default | meaning | at the limit |\n|---|---|---|---|---|\n"
    for setting in settings:
        default = setting.format(setting.default)
        names = f"{code(setting.argument)} | {code(setting.env)}"
        yield f"| {names} | {default} | {setting.meaning} | {setting.then} |\n"


def limit_rows(settings: Iterable[Setting]) -> Iterator[str]:
    yield "| limit | value | meaning | at the limit |\n|---|---|---|---|\n"
    for setting in settings:
        value = setting.format(setting.default)
        yield f"| `{setting.name}` | {value} | {setting.meaning} | {setting.then} |\n"


def interval_rows(settings: Iterable[Setting]) -> Iterator[str]:
    yield "| interval | value | meaning |\n|---|---|---|\n"
    for setting in settings:
        value = setting.format(setting.default)
        yield f"| `{setting.name}` | {value} | {setting.meaning} |\n"


def code(text: str) -> str:
    return ", ".join(f"`{each}`" for each in text.split(", ")) if text else ""


def main() -> None:
    page = write()
    if "--check" in sys.argv[1:]:
        if not PAGE.exists() or PAGE.read_text() != page:
            sys.exit("docs/settings.md is stale: run `make settings` and commit it.")
        return
    PAGE.write_text(page)
    print(f"{len(SETTINGS)} settings and limits in docs/settings.md")


if __name__ == "__main__":
    main()
