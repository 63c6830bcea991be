"""Whether the user's browser gets to a portal that is on loopback: why not, and what helps."""

from __future__ import annotations


# --- in a container ------------------------------------------------------------------------------
def contained() -> str:
    return "This is a container: its loopback is not that of the user's machine."


def contained_alone_advice() -> str:
    """It listens by itself: what is published goes to another address of the container."""
    return (
        "To publish a port (-p) does not help, since that does not lead to loopback. On the user's own Linux, run it "
        'with --network=host --user "$(id -u)". Else mount the portal in your HTTP app, with the address that users '
        "know in MIDCALL_PORTAL_URL."
    )


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
def remote() -> str:
    return "This server is reached over SSH, and the user's browser may be on another machine: loopback ends here."


def no_display() -> str:
    return "This machine has no display: where the user's browser is, loopback is another machine's."


def forward_advice(host: str, port: int) -> str:
    return f"Forward its port from where the browser is: ssh -L {port}:{host}:{port} HOST, as the user that it runs as."


def any_port_advice(host: str, port: int) -> str:
    return f"Give it a port that stays, MIDCALL_PORTAL_PORT={port}. {forward_advice(host, port)}"
