"""Forms as HTML, for the portal, the browser answerer and the App.

    html = draw(form)                                    # with its defaults
    content = read(form, parse_qsl(body))                # what was posted, as content for `check`
    html = draw(form, content, check(form, content))     # the same form again, with its problems

No I/O except for the templates. The HTML works without JavaScript, and text from a server is never markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, cast

from midcall.core.forms.form import Form
from midcall.language import _, name_direction, name_language, ngettext
from midcall.language.problems import Problem
from midcall.web.forms import excerpt
from midcall.web.forms.inputs import inputs, read, too_large

try:
    from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup
except ImportError:
    raise ImportError(
        'Rendering a form needs a package that is not installed: pip install "midcall[browser]"'
    ) from None

__all__ = ["OURS", "PAGES", "Pages", "draw", "inputs", "read", "stylesheet", "too_large"]

OURS = Path(__file__).parent


def _load(places: tuple[Path, ...]) -> Environment:
    """Templates of these directories; each is compiled when it is first used."""
    loaders: list[BaseLoader] = [FileSystemLoader(place) for place in places]
    environment = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=["jinja2.ext.i18n"],
    )
    install = cast("Any", environment).install_gettext_callables
    install(_, ngettext, newstyle=True)  # `_("Hello %(name)s", name=who)` escapes the name
    cast("dict[str, Any]", environment.globals).update(lang=name_language, dir=name_direction)
    environment.filters.update(text=excerpt.text, line=excerpt.line, exact=excerpt.exact, marks=excerpt.draw_marks)
    return environment


_load_ours = cache(_load)
"""The same for our templates, once per process: compiling one takes longer than rendering it."""


class Pages:
    """Renders templates.

    Args:
        ours: Directories with templates, in addition to those of forms.
        overrides: The author's directory. A template in it replaces ours with the same name.
    """

    def __init__(self, *ours: Path, overrides: Path | None = None) -> None:
        ours = (*ours, OURS / "templates")
        self._environment = _load_ours(ours) if overrides is None else _load((overrides, *ours))

    def page(self, template: str, /, **variables: Any) -> Markup:
        """Render this template with these variables."""
        return Markup(self._environment.get_template(template).render(variables))

    def form(
        self,
        form: Form,
        values: Mapping[str, Any] | None = None,
        problems: Sequence[Problem] = (),
        *,
        prefix: str = "f",
        zone: str = "+00:00",
    ) -> Markup:
        """The fields of this form as HTML, to put inside a `<form novalidate>`, with a summary of the problems.

        Args:
            form: The form.
            values: The values to show; by default, the defaults of the fields.
            problems: What `check` found in these values.
            prefix: The start of all ids. Use another one for a second form on the same page.
            zone: The offset from UTC to offer first for a date and time.
        """
        controls = inputs(form, values, problems, prefix=prefix, zone=zone)
        return self.page("form.html", inputs=controls, count=sum(len(each.problems) for each in controls))


PAGES = Pages()
"""Our own templates only."""

draw = PAGES.form
"""For pages of others, which may have several forms: the chat of `examples/recipes/` does."""


@cache
def stylesheet() -> str:
    """The stylesheet of all pages."""
    return (OURS / "style.css").read_text("utf-8")
