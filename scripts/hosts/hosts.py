"""The hosts: how each is told of our server and of the scripted model, and how it is started.

Each has a home of its own, and nothing of this machine's environment. Tools are allowed beforehand, as a user would.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from scripts.peers import ROOT, node

HERE: Final = ROOT / "scripts" / "hosts"
MODULES: Final = HERE / "node_modules"
AGENTS: Final = HERE / ".venv" / "bin" / "python"
KEY: Final = "a-dummy-key-00000000000000000000"


@dataclass(frozen=True)
class Room:
    """Where one host runs."""

    home: Path
    port: int
    """Where the scripted model listens."""

    @property
    def wire(self) -> Path:
        """What the host and the server said to each other."""
        return self.home / "wire.jsonl"

    @property
    def work(self) -> Path:
        return self.home / "work"

    @property
    def model(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def server(self) -> list[str]:
        """The command that starts our server, behind something that writes down what is said."""
        return [sys.executable, str(HERE / "wire.py"), str(self.wire), sys.executable, str(HERE / "server.py")]

    @property
    def env(self) -> dict[str, str]:
        """The server's environment."""
        store = f"sqlite:///{self.home / 'store.db'}"
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "MIDCALL_STORE": store, "PYTHONPATH": str(ROOT)}

    @property
    def stdio(self) -> dict[str, Any]:
        """As most hosts want it."""
        return {"command": self.server[0], "args": self.server[1:], "env": self.env}

    def write(self, path: str, content: Any) -> None:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))


def _nothing(room: Room) -> None:
    pass


@dataclass(frozen=True)
class Host:
    """A program that other people wrote."""

    name: str
    package: str
    command: Callable[[Room, str], Sequence[str]]
    """How it is started without a person, with this prompt."""
    prepare: Callable[[Room], None] = _nothing
    """Writes its configuration."""
    env: Callable[[Room], Mapping[str, str]] = lambda room: {}
    before: Callable[[Room], Sequence[str]] | None = None
    """A command that it needs once, before the first prompt."""
    needs: Path = field(default=MODULES)
    """What must be installed."""
    why_not: str = ""
    """Why it can't be started here, if it can't."""
    terminal: Callable[[Room], Sequence[str]] | None = None
    """How it is started with a person at its keys."""


def _node(*where: str) -> list[str]:
    return [str(node()), str(MODULES.joinpath(*where))]


def _binary(*where: str) -> Path:
    return MODULES.joinpath(*where)


# --- Claude Code -----------------------------------------------------------------------------------

CLAUDE: Final = _binary("@anthropic-ai", "claude-code-linux-x64", "claude")


def _claude(room: Room) -> None:
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
    known = {"approved": [KEY[-20:]], "rejected": []}
    room.write(
        ".claude.json",
        {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "autoUpdates": False,
            "customApiKeyResponses": known,
            "projects": {str(room.work): project},
        },
    )
    room.write("mcp.json", {"mcpServers": {"fjord": room.stdio}})


def _claude_args(room: Room) -> list[str]:
    servers = ["--mcp-config", str(room.home / "mcp.json"), "--strict-mcp-config"]
    return [*servers, "--allowedTools", "mcp__fjord", "--model", "claude-sonnet-4-5"]


def _claude_env(room: Room) -> dict[str, str]:
    off = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER")
    off = (*off, "DISABLE_ERROR_REPORTING", "CLAUDE_CODE_OFFLINE")
    keys = {"ANTHROPIC_BASE_URL": room.model, "ANTHROPIC_API_KEY": KEY, "ENABLE_TOOL_SEARCH": "false"}
    return {**keys, **dict.fromkeys(off, "1")}


# --- Codex -----------------------------------------------------------------------------------------

CODEX: Final = _binary("@openai", "codex-linux-x64", "vendor", "x86_64-unknown-linux-musl", "bin", "codex")


def _codex(room: Room) -> None:
    def toml(value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{name} = {json.dumps(text)}" for name, text in value.items()) + "}"
        return json.dumps(value)

    tables: dict[str, dict[str, Any]] = {
        "": {"model": "gpt-5", "model_provider": "scripted", "approval_policy": "on-request"},
        "model_providers.scripted": {
            "name": "scripted",
            "base_url": f"{room.model}/v1",
            "env_key": "MODEL_KEY",
            "wire_api": "responses",
        },
        "analytics": {"enabled": False},
        "feedback": {"enabled": False},
        f'projects."{room.work}"': {"trust_level": "trusted"},
        "mcp_servers.fjord": {
            **room.stdio,
            "startup_timeout_sec": 90,
            "tool_timeout_sec": 120,
            "required": True,
            "default_tools_approval_mode": "approve",
        },
    }
    tables[""]["check_for_update_on_startup"] = False
    lines: list[str] = []
    for table, values in tables.items():
        lines += [f"[{table}]"] if table else []
        lines += [f"{name} = {toml(value)}" for name, value in values.items()]
    room.write(".codex/config.toml", "\n".join(lines) + "\n")


# --- GitHub Copilot CLI ----------------------------------------------------------------------------

COPILOT: Final = _binary("@github", "copilot-linux-x64", "copilot")


def _copilot(room: Room) -> None:
    room.write(".copilot/mcp-config.json", {"mcpServers": {"fjord": {"type": "local", **room.stdio, "tools": ["*"]}}})
    trusted = [str(room.work)]
    room.write(".copilot/config.json", {"trusted_folders": trusted, "trustedFolders": trusted, "banner": "never"})


def _copilot_env(room: Room) -> dict[str, str]:
    keys = {"COPILOT_PROVIDER_BASE_URL": f"{room.model}/v1", "COPILOT_PROVIDER_API_KEY": KEY}
    return {**keys, "COPILOT_MODEL": "gpt-4.1", "COPILOT_AUTO_UPDATE": "false", "COPILOT_OFFLINE": "true"}


# --- Gemini CLI and Qwen Code ----------------------------------------------------------------------


def _gemini_settings(room: Room, auth: str) -> dict[str, Any]:
    return {
        "security": {"auth": {"selectedType": auth}, "folderTrust": {"enabled": False}},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False, "disableUpdateNag": True},
        "mcpServers": {"fjord": {**room.stdio, "trust": True}},
    }


def _gemini(room: Room) -> None:
    room.write(".gemini/settings.json", _gemini_settings(room, "gemini-api-key"))


def _gemini_env(room: Room) -> dict[str, str]:
    keys = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": room.model}
    return {**keys, "GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_NO_RELAUNCH": "true", "NO_BROWSER": "1"}


def _qwen(room: Room) -> None:
    room.write(".qwen/settings.json", {**_gemini_settings(room, "openai"), "model": {"name": "scripted"}})


def _openai_env(room: Room) -> dict[str, str]:
    return {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{room.model}/v1", "OPENAI_MODEL": "scripted"}


# --- opencode, Cline, Continue ---------------------------------------------------------------------

OPENCODE: Final = _binary("opencode-linux-x64-baseline", "bin", "opencode")
CLINE: Final = _binary("@cline", "cli-linux-x64", "bin", "cline")


def _opencode(room: Room) -> None:
    limit = {"context": 100_000, "output": 4_000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{room.model}/v1", "apiKey": KEY},
        "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": limit}},
    }
    server = {"type": "local", "command": room.server, "environment": room.env, "enabled": True, "timeout": 90_000}
    room.write(
        ".config/opencode/opencode.json",
        {
            "autoupdate": False,
            "share": "disabled",
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "permission": {"*": "allow"},
            "provider": {"scripted": provider},
            "mcp": {"fjord": server},
        },
    )


def _opencode_env(room: Room) -> dict[str, str]:
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    return {f"OPENCODE_DISABLE_{name}": "1" for name in off}


def _cline(room: Room) -> None:
    server = {"type": "stdio", **room.stdio, "disabled": False, "timeout": 90}
    for path in (".cline/data/settings/cline_mcp_settings.json", ".cline/mcp_settings.json"):
        room.write(path, {"mcpServers": {"fjord": server}})


def _cline_login(room: Room) -> list[str]:
    return [str(CLINE), "auth", "-p", "openai-compatible", "-k", KEY, "-m", "scripted", "-b", f"{room.model}/v1"]


def _continue(room: Room) -> None:
    model = {"name": "scripted", "provider": "openai", "model": "gpt-4.1", "apiKey": KEY}
    model |= {"apiBase": f"{room.model}/v1", "capabilities": ["tool_use"], "roles": ["chat"]}
    config = {
        "name": "scripted",
        "version": "1.0.0",
        "schema": "v1",
        "models": [model],
        "mcpServers": [{"name": "fjord", "type": "stdio", **room.stdio}],
    }
    room.write("config.yaml", config)  # JSON is YAML


# --- Python agents ---------------------------------------------------------------------------------


def _agent(kind: str) -> Callable[[Room, str], Sequence[str]]:
    return lambda room, prompt: [str(AGENTS), str(HERE / "python_agents.py"), kind, prompt]


def _agent_env(room: Room) -> dict[str, str]:
    stdio = json.dumps({"command": room.server[0], "args": room.server[1:], "env": room.env})
    return {"SERVER": stdio, "MODEL": f"{room.model}/v1", "KEY": KEY, "OPENAI_AGENTS_DISABLE_TRACING": "1"}


HOSTS: Final = (
    Host(
        "Claude Code",
        "@anthropic-ai/claude-code",
        lambda room, prompt: [str(CLAUDE), "-p", prompt, *_claude_args(room)],
        _claude,
        _claude_env,
        needs=CLAUDE,
        terminal=lambda room: [str(CLAUDE), *_claude_args(room)],
    ),
    Host(
        "Codex",
        "@openai/codex",
        lambda room, prompt: [str(CODEX), "exec", "--skip-git-repo-check", prompt],
        _codex,
        lambda room: {"MODEL_KEY": KEY, "RUST_LOG": "error"},
        needs=CODEX,
        terminal=lambda room: [str(CODEX)],
    ),
    Host(
        "GitHub Copilot CLI",
        "@github/copilot",
        lambda room, prompt: [str(COPILOT), "--allow-all-tools", "-p", prompt],
        _copilot,
        _copilot_env,
        needs=COPILOT,
        terminal=lambda room: [str(COPILOT), "--allow-all-tools"],
    ),
    Host(
        "Gemini CLI",
        "@google/gemini-cli",
        lambda room, prompt: [
            *_node("@google", "gemini-cli", "bundle", "gemini.js"),
            "-m",
            "gemini-2.5-flash",
            "-y",
            "-p",
            prompt,
        ],
        _gemini,
        _gemini_env,
        needs=_binary("@google", "gemini-cli", "bundle", "gemini.js"),
    ),
    Host(
        "Qwen Code",
        "@qwen-code/qwen-code",
        lambda room, prompt: [*_node("@qwen-code", "qwen-code", "cli.js"), "-y", "-p", prompt],
        _qwen,
        _openai_env,
        needs=_binary("@qwen-code", "qwen-code", "cli.js"),
    ),
    Host(
        "opencode",
        "opencode-ai",
        lambda room, prompt: [str(OPENCODE), "run", prompt],
        _opencode,
        _opencode_env,
        needs=OPENCODE,
    ),
    Host(
        "Cline",
        "cline",
        lambda room, prompt: [str(CLINE), "-P", "openai-compatible", "-m", "scripted", prompt],
        _cline,
        lambda room: {"CLINE_TELEMETRY": "off", "DO_NOT_TRACK": "1"},
        before=_cline_login,
        needs=CLINE,
    ),
    Host(
        "Continue",
        "@continuedev/cli",
        lambda room, prompt: [
            *_node("@continuedev", "cli", "dist", "cn.js"),
            "--config",
            str(room.home / "config.yaml"),
            "--auto",
            "-p",
            prompt,
        ],
        _continue,
        lambda room: {"CONTINUE_TELEMETRY_ENABLED": "0", "CONTINUE_CLI_DISABLE_UPDATE_CHECK": "1"},
        needs=_binary("@continuedev", "cli", "dist", "cn.js"),
    ),
    Host("openai-agents", "openai-agents", _agent("openai"), env=_agent_env, needs=AGENTS),
    Host("pydantic-ai", "pydantic-ai-slim", _agent("pydantic"), env=_agent_env, needs=AGENTS),
    Host("langchain-mcp-adapters", "langchain-mcp-adapters", _agent("langchain"), env=_agent_env, needs=AGENTS),
    Host("Crush", "@charmland/crush", lambda room, prompt: [], why_not="its package downloads the program from GitHub"),
    Host(
        "Kilo Code",
        "@kilocode/cli",
        lambda room, prompt: [],
        why_not="the npm package that holds its program could not be installed",
    ),
    Host(
        "Factory Droid",
        "@factory/cli",
        lambda room, prompt: [],
        why_not="the npm package that holds its program could not be installed",
    ),
)
