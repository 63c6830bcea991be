"""One case's server with midcall, in a separate process: over stdio, or with `--http PORT`."""

from __future__ import annotations

import argparse
from pathlib import Path

import midcall
from tests.strangers.cases import CASES
from tests.strangers.effects import Effects


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int)
    parser.add_argument("--case", required=True)
    parser.add_argument("--effects", type=Path, required=True)
    arguments = parser.parse_args()
    case = next(each for each in CASES if each.name == arguments.case)
    server = case.server(Effects(arguments.effects))
    midcall.install(server)
    if arguments.http is None:
        server.run("stdio")
    else:
        server.run("streamable-http", port=arguments.http)


if __name__ == "__main__":
    main()
