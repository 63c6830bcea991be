from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ElicitRequest, ElicitRequestFormParams, ElicitResult, InputRequiredResult

mcp = MCPServer("greeter")


def question(name: str, message: str) -> ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


@mcp.tool()
async def greet(ctx: Context) -> str | InputRequiredResult:
    """Two questions in a state machine. Fails before 2026-07-28."""
    name = ctx.request_state
    match (ctx.input_responses or {}).get("name"), (ctx.input_responses or {}).get("town"):
        case _, ElicitResult(action="accept", content={"town": town}):
            return f"Hello {name} from {town}!"
        case ElicitResult(action="accept", content={"name": str(name)}), _:
            return InputRequiredResult(input_requests={"town": question("town", "Your town?")}, request_state=name)
        case None, None:
            return InputRequiredResult(input_requests={"name": question("name", "Your name?")})
        case _:
            return "Hello!"
