from mcp import Client
from mcp_types import ElicitCompleteNotification


async def heard(message: object) -> None:
    """Hears that a visit is done: the tool can be called again."""
    if isinstance(message, ElicitCompleteNotification):
        print(f"Visit {message.params.elicitation_id} is done.")


def client_of(server: str) -> Client:
    return Client(server, mode="legacy", message_handler=heard)
