import itertools
import random

import pytest
from between_good import mcp

from midcall.testing import ERAS, Era, run


@pytest.mark.parametrize("era", ERAS)
async def test_the_number_that_the_user_keeps_is_the_one_that_was_drawn(
    era: Era, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = itertools.count(1)
    monkeypatch.setattr(random, "randrange", lambda limit: next(numbers))
    done = await run(mcp, "draw", {}, [True], era=era, one_by_one=True)
    assert done.text == "Yours is 1."
