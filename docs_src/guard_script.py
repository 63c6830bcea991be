from midcall import Declined
from midcall.client import Script, connect

ANSWERS = {
    "How many days will you stay?": 3,  # a question, by its message
    "choice": "At the window",  # a field, by its name; an option, by value or title
    "Book 3 days in Oslo?": Declined(),
}


async def book(server: object) -> tuple[str, list[str]]:
    script = Script(ANSWERS)
    async with connect(server, script) as client:
        result = await client.call_tool("book", {"destination": "Oslo"})
    return result.content[0].text, [asked.message for asked in script.asked]
