"""Where this process runs: whether a browser of the user can reach its loopback address, and what was set for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["SETTINGS", "Surroundings"]

_CONTAINER_FILES: Final = ("/.dockerenv", "/run/.containerenv")
_CONTAINER_VARIABLES: Final = ("KUBERNETES_SERVICE_HOST", "container")  # the second of Podman, LXC and systemd
_OURS: Final = "MIDCALL_"

SETTINGS: Final = frozenset(
    f"{_OURS}{name}"
    for name in (
        *("KEYS", "STORE", "STATE_TTL", "MAX_ROUNDS", "HEARTBEAT", "REQUIRED", "DOUBT", "LIVE", "MAX_LIVE"),
        *("PORTAL_URL", "PORTAL_HOST", "PORTAL_PORT", "PORTAL_TTL"),
        "PLAIN",
    )
)
"""The environment variables that midcall reads."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What can be told from inside."""

    ssh: bool = False
    container: bool = False
    display: bool = True
    misnamed: tuple[str, ...] = ()
    """Variables that look like settings of ours, and are none."""

    @property
    def near(self) -> bool:
        """Whether the user's browser, as far as can be told, is on this very machine."""
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
            misnamed=tuple(sorted(name for name in environ if name.upper().startswith(_OURS) and name not in SETTINGS)),
        )
