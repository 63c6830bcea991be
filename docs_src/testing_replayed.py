from between_good import mcp

from midcall import Declined
from midcall.testing import replayed


async def test_the_number_stays_the_same() -> None:
    done = await replayed(mcp, "draw", {}, {"Keep the number that I have drawn?": Declined()})
    assert done.text == "Thrown away."
    assert [question.message for question in done.asked] == ["Keep the number that I have drawn?"]
