"""Pages that say one thing, and what to do next."""

from __future__ import annotations

from typing import Final

_TOLD: Final[dict[str, tuple[str, str]]] = {
    "unknown": (
        "There is no such page",
        "The address may be incomplete, or its time was over long ago. Go back to where you found it, and ask anew.",
    ),
    "expired": (
        "The time for this page is over",
        "Nothing was done. Go back to where you came from: it can be asked again, with a new link.",
    ),
    "wrong_user": (
        "This page is for somebody else",
        "You are signed in, but not as the user who is asked. Nothing was shown, and nothing was done. "
        "If somebody sent you this link, close it: you would answer in their place.",
    ),
    "no_identity": (
        "This server cannot tell who you are",
        "So it shows nothing here and takes nothing. Whoever runs it has to set up a sign-in first.",
    ),
    "other_user": (
        "This page is for another user of this machine",
        "Open it as the user who started the server, in a browser on the same machine.",
    ),
    "sign_in_elsewhere": (
        "Please sign in first",
        "You are not signed in to this server. Sign in as you always do there, then open this page again.",
    ),
    "sign_in_again": (
        "Your sign-in has ended",
        "Nothing was done. Sign in again, and you will be back on this page.",
    ),
    "sign_in_lost": (
        "This sign-in was not begun here",
        "It was begun in another browser, or too long ago. Open the link that you were given once more.",
    ),
    "sign_in_refused": (
        "You could not be signed in",
        "The sign-in was refused or broken off. Nothing was shown, and nothing was done.",
    ),
    "sign_in_away": (
        "Sign-in does not work right now",
        "The service that signs you in cannot be reached. Please try again in a while.",
    ),
    "signed_out": ("You are signed out", "To sign in again, open the link that you were given once more."),
    "not_from_page": (
        "This did not come from our page",
        "Nothing was done. Another site may have tried to act in your place, or your browser keeps no cookies. "
        "Open the page again, and answer there.",
    ),
    "details_changed": (
        "These are not the details that you were shown",
        "Nothing was approved. Open the page again, and look at them once more.",
    ),
    "too_much": ("That is too much", "More was sent than this page takes. Nothing was done."),
    "not_understood": ("That was not understood", "Nothing was done. Open the page again, and answer there."),
    "too_often": (
        "Too many tries",
        "From here, many pages were opened that do not exist. Please wait a minute, and then try again.",
    ),
    "store_away": (
        "This does not work right now",
        "What this server remembers cannot be reached. Nothing is lost: please try again in a while.",
    ),
    "wrong_host": (
        "This is not the address of this page",
        "Open the link exactly as you were given it.",
    ),
    "oauth_refused": (
        "The connection was not made",
        "It was begun in another browser, too long ago, or twice, or the other side refused it. "
        "Nothing was kept. Open the link that you were given once more.",
    ),
    "oauth_away": (
        "The other side does not answer",
        "The service that you wanted to connect cannot be reached right now. Please try again in a while.",
    ),
    "not_ready": ("Not ready yet", "This portal is not installed on a server."),
    "failed": (
        "Something went wrong",
        "Nothing was done. Please try again; whoever runs this server can find out more.",
    ),
}


def heading_and_hint(what: str) -> tuple[str, str]:
    """A heading, and what it means and what to do."""
    return _TOLD[what]


def try_again() -> str:
    return "Try again"


def sign_in() -> str:
    return "Sign in"


def sign_in_as_another() -> str:
    return "Sign in as somebody else"
