"""The kinds of pages: what each shows, and what comes of an answer. `Authorize` has its own module."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias, cast

from midcall.audit import Name
from midcall.core.caller import ServerIdentity
from midcall.core.forms.check import check
from midcall.core.forms.form import Form
from midcall.core.remembered import cache_short
from midcall.core.text import reveal
from midcall.errors import Misuse
from midcall.language import _
from midcall.portal.access import Visitor
from midcall.portal.logs import logger
from midcall.portal.vault import Entered
from midcall.settings.portal import CACHED_PAGE_CHARACTERS, SECRET_CHARACTERS, SECRET_CHECK_SECONDS
from midcall.stores.interactions import Interaction
from midcall.web.forms import Pages, excerpt, read, too_large
from midcall.web.secret_checks import ONE, Check
from midcall.web.security import Posted

_CACHED: Final = 64
"""How many forms to cache: the same tool asks the same thing again and again."""
_cached: Final = cache_short(_CACHED, CACHED_PAGE_CHARACTERS // 10)


@dataclass(frozen=True, slots=True)
class Completed:
    """The answer is good, and ends the interaction."""

    content: Mapping[str, Any] | None = None
    sealed: str = field(default="", repr=False)
    """What the user entered, encrypted."""
    keep_as: str = ""
    """Its name in the vault, if it may be stored there."""


@dataclass(frozen=True, slots=True)
class Invalid:
    """The answer does not fit: show the page again, with this."""

    problems: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Redirect:
    """The user continues at another site, which sends the browser back with this state."""

    url: str = field(repr=False)
    state: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rejected:
    """Nothing was done, and this notice says why."""

    why: str
    status: int


Result: TypeAlias = Completed | Invalid | Redirect | Rejected


class InteractionPage(Protocol):
    """One kind of page."""

    template: str
    headers: Mapping[str, str]
    accept_event: Name
    """What the audit trail calls an accepted answer."""
    decline_event: Name

    def facts(self, interaction: Interaction) -> Mapping[str, Any]:
        """What the audit trail says of an answer, besides what it says of every page."""
        ...

    def outcome(self) -> tuple[str, str]:
        """What people read once the answer was accepted: in one word, and in a sentence about the {server}."""
        ...

    def context(self, interaction: Interaction, problems: Mapping[str, Any] | None) -> dict[str, Any]:
        """The variables of its template; `problems` is what was wrong with the last answer."""
        ...

    async def accept(self, visitor: Visitor, posted: Posted) -> Result:
        """Take an answer, after access and origin were checked."""
        ...


class HostedForm:
    """Takes answers to a form question on our own page."""

    template = "hosted_form.html"
    headers: Mapping[str, str] = {}
    accept_event: Name = "page.answered"
    decline_event: Name = "page.declined"

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._empty = _cached(self._draw)

    def _draw(self, schema: str) -> str:
        return self._pages.form(_read(schema))

    def facts(self, interaction: Interaction) -> Mapping[str, Any]:
        return {}

    def outcome(self) -> tuple[str, str]:
        return _("Sent"), _("{server} has your answer.")

    def context(self, interaction: Interaction, problems: Mapping[str, Any] | None) -> dict[str, Any]:
        form = _form(interaction)
        if too_large(form):
            return {"fields": None, "needs": False}
        needs = any(field.required for field in form)
        if problems is None:
            return {"fields": self._empty(_schema(interaction)), "needs": needs}
        values = cast("Mapping[str, Any]", problems["content"])
        return {"fields": self._pages.form(form, values, check(form, values)), "needs": needs}

    async def accept(self, visitor: Visitor, posted: Posted) -> Result:
        form = _form(visitor.interaction)
        if too_large(form):
            return Rejected("too_large", 413)
        content = read(form, posted.pairs)
        return Invalid({"content": content}) if check(form, content) else Completed(content)


def _form(interaction: Interaction) -> Form:
    return _read(_schema(interaction))


def _schema(interaction: Interaction) -> str:
    return json.dumps(interaction.about["schema"])


@_cached
def _read(schema: str) -> Form:
    return Form.from_schema(json.loads(schema), strict=False)


class Approve:
    """Takes approvals of exactly what is shown."""

    template = "approve.html"
    headers: Mapping[str, str] = {}
    accept_event: Name = "approval.granted"
    decline_event: Name = "approval.declined"

    def facts(self, interaction: Interaction) -> Mapping[str, Any]:
        return {"digest": interaction.digest}

    def outcome(self) -> tuple[str, str]:
        return _("Approved"), _("{server} continues with exactly what you saw.")

    def context(self, interaction: Interaction, problems: Mapping[str, Any] | None) -> dict[str, Any]:
        details = cast("Mapping[str, Any]", interaction.about.get("details") or {})
        rows = [(_format_text(name), *_format_detail(value)) for name, value in details.items()]
        texts = (reveal(interaction.message, layout=True), *(text for name, value, _ in rows for text in (name, value)))
        return {"rows": rows, "marked": any(map(excerpt.has_marks, texts))}

    async def accept(self, visitor: Visitor, posted: Posted) -> Result:
        return Completed()


def _format_detail(value: Any) -> tuple[str, bool]:
    """The value in full, and whether its layout matters. Never truncate what the user approves."""
    match value:
        case str():
            return _format_text(value).replace("↵", "↵\n"), "\n" in value
        case bool():
            return _("Yes") if value else _("No"), False
        case None:
            return _("(nothing)"), False
        case int() | float():
            return str(value), False
        case _other:  # JSON escapes line ends in texts: those that it has are layout
            lines = json.dumps(value, indent=2, ensure_ascii=False, default=str).split("\n")
            return "\n".join(line[: -len(text)] + reveal(text) for line in lines if (text := line.lstrip(" "))), True


def _format_text(text: str) -> str:
    """A text, in quotes if it would look like something else."""
    if not text:
        return _("(empty text)")
    like = text.startswith('"') or text in (_("Yes"), _("No"), _("(nothing)"), _("(empty text)"))
    return f'"{reveal(text)}"' if like else reveal(text)


@dataclass(frozen=True, slots=True)
class Reader:
    """Who will be able to read a secret, or to use an account: one server, or all of a namespace."""

    name: str
    place: str = ""
    namespace: str = ""

    @classmethod
    def of(cls, identity: ServerIdentity, *, local: bool) -> Reader:
        """As people may read it. The file counts only on the user's own machine, and not if there's a namespace."""
        place = identity.place if local and not identity.namespace else ""
        return cls(reveal(identity.name), reveal(place), reveal(identity.namespace))


@dataclass(frozen=True, slots=True)
class _Line:
    """One line to fill in. It has no value, because no page ever shows one."""

    id: str
    name: str
    label: str
    description: str
    problem: str

    @property
    def descriptions(self) -> str:
        parts = (("about", self.description), ("problem", self.problem))
        return " ".join(f"{self.id}-{part}" for part, text in parts if text)


class Secret:
    """Takes secrets: typed on our page, stored in the vault, and never seen by another page, a client or a model.

    Args:
        entered: Encrypts them.
        find_check: The check of a secret, by its name.
        reader: Who will be able to read them.
    """

    template = "secret.html"
    headers: Mapping[str, str] = {}
    accept_event: Name = "secret.stored"
    decline_event: Name = "page.declined"

    def __init__(self, entered: Entered, find_check: Callable[[str], Check | None], reader: Reader) -> None:
        self._entered = entered
        self._find_check = find_check
        self._reader = reader

    def facts(self, interaction: Interaction) -> Mapping[str, Any]:
        return {"name": interaction.about["name"]}

    def outcome(self) -> tuple[str, str]:
        return _("Saved"), _("{server} has what it needs.")

    def context(self, interaction: Interaction, problems: Mapping[str, Any] | None) -> dict[str, Any]:
        name = reveal(str(interaction.about["name"]))
        found = problems or {}
        lines = _lines(interaction, found)
        return {"name": name, "lines": lines, "general": found.get("", ""), "reader": self._reader}

    async def accept(self, visitor: Visitor, posted: Posted) -> Result:
        values = {line.name: posted.last(line.id) for line in _lines(visitor.interaction, {})}
        check = self._find_check(str(visitor.interaction.about["name"]))
        problems = _find_problems(values) or await self._check(check, visitor.interaction, values)
        if problems:
            return Invalid(problems)
        # A page on another replica may lack the tool's check. Then the tool runs it, and stores the value if it passes.
        unchecked = check is None and bool(visitor.interaction.about.get("check"))
        sealed = self._entered.seal(visitor.id, visitor.key, values)
        name = str(visitor.interaction.about["name"])
        return Completed({"checked": check is not None}, sealed, "" if unchecked else name)

    async def _check(self, check: Check | None, interaction: Interaction, values: Mapping[str, str]) -> dict[str, str]:
        if check is None:
            return {}
        try:
            async with asyncio.timeout(SECRET_CHECK_SECONDS):
                problem = await check(dict(values))
        except Exception as exc:  # unless it is ours, its text may hold the value
            why = str(exc) if isinstance(exc, Misuse) else type(exc).__name__
            logger.warning(
                f"the check of the secret {interaction.about['name']!r} failed, and nothing was saved: {why}"
            )
            problem = _("could not be checked just now. Nothing was saved. Please try again")
        return {"": _without(problem, values)} if problem else {}


def _without(problem: str, values: Mapping[str, str]) -> str:
    """The problem without what was typed, even if a check quotes it."""
    for value in sorted(values.values(), key=len, reverse=True):
        problem = problem.replace(value, "…") if len(value) > 3 else problem
    return excerpt.text(problem, 1000).rstrip(".")


def _find_problems(values: Mapping[str, str]) -> dict[str, str]:
    missing = {name: _("is required") for name, value in values.items() if not value.strip()}
    return missing | {
        name: _("is too long for a secret") for name, value in values.items() if len(value) > SECRET_CHARACTERS
    }


def _lines(interaction: Interaction, problems: Mapping[str, str]) -> list[_Line]:
    given = cast("Sequence[Mapping[str, Any]]", interaction.about.get("fields") or ())
    fields = given or ({"name": ONE, "title": interaction.about["name"]},)
    return [
        _Line(
            f"s{index}",
            str(field["name"]),
            reveal(str(field.get("title") or field["name"])),
            str(field.get("description") or ""),
            problems.get(str(field["name"]), ""),
        )
        for index, field in enumerate(fields)
    ]
