"""For operators: `python -m midcall.stores check | sweep | schema`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from midcall.stores.base import StoreError
from midcall.stores.opening import open_store
from midcall.stores.sweeping import Sweeper
from midcall.wording import stores as words


async def check(url: str | None) -> str:
    store = open_store(url)
    try:
        await store.open()
        await store.read("check")
        return words.store_works(repr(store))
    finally:
        await store.close()


async def sweep(url: str | None, keep: float) -> str:
    store = open_store(url)
    try:
        return words.swept(await Sweeper(store, keep=keep, clock=time.time).sweep())
    finally:
        await store.close()


def schema(name: str | None) -> str:
    from midcall.stores.postgres.schema import schema_sql

    return schema_sql(name).rstrip()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m midcall.stores", description=words.about_the_command())
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (("check", words.about_check()), ("sweep", words.about_sweep())):
        command = commands.add_parser(name, help=about)
        command.add_argument("url", nargs="?", help=words.about_url())
        if name == "sweep":
            command.add_argument("--keep", type=float, default=24 * 60 * 60.0, help=words.about_keep())
    commands.add_parser("schema", help=words.about_schema()).add_argument("--schema", help=words.about_schema_name())
    return parser.parse_args()


def main() -> int:
    arguments = _arguments()
    try:
        match arguments.command:
            case "check":
                print(asyncio.run(check(arguments.url)))
            case "sweep":
                print(asyncio.run(sweep(arguments.url, arguments.keep)))
            case _:
                print(schema(arguments.schema))
    except StoreError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
