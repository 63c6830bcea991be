from mcp.server import MCPServer

import midcall
from midcall import Form, SecretInForm, Text, ask

mcp = MCPServer("puzzles")
midcall.install(mcp)


@mcp.tool()
async def guess_word() -> str:
    """The word to guess is called a password in this game, and protects nothing."""
    answer = await ask("What is the password?", Form(Text("password")), not_secret="a word in a party game")
    return f"You said {answer['password']}."


@mcp.tool()
async def sign_in() -> str:
    """What must not be done: midcall refuses before anything is sent."""
    try:
        await ask("Sign in", Form(Text("user"), Text("password")))
    except SecretInForm as error:
        return f"refused: {error.path}"
    return "asked"
