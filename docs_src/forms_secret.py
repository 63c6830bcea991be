from mcp.server import MCPServer

import midcall
from midcall import Form, Text, ask

mcp = MCPServer("puzzles")
midcall.install(mcp)


@mcp.tool()
async def guess_word() -> str:
    """The word to guess is called a password in this game, and protects nothing."""
    answer = await ask("What is the password?", Form(Text("password")), not_secret="a word in a party game")
    return f"You said {answer['password']}."


@mcp.tool()
async def sign_in() -> str:
    """What must not be done: midcall ends the call before anything is sent."""
    login = await ask("Sign in", Form(Text("user"), Text("password")))
    return f"Hello, {login['user']}."
