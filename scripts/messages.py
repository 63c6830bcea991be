"""Extract what people read into `midcall.pot`, for translators. With `--check`, fail if that file is stale."""

from __future__ import annotations

import io
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

import midcall
from midcall.language import DOMAIN, LOCALE

SOURCE = Path(midcall.__file__).parent
METHODS = [("**.py", "python"), ("**/templates/**.html", "jinja2")]
KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2)}
POT = LOCALE / f"{DOMAIN}.pot"


def extract() -> bytes:
    """All sentences that people read, sorted by file. No dates or line numbers: they would go stale."""
    catalog = Catalog(project=DOMAIN, charset="utf-8", fuzzy=False)
    options = {"jinja2": {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}}
    found = extract_from_dir(
        SOURCE,
        METHODS,
        {pattern: options.get(method, {}) for pattern, method in METHODS},
        KEYWORDS,
        comment_tags=("Translators:",),
        strip_comment_tags=True,
    )
    for name, _line, message, comments, context in found:
        catalog.add(message, None, [(name, 0)], auto_comments=comments, context=context)
    written = io.BytesIO()
    write_po(written, catalog, omit_header=True, sort_by_file=True, include_lineno=False, width=120)
    return written.getvalue()


def main() -> None:
    text = extract()
    if "--check" in sys.argv[1:]:
        if not POT.exists() or POT.read_bytes() != text:
            sys.exit(f"{POT.relative_to(Path.cwd())} is stale: run `make messages` and commit it.")
        return
    POT.write_bytes(text)
    print(f"{text.count(b'msgid ')} sentences in {POT.relative_to(Path.cwd())}")


if __name__ == "__main__":
    main()
