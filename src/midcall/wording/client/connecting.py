"""Connecting to a server, and why there is no connection."""

from __future__ import annotations


def no_such_command() -> tuple[str, str]:
    return "there is no such command", "A server is given as its URL, or as the command that starts it."


def address_without_scheme(address: str) -> tuple[str, str]:
    return "there is no such command", f"If it is an address, write http://{address}"


def script_without_interpreter(interpreter: str, script: str) -> tuple[str, str]:
    return "it is a script, and no command", f"Name what runs it: {interpreter} {script}"


def not_executable() -> tuple[str, str]:
    return "it cannot be run", "Check its permissions, or name the program that runs it."


def no_such_folder(folder: str) -> tuple[str, str]:
    return f"there is no folder {folder}", "The working directory of the server must be there."


def ended_early() -> tuple[str, str]:
    return (
        "it ended, or closed the connection, before it answered",
        "What it wrote to its standard error may say why.",
    )


def no_answer_within(seconds: float) -> tuple[str, str]:
    return (
        f"no answer within {seconds:g} s",
        "Is it an MCP server? One that has to be downloaded first may need longer.",
    )


def nobody_there(detail: str) -> tuple[str, str]:
    return f"nothing answers there ({detail})", "Is the server running, and is the address right?"


def http_refused(status: int) -> tuple[str, str]:
    if status in (401, 403):
        return f"it wants to know who you are (HTTP {status})", "Pass what it expects, such as an Authorization header."
    if status in (404, 405):
        return f"there is no MCP server at this path (HTTP {status})", "Most servers are at /mcp."
    return f"it answered with HTTP {status}", "See the log of the server."


def no_mcp(detail: str) -> tuple[str, str]:
    return f"it does not answer as an MCP server does ({detail})", "Check that this is the right address or command."


def another_version(wanted: str, spoken: str) -> tuple[str, str]:
    return f"it speaks {spoken}, and {wanted} was asked for", "Leave the version to be negotiated, with auto."


def bad_url() -> tuple[str, str]:
    return "it is not a web address", "An address looks like http://localhost:8000/mcp"


def bad_command_line(detail: str) -> tuple[str, str]:
    return f"the command cannot be read ({detail})", "Check its quotes."


def unknown_era(era: str, known: str) -> str:
    return f"era must be one of {known}, and not {era!r}"


def attach_first() -> tuple[str, str]:
    return "this client is connected already", "Call attach before the client is entered."


def callback_there() -> tuple[str, str]:
    return (
        "this client has something that answers already",
        "Leave elicitation_callback out: attach sets it.",
    )
