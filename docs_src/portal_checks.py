import httpx2

from midcall.portal import Portal, Provider


async def github_takes_it(token: str) -> str | None:
    """Return what's wrong with this token, or None."""
    async with httpx2.AsyncClient(base_url="https://api.github.com") as http:
        answer = await http.get("/user", headers={"authorization": f"Bearer {token}"})
    return None if answer.status_code == 200 else "was not accepted by GitHub"


portal = Portal(
    title="ACME Tools",
    checks={"github": github_takes_it},
    providers=[
        Provider.discover("calendar", issuer="https://id.calendar.example", client_id="acme", title="Example Calendar")
    ],
    ttl=20 * 60,
)
