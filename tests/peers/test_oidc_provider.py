"""npm's oidc-provider, a certified OpenID provider, as the issuer and as the third party."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2
import pytest

from midcall.client import connect
from midcall.testing import Era
from scripts.peers import PEERS, node
from tests.portal.identity.signing_in import Kept, signs_in
from tests.portal.people import APPROVES, ENTERS, Person, Surfer
from tests.portal.running import Process, running, shown, start
from tests.serving import free_port
from tests.skips import needs_peer

pytestmark = needs_peer("oidc-provider")

ERAS: tuple[Era, ...] = ("2025-11-25", "2026-07-28")


@dataclass
class Both:
    issuer: str
    server: Process

    @property
    def mcp(self) -> str:
        return self.server.mcp


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """The issuer, and the portal example that uses it."""
    home, port = tmp_path_factory.mktemp("oidc-provider"), free_port()
    url, here = f"http://localhost:{port}", free_port()
    portal, mcp = f"http://127.0.0.1:{here}/midcall", f"http://127.0.0.1:{here}/mcp"
    with (home / "issuer").open("w") as log:
        command = [str(node()), str(PEERS / "issuer.mjs"), str(port), portal, mcp]
        issuer = Process(subprocess.Popen(command, stdout=log, stderr=log), url, home / "issuer")
    third = ["--provider-issuer", url, "--provider-client-id", "tracker", "--provider-client-secret", "tracker-secret"]
    more = ["--provider-scopes", "openid email", "--provider-api", f"{url}/me"]
    server = start(home / "log", f"sqlite://{home}/store.db", "--issuer", url, *third, *more, port=here)
    with running([issuer, server]):
        yield Both(url, server)
    assert "Traceback" not in server.log.read_text()


@pytest.mark.parametrize("era", ERAS)
async def test_a_user_signs_in_at_the_client_and_at_the_page(both: Both, era: Era) -> None:
    person, kept = Person(ENTERS, sub=f"ada-{era}"), Kept()
    async with connect(both.mcp, person, era=era, auth=signs_in(both.mcp, f"ada-{era}", kept)) as client:
        assert shown(await client.call_tool("read_repo", {})) == "Read midcall with a token of 14 characters."
        await person.done()
    assert kept.tokens is not None
    assert kept.tokens.access_token.count(".") == 2, "this issuer makes JWTs for MCP servers"


@pytest.mark.parametrize("era", ERAS)
async def test_an_account_there_is_connected_and_its_token_is_live(both: Both, era: Era) -> None:
    async def connects(surfer: Surfer) -> None:
        await APPROVES(surfer)
        assert surfer.is_at_sign_in, surfer.page.text
        await surfer.sign_in()
        assert surfer.page.status_code == 200, surfer.page.text

    person = Person(connects, sub=f"grace-{era}")
    async with connect(both.mcp, person, era=era, auth=signs_in(both.mcp, f"grace-{era}")) as client:
        for _ in range(2):
            assert f'"email":"grace-{era}@example.com"' in shown(await client.call_tool("list_issues", {}))
        await person.done()
    assert len(person.asked) == 1


async def test_denied_access_is_a_decline(both: Both) -> None:
    async def refuses(surfer: Surfer) -> None:
        await APPROVES(surfer)
        answer = await surfer.http.get(f"{surfer.page.url}/abort")
        assert answer.status_code == 200, answer.text

    person = Person(refuses, sub="alan")
    async with connect(both.mcp, person, era="2026-07-28", auth=signs_in(both.mcp, "alan")) as client:
        assert "declined" in shown(await client.call_tool("list_issues", {}))
        await person.done()


async def test_another_user_of_the_issuer_gets_nothing(both: Both) -> None:
    async def bob_first(surfer: Surfer) -> None:
        async with httpx2.AsyncClient(follow_redirects=True) as http:
            assert (await Surfer(http, "bob").open(str(surfer.page.url))).status_code == 403
        await APPROVES(surfer)

    person = Person(bob_first)
    async with connect(both.mcp, person, era="2026-07-28", auth=signs_in(both.mcp, "ada")) as client:
        assert shown(await client.call_tool("pay", {})) == "Paid 40 EUR to ACME."
        await person.done()
