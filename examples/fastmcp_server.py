"""A FastMCP server that asks on every protocol version.

    python examples/fastmcp_server.py                 # serves stdio
    python examples/fastmcp_server.py --http 8000     # serves http://127.0.0.1:8000/mcp

`order` is written with midcall. `rename` is the tool that was there before: it calls `ctx.elicit`,
nothing in it was changed, and after `install` it works on 2026-07-28, too.
"""

from __future__ import annotations

import argparse

from fastmcp import Context, FastMCP
from fastmcp.server.elicitation import AcceptedElicitation

import midcall
from midcall import ask, choose, confirm

mcp = FastMCP("kitchen")
midcall.install(mcp)


@mcp.tool
async def order(dish: str) -> str:
    """Order a dish."""
    portions = await ask(f"How many portions of {dish}?", int)
    spice = await choose("How hot?", {"mild": "Mild", "hot": "Hot", "local": "As the locals like it"})
    if not await confirm(f"Order {portions} x {dish}, {spice}?"):
        return "Nothing was ordered."
    return f"Ordered {portions} x {dish}, {spice}."


@mcp.tool
async def rename(ctx: Context) -> str:
    """Rename the kitchen."""
    answer = await ctx.elicit("What shall the kitchen be called?", str)
    if isinstance(answer, AcceptedElicitation):
        return f"The kitchen is called {answer.data} now."
    return "The kitchen keeps its name."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve http://127.0.0.1:PORT/mcp instead of stdio")
    if (port := parser.parse_args().http) is not None:
        mcp.run("http", host="127.0.0.1", port=port, show_banner=False)
    else:
        mcp.run(show_banner=False)


if __name__ == "__main__":
    main()
