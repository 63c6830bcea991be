"""What `import midcall`, with all its names loaded, costs on top of `import mcp.server`."""

import subprocess
import sys
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
    """The best of this many fresh interpreters."""
    return min(_fresh() for _ in range(times))


def _fresh() -> float:
    command = [sys.executable, "-c", _PROGRAM]
    return float(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)
