"""Every sentence of the command line, in one place. What a question says is in `midcall.wording.client`."""

from __future__ import annotations


def usage(command: str, sentence: str) -> str:
    return f"{command}: error: {sentence}"


def no_result_within(seconds: float) -> str:
    return f"No result within {seconds:g} s: the call was cancelled."


def unusable_tool(name: str, why: str) -> str:
    return f"The server describes the tool {name} in a way that cannot be understood ({why})."


# --- for whoever runs a server ---------------------------------------------------------------
