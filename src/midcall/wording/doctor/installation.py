"""What was installed and set: variables, keys, doubt, the probe."""

from __future__ import annotations

from collections.abc import Mapping


def unexpected(kind: str, text: str) -> str:
    return (
        f"Looking at the server failed with {kind}{f': {text}' if text else ''}. If it has a store, an identity or a "
        "principal of its own, look there; else it is a mistake in midcall."
    )


# --- variables -----------------------------------------------------------------------------------
def misnamed(meant: Mapping[str, str | None]) -> str:
    each = (f"{name} (meant {near}?)" if near else name for name, near in meant.items())
    return f"No setting of midcall is called {', '.join(each)}: it is not read."


# --- keys ----------------------------------------------------------------------------------------


# --- doubt, the probe ------------------------------------------------------------------------------
