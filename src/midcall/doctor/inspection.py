"""The shape of a check: it gets an installation and its environment, and returns a line for each thing it checked."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from midcall.errors import Misuse
from midcall.settings.table import SETTINGS

if TYPE_CHECKING:
    from midcall.portal.app import Portal
    from midcall.server.installation import Installation

_CONTAINER_FILES: Final = ("/.dockerenv", "/run/.containerenv")
_CONTAINER_VARIABLES: Final = ("KUBERNETES_SERVICE_HOST", "container")  # the second: Podman, LXC and systemd
_PREFIX: Final = "MIDCALL_"

VARIABLES: Final = frozenset(setting.env for setting in SETTINGS if setting.env)
"""The environment variables that midcall reads."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Whether the user's browser can reach this machine's loopback, and which variables are misspelled."""

    ssh: bool = False
    container: bool = False
    display: bool = True
    unknown: tuple[str, ...] = ()
    """Variables that look like our settings, but aren't."""

    @property
    def near(self) -> bool:
        """Whether the user's browser is probably on this machine."""
        return self.display and not self.ssh and not self.container

    @classmethod
    def here(cls, environ: Mapping[str, str] = os.environ, root: Path = Path("/")) -> Surroundings:
        """Those of this process."""
        return cls(
            ssh=any(name in environ for name in ("SSH_CONNECTION", "SSH_TTY")),
            container=any(environ.get(name) for name in _CONTAINER_VARIABLES)
            or any((root / name[1:]).exists() for name in _CONTAINER_FILES),
            display=sys.platform != "linux"
            or any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")),
            unknown=tuple(
                sorted(name for name in environ if name.upper().startswith(_PREFIX) and name not in VARIABLES)
            ),
        )


@dataclass(frozen=True, slots=True)
class Setup:
    """What every check gets."""

    installation: Installation
    here: Surroundings = field(default_factory=Surroundings)

    @property
    def portal(self) -> Portal | None:
        """The portal itself; the server only knows a Protocol."""
        return cast("Portal | None", self.installation.portal)


def address_of(portal: Portal) -> str | None:
    """The address that the portal was given; None if it listens on its own and hasn't started."""
    try:
        return portal.url
    except Misuse:
        return None


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
