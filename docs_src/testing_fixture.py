from typing import Any

from quickstart import mcp


async def test_no_is_no(midcall_replayed: Any) -> None:
    done = await midcall_replayed(mcp, "book", {"destination": "Oslo"}, [3, "a", False])
    assert done.text == "Nothing was booked."
