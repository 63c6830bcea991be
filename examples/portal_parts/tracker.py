"""A toy service where users have accounts, so that you can try `list_issues` without a real one.

It stores nothing; everything that it issues is signed. A real service would also accept a code only once
and sign users in. Use a real one with `--provider-issuer`.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any
from urllib.parse import parse_qsl, urlencode

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from midcall.portal import Provider

from .page import page

CLIENT = "portal-example"
HOUR = 3600


class Tracker:
    """Lives at this address, and sends browsers back to this one and no other."""

    def __init__(self, url: str, callback: str | None, key: str | bytes) -> None:
        self._url = url
        self._callback = callback
        self._signed = URLSafeTimedSerializer(key)
        self.app = Starlette(
            routes=[
                Route("/authorize", self._authorize, methods=["GET", "POST"]),
                Route("/token", self._token, methods=["POST"]),
                Route("/issues", self._issues),
            ]
        )

    @property
    def issues_url(self) -> str:
        return f"{self._url}/issues"

    def provider(self) -> Provider:
        """Describe this service for the portal."""
        return Provider(
            "tracker",
            authorize_url=f"{self._url}/authorize",
            token_url=f"{self._url}/token",
            client_id=CLIENT,
            scopes=["issues.read"],
            title="Example Tracker",
        )

    async def _authorize(self, request: Request) -> Response:
        asked = request.query_params
        known = asked.get("client_id") == CLIENT and asked.get("code_challenge_method") == "S256"
        if not known or not self._is_callback(asked.get("redirect_uri", "")):
            return page("Not possible", "The tracker does not know who sends you.", status=400)
        if request.method == "GET":
            text = "portal-example would like to read your issues."
            return page("Example Tracker", text, {"allow": "Allow", "deny": "Deny"})
        back = {"state": asked["state"]} | self._decided(asked, (await request.form()).get("do") == "allow")
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}", 303)

    def _is_callback(self, uri: str) -> bool:
        """Whether this is exactly our callback. A loopback portal may use any port, as RFC 8252 allows."""
        if self._callback is not None:
            return uri == self._callback
        return uri.startswith("http://127.0.0.1:") and uri.endswith("/callback/tracker")

    def _decided(self, asked: Any, allowed: bool) -> dict[str, str]:
        if not allowed:
            return {"error": "access_denied"}
        return {"code": self._sign("code", [asked["code_challenge"], asked["redirect_uri"]])}

    async def _token(self, request: Request) -> Response:
        asked = dict(parse_qsl((await request.body()).decode()))
        try:
            if asked["grant_type"] == "authorization_code":
                challenge, redirect_uri = self._unsign("code", asked["code"], 60)
                if [challenge, redirect_uri] != [_challenge(asked["code_verifier"]), asked["redirect_uri"]]:
                    raise BadData("issued for another client")
            else:
                self._unsign("refresh", asked["refresh_token"], 24 * HOUR)
        except (BadData, KeyError):
            return JSONResponse({"error": "invalid_grant"}, 400)
        tokens = {"access_token": self._sign("access", "demo"), "refresh_token": self._sign("refresh", "demo")}
        return JSONResponse({**tokens, "token_type": "Bearer", "expires_in": HOUR})

    async def _issues(self, request: Request) -> Response:
        try:
            self._unsign("access", request.headers.get("authorization", "").removeprefix("Bearer "), HOUR)
        except BadData:
            return PlainTextResponse("Who are you?", 401)
        return PlainTextResponse("#7 Ask before deleting, #12 Say which account is meant")

    def _sign(self, what: str, value: Any) -> str:
        return str(self._signed.dumps(value, salt=what))

    def _unsign(self, what: str, text: str, seconds: float) -> Any:
        return self._signed.loads(text, max_age=int(seconds), salt=what)


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
