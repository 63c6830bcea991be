"""Runs an example with a hold of a fraction of a second, as set by HOLD: tests can't wait 45 seconds.

HOLD=0.3 python tests/portal/short_holds.py portal_server.py --port 8000
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from midcall.server.once import effects
from midcall.server.resuming import visits

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

if __name__ == "__main__":
    assert "HOLD_SECONDS" in vars(visits)
    vars(visits)["HOLD_SECONDS"] = float(os.environ["HOLD"])
    assert "OTHER_EFFECT_SECONDS" in vars(effects)
    vars(effects)["OTHER_EFFECT_SECONDS"] = 1.0
    example = EXAMPLES / sys.argv[1]
    sys.argv[:] = [str(example), *sys.argv[2:]]
    sys.path.insert(0, str(EXAMPLES))
    runpy.run_path(str(example), run_name="__main__")
