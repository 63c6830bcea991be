"""The certificates that we trust, read once: it takes as long as a request does."""

from __future__ import annotations

import ssl
from functools import cache

import httpx2

__all__ = ["trusted"]


@cache
def trusted() -> ssl.SSLContext:
    return httpx2.create_ssl_context()
