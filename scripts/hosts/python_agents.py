"""Agents in Python, in an environment of their own: `python python_agents.py openai|pydantic|langchain PROMPT`."""

from __future__ import annotations

import asyncio
import json
import os
import sys

SERVER = json.loads(os.environ["SERVER"])
MODEL, KEY = os.environ["MODEL"], os.environ["KEY"]


async def openai(prompt: str) -> str:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
    from agents.mcp import MCPServerStdio
    from openai import AsyncOpenAI

    set_tracing_disabled(True)
    model = OpenAIChatCompletionsModel("scripted", AsyncOpenAI(base_url=MODEL, api_key=KEY))
    async with MCPServerStdio(params=SERVER, client_session_timeout_seconds=90) as server:
        agent = Agent(name="agent", model=model, mcp_servers=[server])
        return str((await Runner.run(agent, prompt, max_turns=20)).final_output)


async def pydantic(prompt: str) -> str:
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    server = MCPToolset(StdioTransport(SERVER["command"], SERVER["args"], env=SERVER["env"]), init_timeout=90)
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=MODEL, api_key=KEY))
    async with Agent(model, toolsets=[server]) as agent:
        return str((await agent.run(prompt)).output)


async def langchain(prompt: str) -> str:
    from langchain.agents import create_agent
    from langchain_mcp_adapters.client import MultiServerMCPClient
    from langchain_openai import ChatOpenAI

    tools = await MultiServerMCPClient({"fjord": {"transport": "stdio", **SERVER}}).get_tools()
    agent = create_agent(ChatOpenAI(model="scripted", base_url=MODEL, api_key=KEY), tools)
    done = await agent.ainvoke({"messages": [{"role": "user", "content": prompt}]})
    return str(done["messages"][-1].content)


print(asyncio.run({"openai": openai, "pydantic": pydantic, "langchain": langchain}[sys.argv[1]](sys.argv[2])))
