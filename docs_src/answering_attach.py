from mcp import Client

from midcall.client import Terminal, attach


def attached(client: Client) -> Client:
    """A client of your own, before it is entered: its questions and visits go to the terminal."""
    return attach(client, Terminal(), on_complete=lambda id: print(f"Visit {id} is done."))
