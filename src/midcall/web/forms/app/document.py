"""Render the document, and the questions in it."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from midcall.core.forms.fields import Flag
from midcall.core.forms.form import Form
from midcall.problems import Problem
from midcall.web.forms import excerpt
from midcall.web.forms.html import Pages, stylesheet
from midcall.web.forms.inputs import too_large

_HERE: Final = Path(__file__).parent


def document() -> str:
    """The App. Its CSP allows its one script and its one stylesheet, and nothing else."""
    script, style = _file("app.js"), stylesheet() + _file("app.css")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'"
    return _pages().page("document.html", policy=policy, script=Markup(script), style=Markup(style))


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
    fields = None if too_large(form) else _pages().form(form, tried, problems)
    needs = any(field.required and not isinstance(field, Flag) for field in form)
    return _pages().page(
        "asking.html",
        server=excerpt.line(server, 80),
        message=message,
        place=place,
        fields=fields,
        needs=needs,
    )


@cache
def _pages() -> Pages:
    return Pages(_HERE / "templates")


@cache
def _file(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
