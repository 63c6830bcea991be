from midcall import UserCancelled, UserDeclined
from midcall.client import Answerer, connect


async def list_files(server: str, user: str, answerer: Answerer) -> str:
    async with connect(server, answerer) as client:
        try:
            result = await client.call_tool("list_files", {"user": user})
        except UserDeclined:
            return "You did not want to open the page."
        except UserCancelled:
            return "Nothing was done. You can call it again later."
        return result.content[0].text
