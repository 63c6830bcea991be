import pytest
from channels_look import mcp

from midcall.testing import ERAS, Era, run


@pytest.mark.parametrize("era", ERAS)
async def test_the_user_is_asked_for_the_city(era: Era) -> None:
    done = await run(mcp, "forecast", {}, {"For which city?": "Oslo"}, era=era)
    assert done.text == "Sun over Oslo."


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_cannot_ask_hears_what_to_do(era: Era) -> None:
    done = await run(mcp, "forecast", {}, era=era, modes=())
    assert done.text.startswith("Call again with a city")
