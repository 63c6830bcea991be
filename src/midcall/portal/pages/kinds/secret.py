"""A secret: typed on our page, kept in the vault, and never seen again by any page, client or model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from midcall.errors import Misuse
from midcall.portal.access.visitor import Met, Refused, Result, Settled, Tried
from midcall.portal.logs import logger
from midcall.portal.pages.posted import Posted
from midcall.portal.vault import Vault
from midcall.stores.interactions import Interaction, Interactions
from midcall.web.forms import shown
from midcall.web.secret_checks import ONE, Check
from midcall.wording.portal import secret as wording

__all__ = ["Secret"]

_LONGEST: Final = 65_536
_CHECKING: Final = 30.0
_OTHERS: Final = 5.0


@dataclass(frozen=True, slots=True)
class _Line:
    """One line to fill in. There is no value: none is ever drawn."""

    id: str
    name: str
    label: str
    description: str
    problem: str

    @property
    def described_by(self) -> str:
        told = (("about", self.description), ("problem", self.problem))
        return " ".join(f"{self.id}-{part}" for part, there in told if there)


class Secret:
    """Takes secrets.

    Args:
        vault: Where they go.
        interactions: To see to it that two submissions do not overwrite each other.
        checks: By the name of the secret.
        clock: Seconds since the epoch.
    """

    template = "secret.html"
    headers: Mapping[str, str] = {}

    def __init__(
        self, vault: Vault, interactions: Interactions, checks: Mapping[str, Check], clock: Callable[[], float]
    ) -> None:
        self._vault = vault
        self._interactions = interactions
        self._checks = checks
        self._clock = clock

    def shown(self, interaction: Interaction, tried: Mapping[str, Any] | None) -> dict[str, Any]:
        name = shown.line(str(interaction.about["name"]), 80)
        problems: Mapping[str, str] = (tried or {}).get("problems", {})
        general = problems.get("", "")
        return {"name": name, "lines": _lines(interaction, problems), "general": general}

    async def accept(self, met: Met, posted: Posted) -> Result:
        values = {line.name: posted.last(line.id) for line in _lines(met.interaction, {})}
        check = self._checks.get(str(met.interaction.about["name"]))
        problems = _wrong(values) or await self._checked(check, met.interaction, values)
        if problems:
            return Tried({"problems": problems})
        if not await self._interactions.claim(met.id, met.interaction.owner, now=self._clock()):
            return await self._somebody_was_first(met.id)
        name = str(met.interaction.about["name"])
        await self._vault.keep(met.visitor, name, values, now=self._clock())
        return Settled({"checked": check is not None})

    async def _somebody_was_first(self, id: str) -> Result:
        ending = await self._interactions.wait(id, _OTHERS)
        return Refused("store_away", 503) if ending is None else Refused("already", 409)

    async def _checked(
        self, check: Check | None, interaction: Interaction, values: Mapping[str, str]
    ) -> dict[str, str]:
        if check is None:
            return {}
        try:
            async with asyncio.timeout(_CHECKING):
                problem = await check(dict(values))
        except Exception as exc:  # its text may hold the value, if it is not ours
            why = str(exc) if isinstance(exc, Misuse) else type(exc).__name__
            logger.warning(wording.check_failed(str(interaction.about["name"]), why))
            problem = wording.unchecked()
        return {"": _without(problem, values)} if problem else {}


def _without(problem: str, values: Mapping[str, str]) -> str:
    """What was typed is not shown again, not even by a check that quotes it."""
    for value in sorted(values.values(), key=len, reverse=True):
        problem = problem.replace(value, "…") if len(value) > 3 else problem
    return shown.text(problem, 1000).rstrip(".")


def _wrong(values: Mapping[str, str]) -> dict[str, str]:
    missing = {name: wording.missing() for name, value in values.items() if not value.strip()}
    return missing | {name: wording.too_long() for name, value in values.items() if len(value) > _LONGEST}


def _fields(interaction: Interaction) -> Sequence[Mapping[str, Any]]:
    given = cast("Sequence[Mapping[str, Any]]", interaction.about.get("fields") or ())
    return given or ({"name": ONE, "title": interaction.about["name"]},)


def _lines(interaction: Interaction, problems: Mapping[str, str]) -> list[_Line]:
    return [
        _Line(
            f"s{index}",
            str(field["name"]),
            shown.line(str(field.get("title") or field["name"])),
            shown.text(str(field.get("description") or ""), 2000),
            problems.get(str(field["name"]), ""),
        )
        for index, field in enumerate(_fields(interaction))
    ]
