from starlette.requests import Request

from midcall.portal import Portal

SESSIONS: dict[str, str] = {}  # stands for the sessions of your own app


async def signed_in(request: Request) -> str | None:
    """The issuer and the subject of whoever is signed in to the app, with a space between them."""
    return SESSIONS.get(request.cookies.get("app-session", ""))


portal = Portal("https://mcp.example.com/midcall", identity=signed_in)
