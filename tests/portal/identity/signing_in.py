"""MCP clients that get their access token from the issuer, when a user signs in, as the protocol says."""

from __future__ import annotations

from urllib.parse import parse_qs

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.portal.people import Surfer

BACK = "http://127.0.0.1:9/back"


class Kept(TokenStorage):
    """In memory."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def signs_in(mcp_url: str, sub: str, kept: Kept | None = None) -> OAuthClientProvider:
    """The `auth` of a client whose user signs in under this name, when the server first asks for a token."""
    came_back: list[AuthorizationCodeResult] = []

    async def go(url: str) -> None:
        async with httpx2.AsyncClient(follow_redirects=True) as http:
            try:
                await Surfer(http, sub).open(url)
            except httpx2.ConnectError as exc:  # nobody listens where the issuer sends the browser back to
                said = parse_qs(httpx2.URL(exc.request.url).query.decode())
        one = {name: values[0] for name, values in said.items()}
        came_back.append(AuthorizationCodeResult(code=one["code"], state=one.get("state"), iss=one.get("iss")))

    async def wait() -> AuthorizationCodeResult:
        return came_back.pop()

    about = OAuthClientMetadata(client_name="Test client", redirect_uris=[AnyUrl(BACK)], scope="openid")
    return OAuthClientProvider(mcp_url, about, kept or Kept(), go, wait)
