"""Every sentence that a user or a model may read, in one place.

Plain functions, so that a sentence and what goes into it are checked together. Nothing here
imports anything else of midcall.
"""

from __future__ import annotations

# --- forms and answers -----------------------------------------------------------------------
