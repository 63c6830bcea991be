"""A person at a page of a portal: fills in controls by their labels, and presses a button, without JavaScript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import httpx2
from pydantic_core import to_jsonable_python

Button: TypeAlias = Literal["accept", "decline", "cancel"]


async def press(
    url: str | None, button: Button = "accept", *secrets: str, fields: Mapping[str, Any] | None = None
) -> None:
    """Open this page of a loopback portal, fill it in, and press the button.

    Args:
        url: The address, as in `asked.url`.
        button: Which one.
        secrets: What to type into the fields for secrets, in order.
        fields: What to fill into a form, by the labels of its fields: text, a number, a date or datetime, a bool, or
            the options to choose, as the page shows them. Other fields keep their defaults.

    Raises:
        AssertionError: The page doesn't exist, has other fields, or rejected the values.
    """
    if url is None:
        raise AssertionError("the question is a form and has no page to open")
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        shown = await browser.get(url)
        if not shown.is_success:
            raise AssertionError(f"the page at {url} was answered with {shown.status_code}")
        page = ShownPage(shown.text)
        if button == "accept" and len(secrets) != len(page.secrets):
            raise AssertionError(f"the page has {len(page.secrets)} fields for secrets, and {len(secrets)} were given")
        page.fill(fields or {})
        typed = {name: [value] for name, value in zip(page.secrets, secrets, strict=False)}
        origin = urlsplit(url)._replace(path="", query="", fragment="").geturl()
        done = await browser.post(url, data={**page.values(), **typed, "do": button}, headers={"origin": origin})
    if not done.is_success:
        problems = " ".join(ShownPage(done.text).problems)
        raise AssertionError(f"the page rejected it: {done.status_code} {problems}".strip())


@dataclass(slots=True)
class _Control:
    """Something to type into, or to choose from."""

    name: str
    values: list[str] = field(default_factory=list[str])
    """The values filled in."""
    options: dict[str, str] | None = None
    """The values to choose from, by what the page shows."""


class ShownPage(HTMLParser):
    """What a page shows, and what its form sends."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.secrets: list[str] = []
        """The names of the fields for secrets."""
        self.problems: list[str] = []
        self._controls: dict[str, _Control] = {}
        self._labels: dict[str, str] = {}
        """Names of controls by their labels."""
        self._alert = self._label = self._legend = ""
        self._reads: str | None = None
        self._control: _Control | None = None
        self._option: dict[str, str] = {}
        self.feed(html)

    def fill(self, fields: Mapping[str, Any]) -> None:
        """Fill in these values, by the labels of their fields."""
        for label, value in fields.items():
            name = self._labels.get(_fold(label))
            if name is None:
                raise AssertionError(f"The page has no field {label!r}; it has: {', '.join(self._labels) or 'none'}.")
            self._set(label, self._controls[name], to_jsonable_python(value))

    def values(self) -> dict[str, list[str]]:
        """What a browser sends."""
        return {name: control.values for name, control in self._controls.items()}

    def _set(self, label: str, control: _Control, value: Any) -> None:
        from midcall.web.forms.inputs import split_moment  # needs an extra

        if control.options is not None:
            several: Sequence[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
            control.values = [_find_option(label, control.options, each) for each in several]
        elif (zone := self._controls.get(f"{control.name}-zone")) is not None and (moment := split_moment(str(value))):
            control.values, zone.values = [moment[0]], [moment[1]]
        else:
            control.values = ["" if value is None else str(value)]

    # --- reading it ---------------------------------------------------------------------------

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self._alert = tag if given.get("role") == "alert" else self._alert
        match tag:
            case "label" if "for" in given:
                self._label, self._reads = given["for"], "label"
            case "legend":
                self._reads = "legend"
            case "input" | "select" | "textarea" if "name" in given:
                self._add(tag, given)
            case "option":
                self._option, self._reads = given, "option"
            case "span" if self._option:
                self._reads = "option"
            case "span":
                self._reads = None  # a mark after a label
            case _:
                pass

    def _add(self, tag: str, given: dict[str, str]) -> None:
        kind = given.get("type") if tag == "input" else tag
        control = self._control = self._controls.setdefault(given["name"], _Control(given["name"]))
        if self._legend:
            self._labels.setdefault(_fold(self._legend), given["name"])
        if kind in ("radio", "checkbox"):
            self._option = given
        if kind in ("radio", "checkbox", "select"):
            control.options = control.options or {}
        elif kind == "textarea":
            self._reads = "textarea"
        else:
            control.values = [given.get("value", "")]
        if kind == "password":
            self.secrets.append(given["name"])

    def handle_data(self, data: str) -> None:
        text = data.strip()
        if self._alert and text:
            self.problems.append(text)
        match self._reads:
            case "label" if text:
                self._labels.setdefault(_fold(text), self._label)
            case "legend" if text:
                self._legend = text
            case "option" if self._control is not None and self._option:
                self._offer(self._control, text)
            case "textarea" if self._control is not None:
                self._control.values = [data.removeprefix("\n")]
            case _:
                pass

    def _offer(self, control: _Control, title: str) -> None:
        assert control.options is not None
        control.options[title] = self._option.get("value", "")
        if "checked" in self._option or "selected" in self._option:
            control.values.append(self._option.get("value", ""))
        self._option = {}

    def handle_endtag(self, tag: str) -> None:
        if tag == self._alert:
            self._alert = ""
        if tag in ("label", "legend", "option", "textarea"):
            self._reads = None
        if tag == "fieldset":
            self._legend = ""


def _fold(label: str) -> str:
    return label.replace("_", " ").strip().casefold()


def _find_option(label: str, options: Mapping[str, str], value: Any) -> str:
    title = ("Yes" if value else "No") if isinstance(value, bool) else str(value)
    found = next((sent for shown, sent in options.items() if shown.casefold() == title.casefold()), None)
    if found is None:
        raise AssertionError(f"{title!r} is not an option of {label!r}; the page has: {', '.join(options)}.")
    return found
