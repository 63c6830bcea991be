"""A form as an MCP App: one document that loads nothing, and the questions in it.

The document is the same for every question. Its script asks the server what to show, and the server renders it with the
same templates as every other page, so the script knows nothing about fields.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from midcall.core.forms.fields import Flag
from midcall.core.forms.form import Form
from midcall.language.problems import Problem
from midcall.settings.web import PAGE_CONFIRM_SECONDS
from midcall.web.forms import OURS, PAGES, excerpt, stylesheet
from midcall.web.forms.inputs import too_large


def document() -> str:
    """The App. Its CSP allows its one script and its one stylesheet, and nothing else."""
    script = (OURS / "app.js").read_text("utf-8")
    style = stylesheet() + (OURS / "app.css").read_text("utf-8")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'"
    pause = round(1000 * PAGE_CONFIRM_SECONDS)
    return PAGES.page("app.html", policy=policy, script=Markup(script), style=Markup(style), pause=pause)


def asking(
    form: Form,
    server: str,
    message: str,
    place: tuple[int, int] = (1, 1),
    tried: Mapping[str, Any] | None = None,
    problems: Sequence[Problem] = (),
) -> str:
    """A question, to show in the document.

    Args:
        form: The form.
        server: Who asks.
        message: What the server says.
        place: The number of the question, and how many there are.
        tried: The values of an earlier answer that did not fit.
        problems: What is wrong with them.
    """
    fields = None if too_large(form) else PAGES.form(form, tried, problems)
    needs = any(field.required and not isinstance(field, Flag) for field in form)
    server = excerpt.line(server, 80)
    return PAGES.page("app_question.html", server=server, message=message, place=place, fields=fields, needs=needs)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
