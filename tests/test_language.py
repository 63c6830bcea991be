"""Texts for people can be translated: in Python, in templates, and with plural forms."""

from __future__ import annotations

from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

import midcall
from midcall.language import DOMAIN, _, ngettext, use
from midcall.web.forms import Pages
from midcall.web.forms.document import document


@pytest.fixture
def german(tmp_path: Path) -> Path:
    """A folder with a German catalog."""
    catalog = Catalog(locale="de")
    catalog.add("At least {minimum}", "Mindestens {minimum}")
    catalog.add(("{count} problem", "{count} problems"), ("{count} Problem", "{count} Probleme"))
    catalog.add("Hello %(name)s", "Hallo %(name)s")
    folder = tmp_path / "de" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / f"{DOMAIN}.mo").open("wb") as file:
        write_mo(file, catalog)
    return tmp_path


def test_a_sentence_without_a_translation_is_english() -> None:
    assert _("At least {minimum}").format(minimum=3) == "At least 3"
    assert ngettext("{count} problem", "{count} problems", 1).format(count=1) == "1 problem"


def test_a_sentence_is_translated_while_its_language_is_in_use(german: Path) -> None:
    with use(["fr", "de"], german):
        assert _("At least {minimum}").format(minimum=3) == "Mindestens 3"
        assert ngettext("{count} problem", "{count} problems", 2).format(count=2) == "2 Probleme"
    assert _("At least {minimum}") == "At least {minimum}"


def test_a_language_without_a_catalog_falls_back_to_english(german: Path) -> None:
    with use(["fr"], german):
        assert _("At least {minimum}") == "At least {minimum}"


def test_a_template_is_translated_and_escapes_what_is_filled_in(german: Path, tmp_path: Path) -> None:
    (tmp_path / "hello.html").write_text('{{ _("Hello %(name)s", name=who) }}')
    pages = Pages(tmp_path)
    with use(["de"], german):
        assert pages.page("hello.html", who="<b>") == "Hallo &lt;b&gt;"
    assert pages.page("hello.html", who="Ada") == "Hello Ada"


@pytest.mark.parametrize(
    ("locale", "attributes"), [("de", 'de" dir="ltr'), ("pt_BR", 'pt-BR" dir="ltr'), ("he", 'he" dir="rtl')]
)
def test_a_page_declares_its_language_and_the_direction_of_writing(
    locale: str, attributes: str, tmp_path: Path
) -> None:
    folder = tmp_path / locale / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / f"{DOMAIN}.mo").open("wb") as file:
        write_mo(file, Catalog(locale=locale))
    with use([locale], tmp_path):
        assert f'<html lang="{attributes}">' in document()
    assert '<html lang="en" dir="ltr">' in document()


def test_every_page_of_ours_declares_its_language() -> None:
    templates = [path.read_text() for path in Path(midcall.__file__).parent.rglob("templates/*.html")]
    pages = [text for text in templates if "<html" in text]
    assert len(pages) == 3
    assert all('<html lang="{{ lang() }}" dir="{{ dir() }}">' in text for text in pages)
