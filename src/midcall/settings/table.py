"""The table of all settings and limits."""

from __future__ import annotations

from typing import Final

from midcall.settings.calls import calls
from midcall.settings.cli import cli
from midcall.settings.client import client
from midcall.settings.install import install
from midcall.settings.live_runs import once, runs
from midcall.settings.portal import portal
from midcall.settings.resuming import resuming
from midcall.settings.setting import Setting
from midcall.settings.stores import stores
from midcall.settings.web import web

_SUBJECTS: Final = (install, portal, calls, runs, once, resuming, stores, web, client, cli)

SETTINGS: Final[tuple[Setting, ...]] = tuple(row for subject in _SUBJECTS for row in subject.rows)
"""In the order in which they are shown."""
