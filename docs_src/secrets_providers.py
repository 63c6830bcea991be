from midcall.portal import Portal, Provider

portal = Portal(
    "https://mcp.example.com/midcall",
    providers=[
        Provider.github("client-id", "client-secret", ["repo"]),
        Provider.discover("crm", issuer="https://id.crm.example", client_id="assistant", scopes=["contacts"]),
        Provider(
            "wiki",
            authorize_url="https://wiki.example.com/oauth/authorize",
            token_url="https://wiki.example.com/oauth/token",
            revoke_url="https://wiki.example.com/oauth/revoke",
            client_id="assistant",
            client_secret="client-secret",
            extra={"audience": "wiki-api"},
        ),
    ],
)
