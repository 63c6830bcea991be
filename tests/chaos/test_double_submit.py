"""Eight processes post the same page at once, with the cookies and the token of one browser: one is accepted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import pytest
import pytest_asyncio

from tests.chaos import poster
from tests.chaos.calling import calling
from tests.chaos.replicas import THREE, Replicas, replicas
from tests.contract.racing import Racer, race
from tests.portal.people import Person, Sheet, Surfer

pytestmark = pytest.mark.asyncio(loop_scope="module")

EIGHT = range(8)
TOO_LATE = {409, 410}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["sqlite", "postgres", "redis"])
async def at(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Replicas]:
    """Three replicas on one store. SQLite works too, because they're on one machine."""
    async with replicas(request.param, tmp_path_factory.mktemp(request.param)) as found:
        yield found


@pytest.fixture(scope="module")
def posters() -> Iterator[list[Racer]]:
    found = [Racer(poster) for _ in EIGHT]
    yield found
    for each in found:
        each.end()


class Racing:
    """Someone whose browser posts eight times, to these replicas in turn."""

    def __init__(self, at: Replicas, posters: list[Racer], spread: int, fields: list[dict[str, str]]) -> None:
        self._at = at
        self._posters = posters
        self._spread = spread
        self._fields = fields
        self.statuses: list[int] = []

    async def __call__(self, surfer: Surfer) -> None:
        where = urlsplit(str(surfer.page.url))
        [sheet, *_] = [each for each in surfer.sheets if "accept" in each.buttons]
        headers = {"host": where.netloc, "origin": f"{where.scheme}://{where.netloc}", "cookie": cookies_of(surfer)}
        urls = [f"{self._at.processes[n % self._spread].url}{where.path}" for n in EIGHT]
        posts = [{"headers": headers, "data": {**filled_in(sheet), **more}} for more in self._fields]
        self.statuses = await race(self._posters, urls, "post", posts)

    @property
    def winner(self) -> int:
        """The accepted one: exactly one, and the others were too late."""
        [won] = [n for n in EIGHT if self.statuses[n] == 200]
        assert {self.statuses[n] for n in EIGHT if n != won} <= TOO_LATE, self.statuses
        return won


def filled_in(sheet: Sheet) -> dict[str, str]:
    return {**sheet.values, sheet.buttons["accept"]: "accept"}


def cookies_of(surfer: Surfer) -> str:
    return "; ".join(f"{each.name}={each.value}" for each in surfer.http.cookies.jar)


@pytest.mark.parametrize("spread", [1, 3])
async def test_of_eight_processes_that_approve_one_succeeds_and_pays_once(
    at: Replicas, posters: list[Racer], spread: int
) -> None:
    racing, before = Racing(at, posters, spread, [{}] * 8), len(at.payments)
    at.issuer.sub = "ada"
    person = Person(racing)
    async with calling(at, "pay", person) as call:
        assert await call.whole() == "Paid 40 EUR to ACME."
        await person.done()
    assert racing.winner in EIGHT
    assert len(at.payments) - before == 1


@pytest.mark.parametrize("spread", [1, 3])
async def test_of_eight_processes_that_enter_a_secret_one_succeeds_and_only_its_secret_is_stored(
    at: Replicas, posters: list[Racer], spread: int
) -> None:
    secrets = [{"s0": "ghp_" + "x" * (10 + n)} for n in EIGHT]
    racing, sub = Racing(at, posters, spread, secrets), f"grace-{spread}"
    at.issuer.sub = sub
    person = Person(racing)
    async with calling(at, "read_repo", person, sub=sub) as call:
        said = await call.whole()
        await person.done()
    kept = len(secrets[racing.winner]["s0"])
    assert said == f"Read midcall with a token of {kept} characters."
    for _ in THREE:
        async with calling(at, "read_repo", Person(racing), sub=sub) as again:
            assert await again.whole() == said, "every replica has the same one"


async def test_of_eight_processes_that_approve_and_decline_one_counts(at: Replicas, posters: list[Racer]) -> None:
    answers = [{"do": "accept" if n % 2 else "decline"} for n in EIGHT]
    racing, before = Racing(at, posters, 3, answers), len(at.payments)
    at.issuer.sub = "ada"
    person = Person(racing)
    async with calling(at, "pay", person) as call:
        said = await call.whole()
        await person.done()
    paid = racing.winner % 2
    assert said == ("Paid 40 EUR to ACME." if paid else "Nothing was paid.")
    assert len(at.payments) - before == paid
