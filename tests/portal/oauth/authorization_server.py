"""A strict authorization server that can also misbehave.

It rotates refresh tokens, and takes the second use of one for theft: then the whole access ends.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlencode

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

CLIENT = ("client-1", "client secret/1")


@dataclass
class Grant:
    access: str
    refresh: str
    ended: bool = False


@dataclass
class AuthorizationServer:
    url: str = ""
    lasts: float | str | None = 3600
    sends_issuer: bool = True
    says_issuer: str | None = None
    answers: str = "code"
    """`code`, or the error that the user is sent back with."""
    token_answer: Callable[[], Awaitable[Response]] | None = None
    """Instead of what the token endpoint would say."""
    metadata: dict[str, object] = field(default_factory=dict)
    metadata_requests: int = 0
    at_token: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    """Closed, the token endpoint takes requests and does not answer."""
    authorizations: list[dict[str, str]] = field(default_factory=list)
    token_requests: list[dict[str, str]] = field(default_factory=list)
    revoked: list[str] = field(default_factory=list)
    grants: list[Grant] = field(default_factory=list)
    spent: set[str] = field(default_factory=set)
    handed_out: list[str] = field(default_factory=list)
    """Every token and code there ever was."""
    _codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.gate.set()

    @property
    def refreshes(self) -> int:
        return sum(asked["grant_type"] == "refresh_token" for asked in self.token_requests)

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/revoke", self._revoke, methods=["POST"]),
                Route("/.well-known/oauth-authorization-server", self._metadata),
            ]
        )

    async def _metadata(self, request: Request) -> Response:
        self.metadata_requests += 1
        said: dict[str, object] = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "revocation_endpoint": f"{self.url}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": self.sends_issuer,
        }
        return JSONResponse(said | self.metadata)

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.authorizations.append(asked)
        assert (asked["response_type"], asked["client_id"]) == ("code", CLIENT[0])
        assert asked["code_challenge_method"] == "S256"
        answer = {"state": asked["state"]}
        if self.answers == "code":
            answer["code"] = self._mint("code")
            self._codes[answer["code"]] = asked
        else:
            answer["error"] = self.answers
        if self.sends_issuer or self.says_issuer:
            answer["iss"] = self.says_issuer or self.url
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(answer)}", 303)

    async def _token(self, request: Request) -> Response:
        asked = dict(parse_qsl((await request.body()).decode()))
        self.token_requests.append(asked)
        self.at_token.set()
        await self.gate.wait()
        if self.token_answer is not None:
            return await self.token_answer()
        if not _is_client(request, asked):
            return JSONResponse({"error": "invalid_client"}, 401)
        if asked["grant_type"] == "authorization_code":
            return self._exchange(asked)
        return self._rotate(asked["refresh_token"])

    def _exchange(self, asked: dict[str, str]) -> Response:
        begun = self._codes.pop(asked["code"], None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(asked["code_verifier"].encode()).digest()).decode()
        if begun is None or begun["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        if begun["code_challenge"] != challenge.rstrip("="):
            return JSONResponse({"error": "invalid_grant"}, 400)
        self.grants.append(Grant("", ""))
        return self._granted(self.grants[-1])

    def _rotate(self, refresh: str) -> Response:
        grant = next((each for each in self.grants if each.refresh == refresh), None)
        if refresh in self.spent:  # theft, as far as can be seen
            for each in self.grants:
                each.ended = True
        if grant is None or grant.ended:
            return JSONResponse({"error": "invalid_grant", "error_description": f"what is {refresh}"}, 400)
        self.spent.add(refresh)
        return self._granted(grant)

    def _granted(self, grant: Grant) -> Response:
        grant.access, grant.refresh = self._mint("access"), self._mint("refresh")
        answer = {"access_token": grant.access, "refresh_token": grant.refresh, "token_type": "Bearer"}
        return JSONResponse(answer if self.lasts is None else {**answer, "expires_in": self.lasts})

    async def _revoke(self, request: Request) -> Response:
        asked = dict(parse_qsl((await request.body()).decode()))
        assert _is_client(request, asked)
        self.revoked.append(asked["token"])
        return Response(status_code=200)

    def _mint(self, what: str) -> str:
        self.handed_out.append(f"{what}-{secrets.token_urlsafe(18)}")
        return self.handed_out[-1]


def _is_client(request: Request, asked: dict[str, str]) -> bool:
    kind, _, credentials = request.headers.get("Authorization", "").partition(" ")
    if kind != "Basic":
        return (asked.get("client_id"), asked.get("client_secret")) == CLIENT
    name, _, secret = base64.b64decode(credentials).decode().partition(":")
    return CLIENT in ((name, secret), (unquote(name), unquote(secret)))


@asynccontextmanager
async def authorization_server() -> AsyncGenerator[AuthorizationServer]:
    """One that listens on loopback."""
    listening = socket.create_server(("127.0.0.1", 0))
    provider = AuthorizationServer(f"http://127.0.0.1:{listening.getsockname()[1]}")
    server = uvicorn.Server(
        uvicorn.Config(provider.app(), log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    )
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield provider
    finally:
        provider.gate.set()
        server.should_exit = True
        await serving
        listening.close()
