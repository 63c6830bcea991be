"""A tool that lets go while its questions leave, or does not."""

from __future__ import annotations


def suspend_advice() -> str:
    return (
        "The tool is unwound because a round of questions is leaving; it runs again with the answers. "
        "Let this exception pass: catch `Exception`, never everything."
    )


def swallowed_suspend() -> str:
    return (
        "A tool kept catching midcall's Suspend and was left where it stood. Its questions did leave. "
        "Replace the bare `except:` (or `except BaseException:`) around ask() with `except Exception:`."
    )
