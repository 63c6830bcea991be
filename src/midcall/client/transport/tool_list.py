"""A list of tools, without those that cannot be understood. Pure.

The SDK's client refuses the whole list for one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from mcp_types import ListToolsResult, methods
from pydantic import ValidationError

from midcall.client.lines.columns import one_line

__all__ = ["usable"]

_LONGEST: Final = 200


def usable(result: dict[str, Any], version: str) -> tuple[dict[str, Any], dict[str, str]]:
    """This result of `tools/list` with the tools that can be used; and the others by name, with what is wrong."""
    listed: Any = result.get("tools")
    tools = cast("list[Any]", listed) if isinstance(listed, list) else []
    if not _wrong(result, tools, version):
        return result, {}
    good: list[Any] = []
    bad: dict[str, str] = {}
    for number, tool in enumerate(tools, 1):
        if why := _wrong(result, [tool], version):
            bad[_name(tool, number)] = why
        else:
            good.append(tool)
    return {**result, "tools": good}, bad


def _wrong(result: dict[str, Any], tools: Iterable[Any], version: str) -> str:
    """What keeps these tools from being understood, if anything does. What is wrong beside them is not our concern."""
    listed = {**result, "tools": tools}
    try:
        methods.validate_server_result("tools/list", version, listed)
        ListToolsResult.model_validate(listed, by_name=False)
    except ValidationError as error:
        found = ((each["loc"], each["msg"]) for each in error.errors() if "tools" in each["loc"])
        return next((_told(loc, message) for loc, message in found), "")
    except (KeyError, ValueError):  # a version without such a list, or that nobody knows
        pass
    return ""


def _told(loc: tuple[int | str, ...], message: str) -> str:
    """Where it is in the tool, and what is wrong there."""
    place = ".".join(str(part) for part in loc[loc.index("tools") + 2 :])
    return one_line(f"{place}: {message}" if place else message, _LONGEST)


def _name(tool: Any, number: int) -> str:
    name = cast("Mapping[str, Any]", tool).get("name") if isinstance(tool, Mapping) else None
    return name if isinstance(name, str) and name else f"no. {number}"
