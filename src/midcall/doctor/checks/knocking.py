"""A knock at an address: what answers there, or why nothing does."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from midcall.core.urls import is_loopback
from midcall.doctor.checks.report import SECONDS
from midcall.web.certificates import Fault, fault_of

if TYPE_CHECKING:
    import httpx2

__all__ = ["Answer", "Trouble", "knock"]

_PATIENCE: Final = SECONDS + 1.2
"""A portal whose store hangs says so after three seconds, and that is worth waiting for."""

Trouble: TypeAlias = Fault | Literal["nobody", "no answer", "unknown host"]
"""Why there is no answer: nobody listens; nothing came in time; the name leads nowhere; or what is wrong with TLS."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]


async def knock(url: str) -> Answer | Trouble:
    """What is answered there, within a few seconds: httpx counts them for each step, and lets go of what hangs."""
    import httpx2

    steps = httpx2.Timeout(SECONDS, read=_PATIENCE)
    try:
        async with asyncio.timeout(_PATIENCE), httpx2.AsyncClient(transport=_way_to(url), timeout=steps) as http:
            answer = await http.get(url)
    except (TimeoutError, httpx2.TimeoutException):
        return "no answer"
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        return fault_of(error) or ("unknown host" if _is_unknown(error) else "nobody")
    return Answer(answer.status_code, answer.headers)


def _way_to(url: str) -> httpx2.AsyncHTTPTransport | None:
    """None is the usual way. A proxy of the environment does not lead to our own loopback."""
    import httpx2

    return httpx2.AsyncHTTPTransport() if is_loopback(urlsplit(url).hostname or "") else None


def _is_unknown(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None
