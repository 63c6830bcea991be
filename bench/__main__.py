"""Print one table of measurements: `python -m bench [--short] [--strict] [--only PART]`.

Compare numbers only within one run. In memory they are CPU time, because everything happens in one thread and other
programs disturb CPU time least; elsewhere they are wall-clock time.
"""

import argparse
import asyncio
import io
import os
import platform
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Final

from bench import asking, choosing, first_form, handover, importing, pages, silence, stores, waiting
from bench.candidates import SIZES
from bench.clients import TRANSPORTS, Wrong
from bench.report import Target, summary

PARTS: Final = (*TRANSPORTS, "silence", "choosing", "import", "form", "waiting", "pages", "stores", "handover")
SHORT_PARTS: Final = ("memory", "silence", "choosing", "import", "form", "waiting", "pages")


async def measure(part: str, short: bool) -> list[Target]:
    match part:
        case "memory" | "stdio" | "http":
            return await asking.compare(part, SIZES[:3] if short else SIZES, short=short)
        case "silence":
            in_memory = await silence.compare("memory", 70 if short else 400)
            return in_memory if short else in_memory + await silence.compare("http", 1_000)
        case "choosing":
            return await choosing.compare(20 if short else 100)
        case "import":
            seconds = importing.seconds_more(5 if short else 20)
            return [Target("import midcall, on top of mcp.server", seconds * 1e3, 60, "ms")]
        case "form":
            return first_form.compare(5 if short else 20)
        case "pages":
            return await pages.compare(100 if short else 400)
        case "stores":
            return await stores.compare(short)
        case "handover":
            return await handover.compare(100 if short else 400)
        case _:
            count = 2_000 if short else 10_000
            return [
                Target(f"memory of a waiting call, {name}", waiting.bytes_per_call(count, name), limit, "bytes")
                for name, limit in (("live", 20_480), ("replayed", 1_024))
            ]


def leaves(group: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    for each in group.exceptions:
        if isinstance(each, BaseExceptionGroup):
            yield from leaves(each)
        else:
            yield each


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--short", action="store_true", help="a quick look: in memory, up to 20 questions")
    parser.add_argument("--only", action="append", choices=PARTS, metavar="PART", help=f"one of {', '.join(PARTS)}")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a target is missed")
    arguments = parser.parse_args()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    begun = time.monotonic()
    libraries = ", ".join(f"{name} {version(name)}" for name in ("midcall", "mcp", "fastmcp"))
    print(f"Python {platform.python_version()}, {libraries}, {os.cpu_count()} CPUs", flush=True)
    targets: list[Target] = []
    wrong: list[str] = []
    try:
        for part in arguments.only or (SHORT_PARTS if arguments.short else PARTS):
            targets += asyncio.run(measure(part, arguments.short))
    except* Wrong as group:
        wrong = [str(each) for each in leaves(group)]
    if wrong:
        print("\nNothing was measured, because a candidate failed:", *wrong, sep="\n  ")
        return 1
    if targets:
        print("\nTargets", *targets, summary(targets), sep="\n")
    print(f"Took {time.monotonic() - begun:.0f} s.")
    return 1 if arguments.strict and not all(target.met for target in targets) else 0


if __name__ == "__main__":
    sys.exit(main())
