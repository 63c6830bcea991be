from mcp.server import MCPServer

import midcall
from midcall import Form, Text, ask

mcp = MCPServer("puzzles")
midcall.install(mcp)


@mcp.tool()
async def guess_word() -> str:
    """In this game, the password is only a word to guess."""
    answer = await ask("What is the password?", Form(Text("password")), not_secret="a word in a party game")
    return f"You said {answer['password']}."


@mcp.tool()
async def sign_in() -> str:
    """Don't do this: midcall ends the call before it sends anything."""
    login = await ask("Sign in", Form(Text("user"), Text("password")))
    return f"Hello, {login['user']}."
