"""What was found: one line for each thing that was looked at."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

__all__ = ["SECONDS", "Finding", "Report", "State"]

State: TypeAlias = Literal["ok", "off", "doubtful", "broken"]
"""It is there; it is not, which may be meant so; it may not do what is expected; it does not work."""

SECONDS: Final = 2.5
"""How long anybody is waited for. All are asked at once, so it is also how long all of it takes."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: State
    text: str
    advice: str = ""
    """What to do to have it."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was found."""

    server: str
    channels: tuple[Finding, ...]
    installation: tuple[Finding, ...]

    @property
    def broken(self) -> bool:
        return any(finding.state == "broken" for finding in self.installation)

    def as_data(self) -> dict[str, Any]:
        """The report as JSON-ready data."""
        return {
            "server": self.server,
            "channels": [asdict(finding) for finding in self.channels],
            "installation": [asdict(finding) for finding in self.installation],
        }

    def sections(self) -> dict[str, tuple[Finding, ...]]:
        return {"Channels, in the order in which they are tried": self.channels, "Installation": self.installation}
