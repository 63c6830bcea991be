from mcp import Client

from midcall.client import Terminal, attach


def attached(client: Client) -> Client:
    """Send the questions and visits of your client to the terminal. Call it before you enter the client."""
    return attach(client, Terminal(), on_complete=lambda id, known: print(f"Visit {id!r} is done."))
