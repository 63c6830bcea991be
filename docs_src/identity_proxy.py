from midcall.portal import Portal, ProxyJwt

portal = Portal(
    "https://mcp.example.com/midcall",
    identity=ProxyJwt(
        "x-proxy-assertion",
        issuer="https://proxy.example.com",
        audience="https://mcp.example.com",
        jwks_url="https://proxy.example.com/keys",
        key=lambda claims: claims["email"],
    ),
)
