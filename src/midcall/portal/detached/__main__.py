"""`python -m midcall.portal.detached FOLDER SOCKET CONTROL LOCK`: only servers start it, with open descriptors."""

from __future__ import annotations

import os
import sys
from pathlib import Path

if os.fork():  # no child of the server, which may be ended with all its children
    os._exit(0)

from midcall.portal.detached.process import main

main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
