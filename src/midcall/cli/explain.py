"""`midcall explain`: what an error means, and what to do about it. The package contains the errors page."""

from __future__ import annotations

import re
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import midcall
from midcall.cli.exits import DONE, USAGE, Ends
from midcall.cli.stdout import print_out

_PACKAGE: Final = Path(midcall.__file__).parent
_PAGES: Final = (_PACKAGE / "errors.md", _PACKAGE.parent.parent / "docs" / "errors.md")
"""In the wheel, and in the repository."""
_SECTION: Final = re.compile(r"^## (\w+)\n+(.*?)\s*(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_NEAR: Final = 0.8
"""How similar two names must be: Python's own errors have the same endings as ours."""
_LINK: Final = re.compile(r"\[([^\]]+)\]\([^)\s]+(?:\s+\"([^\"]+)\")?\)")
"""A link has the title of its page, unless it stays on this page."""


def run(name: str | None) -> int:
    """Print the section about this error; without a name, list the errors."""
    known = sections()
    if name is None:
        lines = ("midcall explain ERROR says what happened and what to do. The errors are:", "", *known)
        print_out("".join(f"{line}\n" for line in lines))
        return DONE
    wanted = name.rpartition(".")[2].rpartition("#")[2]
    names = {each.lower(): each for each in known}
    if (found := names.get(wanted.lower())) is None:
        near = get_close_matches(wanted.lower(), names, n=1, cutoff=_NEAR)
        hint = f"Did you mean {names[near[0]]}?" if near else "`midcall explain` lists all errors."
        raise Ends(USAGE, f"midcall explain: there is no error {wanted[:100]!r}. {hint}")
    print_out(f"{found}\n\n{_LINK.sub(_format_link, known[found]).replace('**', '')}\n")
    return DONE


def sections() -> dict[str, str]:
    """The sections of the page, by the name of the error."""
    page = next(page for page in _PAGES if page.is_file())
    return dict(_SECTION.findall(page.read_text("utf-8")))


def _format_link(link: re.Match[str]) -> str:
    """A link for a terminal: other pages by their titles, since the package doesn't contain them."""
    words, title = link.groups()
    if title is None:
        return words
    return f'the page "{title}"' if words == title else f'{words} (the page "{title}")'
