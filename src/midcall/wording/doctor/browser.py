"""Whether the user's browser gets to a portal that is on loopback: why not, and what helps."""

from __future__ import annotations

# --- in a container ------------------------------------------------------------------------------


def contained_mounted_advice(port: int, local: bool) -> str:
    """It is mounted in an app: that may well be published on the loopback of the user's machine."""
    publish = (
        f"Publish the port of its app under the same number, -p 127.0.0.1:{port}:{port}, and let the app listen on "
        "0.0.0.0 in here."
    )
    return f"{publish} {_comes_from_outside()}" if local else publish


def _comes_from_outside() -> str:
    return (
        "But who comes in by it comes from outside of the container, and is not taken for its user: for secrets, "
        "accounts and approvals, say who is looking, Portal(..., identity=...)."
    )


# --- elsewhere -----------------------------------------------------------------------------------


def forward_advice(host: str, port: int) -> str:
    return f"Forward its port from where the browser is: ssh -L {port}:{host}:{port} HOST, as the user that it runs as."


def any_port_advice(host: str, port: int) -> str:
    return f"Give it a port that stays, MIDCALL_PORTAL_PORT={port}. {forward_advice(host, port)}"
