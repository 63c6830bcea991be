"""Fetch what an issuer or a provider publishes: only from where it may point us, only so much, only for so long. Each
field that we read has the type that it must have.

Its metadata names URLs that this server then requests. If it could name any, its owner could reach what only
this server can: itself, its private network, the cloud's metadata service. So the address of every connection is
checked after the name was resolved, and the connection goes to exactly that address.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Generic, TypeVar, cast
from urllib.request import getproxies, proxy_bypass

import httpx2

from midcall.core.urls import Network, is_loopback, is_safe, network_of
from midcall.settings.portal import (
    PROVIDER_AGAIN_SECONDS,
    PROVIDER_BYTES,
    PROVIDER_FRESH_SECONDS,
    PROVIDER_TIMEOUT_SECONDS,
)
from midcall.web.certificates import describe_fault, fault_of

T = TypeVar("T")


class Unavailable(Exception):
    """Something that has to be fetched is not available now. `status` is that of the response, if there was one."""

    def __init__(self, text: str, *, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class _Refused(httpx2.TransportError):
    """We don't connect there, or don't read that."""


@cache
def trust() -> ssl.SSLContext:
    """The certificates that we trust, loaded once: loading takes as long as a request."""
    return httpx2.create_ssl_context()


# --- where ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reach:
    """Where the metadata of this issuer may point: to public addresses, to where the issuer is, and to these hosts."""

    issuer: str
    internal: Sequence[str] = ()
    seen: set[Network] = field(default_factory=set[Network], compare=False)
    """Where the issuer was when it answered. What its own DNS says later must not open other networks."""

    def check(self, url: object, name: str) -> str:
        """This URL of the metadata, if it can be used at all. Names are resolved only when we connect.

        Raises:
            Unavailable: It isn't https, or it names an address on a network that the issuer isn't on.
        """
        if not isinstance(url, str) or not is_safe(url):
            raise Unavailable(f"its metadata has no usable {name}: it must be an https URL")
        try:
            host = _host(httpx2.URL(url))
        except (httpx2.InvalidURL, ValueError):  # too long, half a character, or a host that isn't a name
            raise Unavailable(f"its metadata has no usable {name}: it must be an https URL") from None
        kind, at_home = _literal_kind(host), _literal_kind(_host(httpx2.URL(self.issuer)))
        if kind is not None and kind not in ("public", at_home) and host not in self.internal:
            raise Unavailable(_explain(f"its {name}", host, kind))
        return url

    async def find(self, url: httpx2.URL) -> list[str]:
        """The addresses of this URL that we may connect to.

        Raises:
            httpx2.TransportError: There are none.
        """
        host, own = _host(url), _host(httpx2.URL(self.issuer))
        found = await _resolve(host)
        if host == own or host in self.internal:
            return found
        kinds: set[Network] = {"public"}
        if any(network_of(each) != "public" for each in found):
            kinds |= self.seen
            with suppress(httpx2.ConnectError):  # an issuer that can't be found isn't anywhere
                kinds |= set() if self.seen else {network_of(each) for each in await _resolve(own)}
        if allowed := [each for each in found if network_of(each) in kinds]:
            return allowed
        raise _Refused(_explain("it", host, network_of(found[0])))

    def note(self, url: httpx2.URL, address: str) -> None:
        """This URL was answered from this address."""
        if _host(url) == _host(httpx2.URL(self.issuer)):
            self.seen.add(network_of(address))


def _explain(what: str, host: str, kind: Network) -> str:
    where = {"private": "in a private network", "this machine": "on this machine"}.get(kind, "a link-local address")
    return f"{what} is at {host}, which is {where}, and the issuer isn't. If that's right, add it to internal=[...]"


def _host(url: httpx2.URL) -> str:
    return url.raw_host.decode("ascii")


def _literal_kind(host: str) -> Network | None:
    """Where this host is, if that is known without DNS."""
    try:
        return network_of(host)
    except ValueError:
        return "this machine" if is_loopback(host) else None


async def _resolve(host: str) -> list[str]:
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpx2.ConnectError(f"{host} can't be resolved") from error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


# --- how much ------------------------------------------------------------------------------------


class _Limited(httpx2.AsyncByteStream):
    """A body of bounded length."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > PROVIDER_BYTES:
                raise _Refused(f"the response has more than {PROVIDER_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class Fence(httpx2.AsyncBaseTransport):
    """Connects only within reach, and reads only so much. Redirects aren't followed, so this sees every URL.

    A proxy from the environment resolves names itself, and decides what it lets us reach.

    Args:
        reach: Where to connect; anywhere, for URLs that the operator has set.
    """

    def __init__(self, reach: Reach | None = None) -> None:
        self._reach = reach
        self._inner: dict[str | None, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"  # a small body must not become a large one
        response = await self._send(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise _Refused("the response is compressed, which it was asked not to be")
        stream = _Limited(cast("httpx2.AsyncByteStream", response.stream))
        return httpx2.Response(
            response.status_code, headers=response.headers, stream=stream, extensions=response.extensions
        )

    async def aclose(self) -> None:
        for each in self._inner.values():
            await each.aclose()

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        proxy = _proxy_of(request.url)
        if proxy not in self._inner:
            self._inner[proxy] = httpx2.AsyncHTTPTransport(verify=trust(), proxy=proxy)
        inner = self._inner[proxy]
        if self._reach is None or proxy is not None:
            return await inner.handle_async_request(request)
        *others, last = await self._reach.find(request.url)
        for address in others:
            with suppress(httpx2.ConnectError, httpx2.ConnectTimeout):
                return await self._send_to(address, inner, request, self._reach)
        return await self._send_to(last, inner, request, self._reach)

    @staticmethod
    async def _send_to(
        address: str, inner: httpx2.AsyncHTTPTransport, request: httpx2.Request, reach: Reach
    ) -> httpx2.Response:
        response = await inner.handle_async_request(_to(address, request))
        reach.note(request.url, address)
        return response


def _to(address: str, request: httpx2.Request) -> httpx2.Request:
    """The same request, sent to this address. The certificate must still be for the name."""
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": _host(request.url)},
    )


def _proxy_of(url: httpx2.URL) -> str | None:
    proxies = getproxies()
    if not proxies or is_loopback(url.host) or proxy_bypass(url.host):
        return None
    return proxies.get(url.scheme) or proxies.get("all")


async def fetch(url: str, reach: Reach | None = None) -> dict[str, Any]:
    """Fetch a JSON object.

    Raises:
        Unavailable: It can't be fetched, or isn't a JSON object. The text has the address and the problem.
    """
    try:
        # httpx counts its timeout per step, so there's one around it.
        http = httpx2.AsyncClient(transport=Fence(reach), timeout=PROVIDER_TIMEOUT_SECONDS)
        async with asyncio.timeout(PROVIDER_TIMEOUT_SECONDS), http:
            answer = (await http.get(url, headers={"accept": "application/json"})).raise_for_status()
            found: object = answer.json()
    except httpx2.HTTPStatusError as exc:
        status = exc.response.status_code
        raise Unavailable(f"{url}: {status}", status=status) from None
    except _Refused as exc:
        raise Unavailable(f"{url}: {exc}") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as exc:
        fault = fault_of(exc)
        raise Unavailable(f"{url}: {describe_fault(fault) if fault else type(exc).__name__}") from None
    except (ValueError, RecursionError):
        raise Unavailable(f"{url}: not JSON", status=200) from None
    if not isinstance(found, dict):
        raise Unavailable(f"{url}: not a JSON object", status=200)
    return cast("dict[str, Any]", found)


# --- how often -----------------------------------------------------------------------------------


class Cache(Generic[T]):
    """What was loaded, kept for a while. However many ask, one request is under way, and a failure is kept, too.

    Args:
        load: Loads it.
        clock: Seconds.
    """

    def __init__(self, load: Callable[[], Awaitable[T]], clock: Callable[[], float] = time.monotonic) -> None:
        self._load = load
        self._clock = clock
        self._value: tuple[float, T] | None = None
        self._failure: tuple[float, Exception] | None = None
        self._loading: asyncio.Task[T] | None = None

    async def get(self, fresh: float = PROVIDER_FRESH_SECONDS) -> T:
        """What was loaded, at most this many seconds ago. Raises what `load` raised."""
        now = self._clock()
        if self._value is not None and now - self._value[0] <= fresh:
            return self._value[1]
        if self._failure is not None and now - self._failure[0] < PROVIDER_AGAIN_SECONDS:
            raise self._failure[1].with_traceback(None)
        if self._loading is None:
            self._loading = asyncio.create_task(self._load_now())
            self._loading.add_done_callback(_look_at_failure)  # if all callers have left, nobody else does
        return await asyncio.shield(self._loading)  # a caller who leaves doesn't end it for the others

    async def _load_now(self) -> T:
        self._failure = None
        try:
            value = await self._load()
        except Exception as exc:
            self._failure = (self._clock(), exc)
            raise
        else:
            self._value = (self._clock(), value)
            return value
        finally:
            self._loading = None


def _look_at_failure(ended: asyncio.Task[Any]) -> None:
    if not ended.cancelled():
        ended.exception()


# --- what it says --------------------------------------------------------------------------------


class Published:
    """Metadata that somebody else writes. A field that is missing or null counts as not published.

    Args:
        said: The JSON object.
        reach: Where its URLs may point.

    Raises:
        Unavailable: From every method, if the field has another type.
    """

    def __init__(self, said: Mapping[str, object], reach: Reach) -> None:
        self._said = said
        self._reach = reach

    def url(self, name: str) -> str:
        """A URL that must be published."""
        return self._reach.check(self._said.get(name), name)

    def url_if_any(self, name: str) -> str:
        """A URL; empty if none is published."""
        return "" if self._said.get(name) in (None, "") else self.url(name)

    def texts(self, name: str) -> tuple[str, ...] | None:
        """A list of texts; None if it isn't published."""
        given = self._said.get(name)
        if given is None:
            return None
        if isinstance(given, list) and all(isinstance(each, str) for each in cast("list[object]", given)):
            return tuple(cast("list[str]", given))
        raise Unavailable(f"its metadata has no usable {name}: it must be a list of texts", status=200)

    def flag(self, name: str) -> bool:
        """Whether this is true; false if it isn't published."""
        given = self._said.get(name, False)
        if given is None or isinstance(given, bool):
            return bool(given)
        raise Unavailable(f"its metadata has no usable {name}: it must be true or false", status=200)
