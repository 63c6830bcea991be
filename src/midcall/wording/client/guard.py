"""The guard before an answerer."""

from __future__ import annotations

from midcall.wording.client import questions

unnamed_server = questions.unnamed_server
unnamed_site = questions.unnamed_site
