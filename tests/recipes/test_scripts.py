"""Each recipe, run as a user would."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.recipes.agents import needs
from tests.recipes.conftest import RECIPES

SAID = """\
You: Book me a trip to Oslo.
  Fjord Travel asks: How many days will you stay in Oslo?
  > accept {'answer': 300}
  Fjord Travel asks: How many days will you stay in Oslo?
  ! answer must be at most 30
  > accept {'answer': 3}
  Fjord Travel asks: Book 3 days in Oslo?
  > accept {'confirmed': True}
Agent: Booked 3 days in Oslo.
"""
AGENTS = ("langgraph_interrupt", "pydantic_ai_agent", "openai_agents")
OF_LANGSMITH = (
    "ignore:'asyncio.iscoroutinefunction' is deprecated:DeprecationWarning:langsmith._internal._beta_decorator"
)
"""A warning from a dependency of langgraph, on Python 3.14."""


@pytest.mark.parametrize("name", AGENTS)
def test_a_recipe_prints_its_conversation_and_nothing_else(name: str) -> None:
    needs(name)
    command = [sys.executable, "-W", "error", "-W", OF_LANGSMITH, str(RECIPES / f"{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == (SAID, "")


@pytest.mark.parametrize("name", [*AGENTS, "fastapi_chat"])
def test_a_recipe_says_how_to_start_it_and_what_it_needs(name: str) -> None:
    text = (RECIPES / f"{name}.py").read_text()
    assert f"    python examples/recipes/{name}.py\n" in re.sub(r" +#.*", "", text)
    assert "\nNeeds: pip install " in text
