"""The templates: found in an author's directory first, then in ours; everything in them is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from midcall.core.forms.check import Problem
from midcall.core.forms.form import Form
from midcall.web.forms import shown
from midcall.web.forms.inputs import Texts, inputs
from midcall.wording.client import html, page

try:
    from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup
except ImportError:
    raise ImportError(html.needs_extra("Drawing a form as a page", "browser")) from None

__all__ = ["Pages", "draw", "stylesheet"]

OURS = Path(__file__).parent


class Pages:
    """Draws templates.

    Args:
        ours: Directories with templates, besides those of the forms themselves.
        overrides: An author's directory; a template in it takes the place of ours of the same name.
    """

    def __init__(self, *ours: Path, overrides: Path | None = None) -> None:
        places = [*([overrides] if overrides is not None else []), *ours, OURS / "templates"]
        loaders: list[BaseLoader] = [FileSystemLoader(place) for place in places]
        self._environment = Environment(
            loader=ChoiceLoader(loaders),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        named: dict[str, Any] = self._environment.globals
        named["wording"] = page
        self._environment.filters.update(text=shown.text, line=shown.line)

    def page(self, template: str, /, **said: Any) -> Markup:
        """This template with these values."""
        return Markup(self._environment.get_template(template).render(said))

    def form(
        self,
        form: Form,
        values: Mapping[str, Any] | None = None,
        problems: Sequence[Problem] = (),
        *,
        prefix: str = "f",
        zone: str = "+00:00",
        texts: Texts | None = None,
    ) -> Markup:
        """The fields of this form, and its problems above them; see `draw`."""
        words = texts or Texts()
        drawn = inputs(form, values, problems, prefix=prefix, zone=zone, texts=words)
        return self.page("form.html", inputs=drawn, texts=words, count=sum(len(each.problems) for each in drawn))


def draw(
    form: Form,
    values: Mapping[str, Any] | None = None,
    problems: Sequence[Problem] = (),
    *,
    prefix: str = "f",
    zone: str = "+00:00",
    texts: Texts | None = None,
) -> Markup:
    """The fields of this form as HTML, to stand inside a `<form novalidate>`.

    Args:
        form: What is asked.
        values: What is filled in; by default, the defaults of the fields.
        problems: What `check` found in those values.
        prefix: Begins all ids; choose another for a second form on the same page.
        zone: The offset from UTC to offer first for a date and time.
        texts: The words of the controls.
    """
    return _pages().form(form, values, problems, prefix=prefix, zone=zone, texts=texts)


@cache
def _pages() -> Pages:
    return Pages()


@cache
def stylesheet() -> str:
    """The one stylesheet of all pages."""
    return (OURS / "style.css").read_text("utf-8")
