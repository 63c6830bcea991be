"""Pages are consistent: all are in the index, all their Python is tested, and promises have ids."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from midcall.cli.commands import midcall
from midcall.doctor import checks as doctor_checks
from midcall.server.channels.table import CHANNELS
from scripts.check_docs import FENCE, LINK, long_lines, prose

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "midcall"
PAGES = sorted(DOCS.rglob("*.md"))
SHOWN = re.compile(r"<!-- file: ((?:docs_src|examples/recipes)/\S+) -->\n```python\n")
PROMISE = re.compile(r"- ([A-Z]+-\d+) (MUST|SHOULD) (\S.*?\S)( \(planned\))?")


def linked_from(page: Path) -> set[Path]:
    targets = (match["target"] or match["reference"] for match in LINK.finditer(prose(page.read_text())))
    return {(page.parent / target.partition("#")[0]).resolve() for target in targets if ":" not in target}


def test_every_page_is_on_the_map() -> None:
    maps = (DOCS / "index.md", DOCS / "decisions" / "index.md")
    on_the_map = set(maps).union(*(linked_from(page) for page in maps))
    assert [page for page in PAGES if page not in on_the_map] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_python_block_is_a_tested_file(page: Path) -> None:
    text = page.read_text()
    blocks = [match for match in FENCE.finditer(text) if match[0].startswith("```py")]
    assert len(blocks) == len(SHOWN.findall(text))


def test_every_snippet_is_shown() -> None:
    shown = {ROOT / name for page in PAGES for name in SHOWN.findall(page.read_text())}
    assert shown == {*(ROOT / "docs_src").glob("*.py"), *(ROOT / "examples" / "recipes").glob("*.py")}


def test_every_promise_has_a_unique_id() -> None:
    lines = [line for line in (DOCS / "promises.md").read_text().splitlines() if line.startswith("- ")]
    promises = [PROMISE.fullmatch(line) for line in lines]
    assert all(promises)
    ids = [promise[1] for promise in promises if promise]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("word " * 25, 1),
        ("- " + "word " * 25, 1),
        ("word " * 24, 0),
        ("| " + "word " * 25 + "|", 0),
        ("## " + "word " * 25, 0),
        ("![" + "word " * 25 + "](images/form.svg)", 0),
        ("```sh\n" + "word " * 25 + "\n```", 0),
    ],
)
def test_long_lines_are_found_unless_they_cannot_be_wrapped(line: str, found: int) -> None:
    assert len(list(long_lines(f"# Page\n\n{line}\n"))) == found


def test_every_command_is_on_the_page_of_the_command_line() -> None:
    page = (DOCS / "cli.md").read_text()
    assert [name for name in midcall.commands if f"`midcall {name}" not in page] == [], "add these to docs/cli.md"


def test_the_page_of_channels_has_them_in_their_order() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", (DOCS / "channels.md").read_text(), re.MULTILINE)
    assert rows == [(str(number), channel.via) for number, channel in enumerate(CHANNELS, 1)]


def test_the_page_of_doctor_has_every_line_of_a_report() -> None:
    checks = (Path(doctor_checks.__file__).parent).rglob("*.py")
    reported = {name for path in checks for name in re.findall(r'\bFinding\("(\w+)"', path.read_text())}
    table = (DOCS / "doctor.md").read_text().split("| line | checks |")[1].split("\n\n")[0]
    shown = {name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}
    assert reported
    assert shown == reported


def test_contributors_are_sent_to_all_code_that_picks_out_kinds_of_fields() -> None:
    page = (DOCS / "where.md").read_text()
    listed = set(re.findall(r"`([\w/]+\.py)`", page.split("They're in these files:")[1].split("\n5. ")[0]))
    picks = re.compile(r"isinstance\(.*\b(Text|Number|Choices?|Flag)\b|match field\b.*:\n(.*\n){,12}? +case _:")
    files = [path for path in SOURCE.rglob("*.py") if picks.search(path.read_text())]
    assert {path.relative_to(SOURCE).as_posix() for path in files} == listed
