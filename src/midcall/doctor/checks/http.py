"""Request a URL: what answers there, or why nothing does."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import urlsplit

from midcall.core.urls import is_loopback
from midcall.settings.cli import CHECK_PORTAL_SECONDS, CHECK_SECONDS
from midcall.web.certificates import Fault, fault_of

if TYPE_CHECKING:
    import httpx2

Trouble: TypeAlias = Fault | Literal["nobody", "no answer", "unknown host"]
"""Why nothing answered: no listener, a timeout, a name that doesn't resolve, or a TLS error."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]


async def request(url: str) -> Answer | Trouble:
    """Get this URL, within a few seconds. httpx counts its timeout per step, so there's one around it."""
    import httpx2

    steps = httpx2.Timeout(CHECK_SECONDS, read=CHECK_PORTAL_SECONDS)
    try:
        async with (
            asyncio.timeout(CHECK_PORTAL_SECONDS),
            httpx2.AsyncClient(transport=_transport_to(url), timeout=steps) as http,
        ):
            answer = await http.get(url)
    except (TimeoutError, httpx2.TimeoutException):
        return "no answer"
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return fault_of(error) or ("unknown host" if _is_unknown(error) else "nobody")
    return Answer(answer.status_code, answer.headers)


def _transport_to(url: str) -> httpx2.AsyncHTTPTransport | None:
    """None is the default. A proxy from the environment can't reach our own loopback."""
    import httpx2

    return httpx2.AsyncHTTPTransport() if is_loopback(urlsplit(url).hostname or "") else None


def _is_unknown(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None
