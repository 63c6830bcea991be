"""What `import midcall` with all its names costs on top of `import mcp.server`."""

import os
import subprocess
import sys
import tempfile
from typing import Final

from bench.clients import ROOT

_PROGRAM: Final = """
import mcp.server
from bench.measure import cpu_clock
clock = cpu_clock()
begun = clock()
import midcall
for name in midcall.__all__:
    getattr(midcall, name)
print(clock() - begun)
"""


def seconds_more(times: int) -> float:
    """The best of this many fresh interpreters. All but the first find compiled modules, as users do."""
    with tempfile.TemporaryDirectory() as cache:
        return min(_fresh(cache) for _ in range(times + 1))


def _fresh(cache: str) -> float:
    command = [sys.executable, "-c", _PROGRAM]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return float(
        subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    )
