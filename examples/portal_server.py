"""An HTTP server whose tools send people to pages: for a secret, an authorization, an approval, a checkout.

    python examples/portal_server.py --port 8000

    # for several users, who sign in with an issuer, and several replicas, which share a store
    MIDCALL_KEYS=... python examples/portal_server.py --port 8000 --store postgresql://... \\
        --issuer https://id.example.com --client-id portal --base-url https://mcp.example.com

It serves MCP at /mcp and the portal at /midcall. With an issuer, every MCP request brings an access token of
that issuer, and a page opens only for the user who made the call. Without one it is for the user of this
machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from socket import socket
from urllib.parse import urlsplit

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from portal_parts.access import IssuedBy
from portal_parts.options import add_options, keys_of, provider_of, store_of
from portal_parts.shop import Shop
from portal_parts.tools import add_tools
from portal_parts.tracker import Tracker
from sse_starlette.sse import AppStatus
from starlette.applications import Starlette

import midcall
from midcall.portal import Oidc, Portal

STREAMS_END_AFTER = 1.0


def build(args: argparse.Namespace) -> tuple[Starlette, midcall.Installation]:
    """The whole app: MCP, the portal, the shop, and a toy to connect to."""
    base, store = args.base_url.rstrip("/"), store_of(args)
    keys = keys_of(args, store)
    shop, tracker = Shop(f"{base}/shop", keys), Tracker(f"{base}/tracker", f"{base}/midcall/callback/tracker", keys[0])
    provider, issues_url = provider_of(args, tracker)
    portal = Portal(f"{base}/midcall", identity=identity_of(args), providers=[provider])
    mcp = server_of(args, f"{base}/mcp")
    installation = midcall.install(mcp, keys=keys, store=store, portal=portal)
    add_tools(mcp, checkout=shop.checkout, issues_url=issues_url, ledger=args.ledger)
    mcp_app = mcp.streamable_http_app(stateless_http=args.stateless, transport_security=only_for(base))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with mcp_app.router.lifespan_context(app):
            yield
        await installation.close()

    app = Starlette(lifespan=lifespan)
    app.mount("/midcall", portal)
    app.mount("/shop", shop.app)
    app.mount("/tracker", tracker.app)
    app.mount("/", mcp_app)
    return app, installation


def server_of(args: argparse.Namespace, resource: str) -> MCPServer:
    """With an issuer, require its access tokens."""
    if not args.issuer:
        return MCPServer("portal-example", title="Portal example", log_level="WARNING")
    auth = AuthSettings(issuer_url=args.issuer, resource_server_url=resource, validate_token_resource=False)
    tokens = IssuedBy(args.issuer, resource)  # checks the audience
    return MCPServer("portal-example", title="Portal example", log_level="WARNING", auth=auth, token_verifier=tokens)


def identity_of(args: argparse.Namespace) -> Oidc | None:
    """With an issuer, the portal signs users in there; on loopback it knows this machine's user."""
    return Oidc(args.issuer, args.client_id, args.client_secret or None) if args.issuer else None


def only_for(base: str) -> TransportSecuritySettings:
    """Serve MCP only under its own host name, against DNS rebinding."""
    where = urlsplit(base)
    hosts = [where.netloc] if where.hostname not in ("127.0.0.1", "localhost") else ["127.0.0.1:*", "localhost:*"]
    return TransportSecuritySettings(
        allowed_hosts=hosts, allowed_origins=[f"{where.scheme}://{host}" for host in hosts]
    )


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--base-url", metavar="URL", help="what users know it by (default: http://127.0.0.1:PORT)")
    parser.add_argument("--issuer", metavar="URL", help="who signs users in (default: it is for this machine's user)")
    secret = os.environ.get("PORTAL_CLIENT_SECRET", "portal-secret")
    parser.add_argument("--client-id", default="portal", help="the portal's own registration at the issuer")
    parser.add_argument("--client-secret", default=secret, help="its secret; empty for a public client")
    parser.add_argument("--stateless", action="store_true", help="no sessions, for many replicas; no pushed questions")
    add_options(parser)
    args = parser.parse_args()
    args.base_url = args.base_url or f"http://127.0.0.1:{args.port}"
    return args


class Server(uvicorn.Server):
    """Ends calls that wait for a person before it waits for open requests.

    The SDK closes its streams right after the signal. This gives them a moment longer, so that a pushed call can still
    return its resume code.
    """

    def __init__(self, config: uvicorn.Config, installation: midcall.Installation) -> None:
        super().__init__(config)
        self._installation = installation
        AppStatus.enable_automatic_graceful_drain = False

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        self._installation.stop()
        asyncio.get_running_loop().call_later(STREAMS_END_AFTER, setattr, AppStatus, "should_exit", True)
        await super().shutdown(sockets)


def main() -> None:
    args = options()
    try:
        app, installation = build(args)
    except midcall.MidcallError as exc:
        raise SystemExit(f"portal_server: {exc}") from None
    print(f"MCP at {args.base_url}/mcp, what is kept about you at {args.base_url}/midcall/mine", flush=True)
    config = uvicorn.Config(app, port=args.port, log_level="warning", timeout_graceful_shutdown=10)
    Server(config, installation).run()


if __name__ == "__main__":
    main()
