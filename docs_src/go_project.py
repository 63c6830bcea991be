from typing import Literal

from mcp.server import MCPServer
from pydantic import BaseModel, Field

import midcall
from midcall import Accepted, Declined, elicit

mcp = MCPServer("Elicitation Server")
midcall.install(mcp)


class Project(BaseModel):
    project_name: str = Field(min_length=1, description="Name of the project")
    framework: Literal["react", "vue", "angular", "none"] = "none"
    include_tests: bool = Field(True, description="Include test setup")


@mcp.tool()
async def create_project() -> str:
    """Creates a new project with user-specified configuration."""
    match await elicit("Please provide the project details.", Project):
        case Accepted(value=project):
            return f"Created project {project.project_name!r} with framework {project.framework}."
        case Declined():
            return "No project: the user declined."
        case _:
            return "No project for now."
