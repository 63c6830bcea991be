from midcall.testing import replayed


async def test_booking_does_not_depend_on_the_order_of_a_set() -> None:
    done = await replayed("quickstart:mcp", "book", {"destination": "Oslo"}, [3, "a", False], hash_seeds=(0, 1))
    assert done.text == "Nothing was booked."
