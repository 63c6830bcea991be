"""Run the test suites of the MCP SDK and FastMCP, with and without `midcall.install` in every server they create.

    python -m scripts.suites [mcp | fastmcp] [ARGUMENTS OF PYTEST]

Prints the tests that fail only with midcall, and fails if one of them has no reason in accepted.txt. The first run
downloads both sdists and takes long. Results without midcall are cached in .suites until a version changes.
"""

from __future__ import annotations

import json
import sys

from scripts.suites.accepted import accepted_tests
from scripts.suites.environment import SUITES, Suite, prepare
from scripts.suites.running import Outcomes, run, run_again


def main() -> int:
    names, args = list(SUITES), sys.argv[1:]
    if args and args[0] in SUITES:
        names, args = [args[0]], args[1:]
    prepare()
    failing = [test for name in names for test in compare(SUITES[name], args)]
    return 1 if failing else 0


def compare(suite: Suite, args: list[str]) -> list[str]:
    """Print what `install` changes, and return the tests that fail because of it without an accepted reason."""
    print(f"{suite.name} {suite.version}", flush=True)
    before = baseline(suite, args)
    if not before.by_test:
        print("  no tests selected")
        return []
    print(f"  without midcall  {before}", flush=True)
    after = run(suite, args, line=True)
    print(f"  with midcall     {after}", flush=True)
    changed = before.ended("passed") - after.ended("passed")
    accepted = accepted_tests(suite)
    failing, flaky = confirm(suite, changed - accepted)
    print(f"  accepted: {len(changed & accepted)}")
    report("accepted, but pass: remove them from accepted.txt", accepted & after.ended("passed"))
    report("accepted, but not in the suite", set() if args else accepted - set(before.by_test))
    report("flaky: passed when run again, or failed without midcall", flaky)
    report("newly failing", failing, after)
    return sorted(failing)


def baseline(suite: Suite, args: list[str]) -> Outcomes:
    """The outcomes without midcall. A full run is cached."""
    if not args and suite.baseline.exists():
        return Outcomes(json.loads(suite.baseline.read_text()))
    outcomes = run(suite, args, line=False)
    if failed := outcomes.ended("failed"):
        # compare tests that only failed on a busy machine too
        outcomes = Outcomes(outcomes.by_test | run_again(suite, failed, line=False).by_test)
    if not args:
        suite.baseline.write_text(json.dumps(outcomes.by_test))
    return outcomes


def confirm(suite: Suite, changed: set[str]) -> tuple[set[str], set[str]]:
    """Split these tests, run alone, into those that fail only with midcall and the others."""
    if not changed:
        return set(), set()
    with_line = run_again(suite, changed, line=True).ended("passed")
    without = run_again(suite, changed - with_line, line=False).ended("passed") if changed - with_line else set[str]()
    failing = without - with_line
    return failing, changed - failing


def report(title: str, tests: set[str], outcomes: Outcomes | None = None) -> None:
    if not tests:
        return
    print(f"  {title}: {len(tests)}")
    for test in sorted(tests):
        print(f"    {test}")
        if outcomes is not None:
            print(f"      {first_line(outcomes.why(test))}")


def first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:160]


if __name__ == "__main__":
    sys.exit(main())
