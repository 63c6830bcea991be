from midcall.portal import Oidc, Portal

TENANT = "11111111-2222-3333-4444-555555555555"

portal = Portal(
    "https://mcp.example.com/midcall",
    identity=Oidc(
        f"https://login.microsoftonline.com/{TENANT}/v2.0",
        "portal",
        key=lambda claims: f"{claims['tid']} {claims['oid']}",
    ),
)
