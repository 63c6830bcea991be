"""Check README.md and docs/: every relative link and anchor exists, snippets equal their files, and lines are short.

A snippet is a fenced block with `<!-- file: docs_src/x.py -->` on the line above it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^ *(?P<mark>```+|~~~+)[^\n]*\n(?P<code>.*?)^ *(?P=mark) *$", re.MULTILINE | re.DOTALL)
SNIPPET = re.compile(r"^<!-- file: (?P<file>\S+) -->\n", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)[^)]*\)|^\[[^\]]+\]:\s*(?P<reference>\S+)", re.MULTILINE)
HEADING = re.compile(r"^#{1,6}\s+(?P<text>.+?)\s*#*$", re.MULTILINE)
ANCHOR = re.compile(r"""<a\s+(?:id|name)=["']([^"']+)["']""")
COLUMNS = 120
UNBROKEN = re.compile(r" *(?:\||#|<|!?\[.*\]\(\S+\)$|\[[^\]]+\]:|- [A-Z]+-\d+ (?:MUST|SHOULD) )")
"""How a line begins that can't be wrapped: a table, a heading, a comment, nothing but a link, a promise."""


def main() -> int:
    pages = [page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if page.exists()]
    problems = [f"{page.relative_to(ROOT)}: {problem}" for page in pages for problem in check(page)]
    print(*problems, f"Docs: {len(pages)} pages, {len(problems)} problems.", sep="\n")
    return 1 if problems else 0


def check(page: Path) -> Iterator[str]:
    text = page.read_text()
    yield from wrong_links(page, prose(text))
    yield from wrong_snippets(text)
    yield from long_lines(text)


def prose(text: str) -> str:
    """The page without its code: there, `[a](b)` isn't a link and `# x` isn't a heading."""
    return re.sub(r"(`+)[^`\n]+\1", "``", FENCE.sub("", text))


def wrong_links(page: Path, text: str) -> Iterator[str]:
    for match in LINK.finditer(text):
        target = match["target"] or match["reference"]
        if re.match(r"[a-z][a-z0-9+.-]*:|//", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        linked = (page.parent / path).resolve() if path else page
        if not linked.exists():
            yield f"{target}: no such file"
        elif anchor and linked.suffix == ".md" and anchor not in anchors(linked):
            yield f"{target}: no such heading"


@cache
def anchors(page: Path) -> set[str]:
    """The page's anchors: one per heading, as code hosts generate them."""
    text = page.read_text()
    found = set(ANCHOR.findall(text))
    for match in HEADING.finditer(FENCE.sub("", text)):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match["text"]).lower()
        slug = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        found.add(next(name for name in (slug, *(f"{slug}-{n}" for n in range(1, 99))) if name not in found))
    return found


def wrong_snippets(text: str) -> Iterator[str]:
    for comment in SNIPPET.finditer(text):
        name, block = comment["file"], FENCE.match(text, comment.end())
        if block is None:
            yield f"{name}: no code block directly below its comment"
        elif not (ROOT / name).exists():
            yield f"{name}: no such file"
        elif block["code"].strip() != (ROOT / name).read_text().strip():
            yield f"{name}: the snippet differs from the file"


def long_lines(text: str) -> Iterator[str]:
    code = [range(*match.span()) for match in FENCE.finditer(text)]
    for number, match in enumerate(re.finditer(r"^.*$", text, re.MULTILINE), 1):
        line = match[0]
        if len(line) > COLUMNS and not UNBROKEN.match(line) and not any(match.start() in block for block in code):
            yield f"line {number} has {len(line)} columns, more than {COLUMNS}: wrap it"


if __name__ == "__main__":
    sys.exit(main())
