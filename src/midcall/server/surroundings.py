"""Where this process runs: whether a browser of the user can reach its loopback address."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["Surroundings"]

_CONTAINER_FILES: Final = ("/.dockerenv", "/run/.containerenv")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What can be told from inside."""

    ssh: bool = False
    container: bool = False
    display: bool = True

    @classmethod
    def here(cls, environ: Mapping[str, str] = os.environ, root: Path = Path("/")) -> Surroundings:
        """Those of this process."""
        return cls(
            ssh=any(name in environ for name in ("SSH_CONNECTION", "SSH_TTY")),
            container="KUBERNETES_SERVICE_HOST" in environ
            or any((root / name[1:]).exists() for name in _CONTAINER_FILES),
            display=sys.platform != "linux"
            or any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME")),
        )
