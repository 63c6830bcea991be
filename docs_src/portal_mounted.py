from contextlib import asynccontextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

import midcall
from midcall import approve
from midcall.portal import Oidc, Portal

ISSUER = "https://id.example.com"


async def claims_of(token: str) -> dict[str, Any] | None:
    """Verify the token's signature, issuer, audience and expiry here. Return None if it's invalid."""
    return None


class Tokens:
    """Identifies the caller. Pages need both the subject and the issuer to recognize the user."""

    async def verify_token(self, token: str) -> AccessToken | None:
        claims = await claims_of(token)
        if claims is None:
            return None
        return AccessToken(
            token=token, client_id=claims["client_id"], scopes=[], subject=claims["sub"], claims={"iss": claims["iss"]}
        )


auth = AuthSettings(
    issuer_url=AnyHttpUrl(ISSUER),
    resource_server_url=AnyHttpUrl("https://mcp.example.com/mcp"),
    validate_token_resource=False,
)
mcp = MCPServer("payments", auth=auth, token_verifier=Tokens())
portal = Portal("https://mcp.example.com/midcall", identity=Oidc(ISSUER, "payments-portal"))
installation = midcall.install(mcp, portal=portal)  # keys and store come from MIDCALL_KEYS and MIDCALL_STORE


@mcp.tool()
async def pay(to: str, euros: int) -> str:
    """Pay somebody."""
    if not await approve(f"Pay {euros} EUR to {to}.", {"To": to, "Amount": f"{euros} EUR"}):
        return "Nothing was paid."
    return f"Paid {euros} EUR to {to}."


mcp_app = mcp.streamable_http_app(  # by default the SDK accepts only localhost
    transport_security=TransportSecuritySettings(
        allowed_hosts=["mcp.example.com"], allowed_origins=["https://mcp.example.com"]
    )
)


@asynccontextmanager
async def lifespan(app: Starlette):
    async with mcp_app.router.lifespan_context(app):
        yield
    await installation.close()


app = Starlette(lifespan=lifespan)
app.mount("/midcall", portal)
app.mount("/", mcp_app)
