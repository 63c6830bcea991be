"""Issuers that users sign in with: a real one in its own process, and one that can misbehave."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from midcall.web.local_server import LocalServer, bind

SERVE = """
import warnings
warnings.simplefilter("ignore")
import logging, sys
import oidc_provider_mock
logging.getLogger("werkzeug").disabled = True
with oidc_provider_mock.run_server_in_thread() as server:
    print(server.server_port, flush=True)
    sys.stdin.read()
"""


@asynccontextmanager
async def provider_mock() -> AsyncIterator[str]:
    """The issuer of the package oidc-provider-mock."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SERVE,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        async with asyncio.timeout(20):
            port = int(await process.stdout.readline())
        yield f"http://localhost:{port}"
    finally:
        process.stdin.close()
        try:
            async with asyncio.timeout(5):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


KEY = RSAKey.generate_key(2048, {"kid": "k1"})
"""One for all: making them takes long."""


@dataclass
class Issuer:
    """Signs everybody in as `sub` at once. What it says of itself and in its tokens can be changed."""

    url: str = ""
    sub: str = "ada"
    claims: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    header: dict[str, Any] = field(default_factory=dict)
    sent_back: dict[str, str] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: KEY)
    signs_with: Any = None
    asked: list[dict[str, str]] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    fetches: int = 0
    is_out: bool = False
    """Whether the user has signed out here, too."""

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/.well-known/openid-configuration", self._metadata),
                Route("/authorize", self._authorize),
                Route("/token", self._token, methods=["POST"]),
                Route("/keys", self._keys),
                Route("/logout", self._logout),
            ]
        )

    async def _metadata(self, request: Request) -> Response:
        said = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
        }
        return JSONResponse(said | self.metadata)

    async def _authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        self.asked.append(asked)
        if self.is_out:
            return Response("Please sign in")
        code = f"code-{len(self.asked)}"
        self.codes[code] = asked
        back = {"code": code, "state": asked["state"]} | self.sent_back
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}", 303)

    async def _logout(self, request: Request) -> Response:
        jwt.decode(request.query_params["id_token_hint"], KeySet([self.key]))
        self.is_out = True
        return RedirectResponse(request.query_params["post_logout_redirect_uri"], 303)

    async def _token(self, request: Request) -> Response:
        said = dict(parse_qsl((await request.body()).decode()))
        asked = self.codes.pop(said.get("code", ""), None)
        if asked is None or said["redirect_uri"] != asked["redirect_uri"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        proof = base64.urlsafe_b64encode(hashlib.sha256(said["code_verifier"].encode()).digest()).decode().rstrip("=")
        if proof != asked["code_challenge"]:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse(
            {"access_token": "at", "token_type": "Bearer", "id_token": self.token(asked["client_id"], asked["nonce"])}
        )

    async def _keys(self, request: Request) -> Response:
        self.fetches += 1
        return JSONResponse(KeySet([self.key]).as_dict(private=False))

    def token(self, audience: str, nonce: str | None = None, **more: Any) -> str:
        now = int(time.time())
        claims = {"iss": self.url, "sub": self.sub, "aud": audience, "iat": now, "exp": now + 60, "nonce": nonce}
        claims = {name: value for name, value in (claims | self.claims | more).items() if value is not None}
        header = {"alg": "RS256", "kid": "k1"} | self.header
        if header["alg"] == "none":
            return f"{_part(header)}.{_part(claims)}."
        return jwt.encode(header, claims, self.signs_with or self.key, algorithms=[header["alg"]])


def _part(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@asynccontextmanager
async def issuing(kind: type[Issuer] = Issuer, **how: Any) -> AsyncIterator[Any]:
    where = bind("127.0.0.1", 0)
    issuer = kind(f"http://127.0.0.1:{where.getsockname()[1]}", **how)
    listening = LocalServer(issuer.app(), where)
    try:
        yield issuer
    finally:
        await listening.close()
