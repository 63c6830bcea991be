import os

from midcall.portal import Oidc, Portal

portal = Portal(
    "https://mcp.example.com/midcall",
    identity=Oidc(
        "https://id.example.com",
        "portal",  # registered there with the redirect URI https://mcp.example.com/midcall/signed-in
        os.environ["PORTAL_CLIENT_SECRET"],
    ),
)
