"""`python -m midcall`."""

from __future__ import annotations

import sys

from midcall.cli import main

sys.exit(main())
