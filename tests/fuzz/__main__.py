"""`make fuzz`: a million inputs for all targets, or some for one.

python -m tests.fuzz [target ...] [--inputs 1000000] [--seed 5] [--first 17] [--seconds 60]
"""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import sys
import tempfile

from tests.fuzz.fuzzer import Report, Target, fuzz
from tests.fuzz.targets import TARGETS


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.fuzz")
    options.add_argument("target", nargs="*", choices=[[], *TARGETS], default=[])
    options.add_argument("--inputs", type=int, default=1_000_000, help="in all; each target gets its share")
    options.add_argument("--seed", default=secrets.token_hex(4))
    options.add_argument("--first", type=int, default=0, help="the number of the first input")
    options.add_argument("--seconds", type=float, default=float("inf"), help="of CPU time, for each target")
    given = options.parse_args()
    names = given.target or list(TARGETS)
    shares = sum(TARGETS[name].share for name in names)
    print(f"seed {given.seed}", flush=True)
    logging.getLogger().setLevel(logging.INFO)
    logging.lastResort = None
    logging.getLogger("fastmcp").handlers.clear()
    with tempfile.TemporaryDirectory(prefix="midcall-fuzz-", ignore_cleanup_errors=True) as home:
        os.environ["XDG_DATA_HOME"] = home
        os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
        reports = [_run(TARGETS[name], given, -(-given.inputs * TARGETS[name].share // shares)) for name in names]
    failures = sum(len(report.failures) for report in reports)
    print(f"{sum(report.inputs for report in reports):,} inputs, {failures} failures, seed {given.seed}")
    return 1 if failures else 0


def _run(target: Target, given: argparse.Namespace, inputs: int) -> Report:
    report = fuzz(
        target,
        inputs,
        given.seed,
        first=given.first,
        seconds=given.seconds,
        most=20,
        tell=lambda failure: print(f"\n{failure}\n", flush=True),
    )
    print(report, flush=True)
    return report


if __name__ == "__main__":
    sys.exit(main())
