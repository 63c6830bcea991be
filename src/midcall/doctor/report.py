"""What the checks found: a line for each thing that was checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

State: TypeAlias = Literal["ok", "off", "doubtful", "broken"]
"""Works; absent, which may be intended; may not do what you expect; doesn't work."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked."""

    name: str
    state: State
    text: str
    advice: str = ""
    """What to do about it."""


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
