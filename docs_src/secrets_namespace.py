from mcp.server import MCPServer

import midcall
from midcall.portal import Portal

issues = MCPServer("issues")
midcall.install(issues, portal=Portal(), namespace="acme-tools")

repositories = MCPServer("repositories")
midcall.install(repositories, portal=Portal(), namespace="acme-tools")
