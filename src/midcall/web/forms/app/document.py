"""Draws the document, and the questions in it."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from midcall.core.forms.check import Problem
from midcall.core.forms.fields import Flag
from midcall.core.forms.form import Form
from midcall.web.forms import shown
from midcall.web.forms.inputs import too_large
from midcall.web.forms.pages import Pages, stylesheet
from midcall.wording import app as wording

__all__ = ["asking", "document"]

_HERE: Final = Path(__file__).parent


@cache
def document() -> str:
    """The whole App. Its own policy lets its one script and its one stylesheet work, and nothing else."""
    script, style = _file("app.js"), stylesheet() + _file("app.css")
    policy = f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; base-uri 'none'"
    return _pages().page("document.html", say=wording, policy=policy, script=Markup(script), style=Markup(style))


def asking(
    form: Form,
    server: str,
    message: str,
    place: tuple[int, int] = (1, 1),
    tried: Mapping[str, Any] | None = None,
    problems: Sequence[Problem] = (),
) -> str:
    """A question, to stand in the document.

    Args:
        form: What is asked.
        server: Who asks.
        message: What they say.
        place: Which question it is, and of how many.
        tried: What was filled in before, where it did not fit.
        problems: What is wrong with it.
    """
    fields = None if too_large(form) else _pages().form(form, tried, problems)
    needs = any(field.required and not isinstance(field, Flag) for field in form)
    return _pages().page(
        "asking.html",
        say=wording,
        server=shown.line(server, 80),
        message=message,
        place=place,
        fields=fields,
        needs=needs,
    )


@cache
def _pages() -> Pages:
    return Pages(_HERE / "templates")


def _file(name: str) -> str:
    return (_HERE / name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
