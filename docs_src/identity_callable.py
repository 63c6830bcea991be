from starlette.requests import Request

from midcall.portal import Portal

SESSIONS: dict[str, str] = {}  # your app's sessions


async def signed_in(request: Request) -> str | None:
    """Return the signed-in user's issuer and subject, separated by a space."""
    return SESSIONS.get(request.cookies.get("app-session", ""))


portal = Portal("https://mcp.example.com/midcall", identity=signed_in)
