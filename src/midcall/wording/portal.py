"""Every sentence on the pages of the portal, and what the portal says to authors and logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__: list[str] = []


# --- on every page ---------------------------------------------------------------------------
def unnamed_server() -> str:
    return "A server without a name"


def unnamed_client() -> str:
    return "a client without a name"


def signed_in_as(name: str) -> str:
    return f"Signed in as {name}"


def what_is_kept() -> str:
    return "What is kept about me"


def server_says(server: str) -> str:
    return f"{server} says"


def facts() -> str:
    return "About this page"


def fact_server() -> str:
    return "Server"


def fact_client() -> str:
    return "Asked through"


def fact_until() -> str:
    return "Open until"


def until(moment: str) -> str:
    return f"{moment} UTC"


def time_left(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute left"
    if minutes < 120:
        return f"{minutes} {'minute' if minutes == 1 else 'minutes'} left"
    hours = minutes // 60
    return f"{hours} hours left" if hours < 48 else f"{hours // 24} days left"


def decline() -> str:
    return "Decline"


def cancel() -> str:
    return "Cancel"


def what_they_do(server: str) -> str:
    return f"Decline tells {server} that you said no. Cancel decides nothing: you can be asked again."


def required_note() -> str:
    return "required"


# --- a secret --------------------------------------------------------------------------------
def secret_title(name: str, server: str) -> str:
    return f"Enter “{name}” for {server}"


def secret_save() -> str:
    return "Save"


def secret_note(server: str, client: str) -> str:
    return f"It goes to {server} only and is kept encrypted. {sentence(client)} and the model never see it."


def secret_missing() -> str:
    return "is required"


def secret_too_long() -> str:
    return "is longer than a secret can be"


def secret_unchecked() -> str:
    return "could not be checked just now. Nothing was saved. Please try again"


def try_later(seconds: int) -> str:
    return f"Please try again in {seconds} {'second' if seconds == 1 else 'seconds'}."


# --- an authorization ------------------------------------------------------------------------
def authorize_title(provider: str, server: str) -> str:
    return f"Connect {provider} to {server}"


def authorize_what(provider: str, server: str) -> str:
    return f"{provider} will ask you next whether {server} may have access:"


def authorize_all(provider: str, server: str) -> str:
    return f"{provider} will ask you next whether {server} may have access."


def scopes() -> str:
    return "What it asks for"


def authorize_go(provider: str) -> str:
    return f"Go on to {provider}"


def authorize_note(server: str, client: str) -> str:
    return (
        f"The access is kept by {server}, encrypted, and only for you. {sentence(client)} and the model never see it. "
        "You can take it back at any time."
    )


# --- an approval -----------------------------------------------------------------------------
def approve_title(server: str) -> str:
    return f"{server} asks for your approval"


def approve_details() -> str:
    return "Exactly this will be done"


def approve_go() -> str:
    return "Approve"


def approve_note(server: str) -> str:
    return f"Your approval is good for exactly what is shown here, and once. {what_they_do(server)}"


def nothing() -> str:
    return "(nothing)"


def yes_or_no(value: bool) -> str:
    return "Yes" if value else "No"


# --- a form ----------------------------------------------------------------------------------
def form_title(server: str) -> str:
    return f"{server} asks"


def form_send() -> str:
    return "Send"


def form_too_large() -> str:
    return "This form is too large for a page. You can only decline or cancel it."


# --- what became of it -----------------------------------------------------------------------
def ended_title(kind: str, action: str) -> str:
    if action != "accept":
        return "You declined" if action == "decline" else "Cancelled"
    return {"secret": "Saved", "authorize": "Connected", "approve": "Approved", "form": "Sent"}[kind]


def ended_hint(kind: str, action: str, server: str, client: str) -> str:
    if action == "decline":
        return f"{server} was told that you said no. Nothing else was done."
    if action == "cancel":
        return f"Nothing was done. {server} may ask again."
    done = {
        "secret": f"{server} has what it needs.",
        "authorize": f"{server} has the access that you gave.",
        "approve": f"{server} goes on with exactly what you saw.",
        "form": f"{server} has your answer.",
    }[kind]
    return f"{done} You can close this page and go back to {client}."


def already_title() -> str:
    return "This was answered already"


def already_hint(kind: str, action: str, moment: str) -> str:
    said = {"accept": ended_title(kind, "accept").lower(), "decline": "declined", "cancel": "cancelled"}[action]
    return f"It was {said} on {moment} UTC. That cannot be changed here, and nothing was done a second time."


def already_somewhere() -> str:
    return "Another window or another press of the button was first. Nothing was done a second time."


# --- refusals, each with what to do next ------------------------------------------------------
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


def told(what: str) -> tuple[str, str]:
    """A heading, and what it means and what to do."""
    return _TOLD[what]


def try_again() -> str:
    return "Try again"


def sign_in() -> str:
    return "Sign in"


def sign_in_as_another() -> str:
    return "Sign in as somebody else"


# --- what is kept about me -------------------------------------------------------------------
def mine_title(server: str) -> str:
    return f"What {server} keeps about you"


def mine_lead() -> str:
    return "Only names and dates are shown. The values themselves are encrypted, and no page ever shows them."


def mine_nothing() -> str:
    return "Nothing is kept."


def mine_secret() -> str:
    return "A secret that you entered"


def mine_access(provider: str) -> str:
    return f"Access to {provider}"


def mine_since(moment: str) -> str:
    return f"since {moment} UTC"


def mine_delete() -> str:
    return "Delete"


def mine_delete_this(name: str) -> str:
    return f"Delete {name}"


def mine_delete_all() -> str:
    return "Delete everything"


def mine_delete_all_sure(count: int) -> str:
    return "Yes, delete it" if count == 1 else f"Yes, delete all {count}"


def mine_delete_hint() -> str:
    return "What is deleted is asked for again when it is needed. Access to other services is taken back there, too."


def mine_deleted(names: Sequence[str]) -> str:
    return f"Deleted: {', '.join(names)}." if names else "That was deleted already."


def mine_not_revoked(names: Sequence[str]) -> str:
    return f"{', '.join(names)} could not be told. Take the access back in your settings there."


# --- small words -----------------------------------------------------------------------------
def sentence(text: str) -> str:
    """With a capital letter in front."""
    return text[:1].upper() + text[1:]


# --- for the author --------------------------------------------------------------------------
def bad_base_url(url: str, why: str) -> str:
    return f"A portal cannot be at {url!r}: {why}."


def bad_issuer(url: str, why: str) -> str:
    return f"An issuer cannot be at {url!r}: {why}."


def bad_key_set(url: str, why: str) -> str:
    return f"The keys of a proxy cannot be at {url!r}: {why}."


def not_absolute() -> str:
    return "give a full address, such as https://www.example.com"


def more_than_a_path() -> str:
    return "the address may have a path, but no query, no fragment and no user name"


def not_https() -> str:
    return "it must be https, except on loopback"


def bad_loopback_host(host: str) -> str:
    return (
        f"A portal without a base_url listens on this machine only, and {host!r} is not loopback. Give it a base_url."
    )


def bad_portal_ttl(ttl: float) -> str:
    return f"ttl={ttl!r} must be a positive number of seconds."


def no_such_templates(path: str) -> str:
    return f"templates={path!r} is no directory."


def two_portals() -> str:
    return "This portal is installed on a server already; each server needs one of its own."


def not_bound() -> str:
    return "This portal is not installed yet: pass it to midcall.install(..., portal=portal)."


def not_started() -> str:
    return "This portal has no address before it listens: await portal.start() first."


def loopback_not_listening(why: str) -> str:
    return f"The portal cannot listen on this machine: {why}."


def wrong_checks(names: Sequence[str]) -> str:
    return f"checks= must be async functions, one for each secret: {', '.join(names)}."


def bad_identity() -> str:
    return "identity= takes Oidc(...), ProxyJwt(...), Loopback(), or an async function of the request."


def loopback_needs_loopback() -> str:
    return "Loopback() tells who sits at this machine: it needs a base_url on loopback, or none."


def bad_oidc() -> str:
    return 'Oidc(...) needs an issuer, a client_id, scopes with "openid", and a positive session.'


def bad_proxy_jwt() -> str:
    return "ProxyJwt(...) needs a header, an issuer, an audience, and either jwks_url= or keys= with a JWK set."


def weak_algorithms(names: Sequence[str]) -> str:
    return f"These signatures prove nothing here: {', '.join(names)}."


def only_forms() -> str:
    return (
        "This portal cannot tell who is looking, so it serves only plain forms: "
        "give it identity=Oidc(...) or another identity."
    )


def owner_unknown() -> str:
    return "It is not known who made this call, so nobody can be recognised on the page: let MCP authorization tell."


def no_provider(name: str, known: Sequence[str]) -> str:
    return f"This portal has no provider {name!r}; it has {', '.join(known) or 'none'}."


# --- for logs (no id, no value) --------------------------------------------------------------
def opened(kind: str, digest: str) -> str:
    return f"{kind} {digest} was opened"


def finished(kind: str, digest: str, action: str, became: str) -> str:
    return f"{kind} {digest}: {action}, {became}"


def refused(digest: str, why: str) -> str:
    return f"{digest} was refused: {why}"


def check_failed(name: str, error: str) -> str:
    return f"the check of the secret {name!r} failed with {error}; nothing was saved"


def finish_hook_failed(digest: str, error: str) -> str:
    return f"{digest} is finished, but telling so failed with {error}"


def store_unreachable(error: str) -> str:
    return f"the store cannot be reached: {error}"


def page_failed(error: str) -> str:
    return f"a page failed with {error}"


def failed_at(frames: str) -> str:
    return f"it failed here, for a reason whose text is not logged:\n{frames}"


def issuer_away(why: str) -> str:
    return f"the issuer that signs users in cannot be used: {why}"


def other_issuer() -> str:
    return "its metadata names another issuer than the one that was set"


def id_token_refused(why: str) -> str:
    return f"an id token was refused: {why}"


def sign_in_refused(why: str) -> str:
    return f"a sign-in was refused by the issuer: {why}"


def no_identity_key() -> str:
    return "the id token has no identity key: see key= of Oidc"


def assertion_refused(why: str) -> str:
    return f"the proxy's assertion was refused: {why}"


def revoke_failed(provider: str, error: str) -> str:
    return f"access to {provider} was deleted, but could not be revoked there: {error}"


def oauth_failed(error: str) -> str:
    return f"an authorization was refused: {error}"


def listening_at(url: str) -> str:
    return f"the portal listens at {url}"


def needs_extra() -> str:
    return 'The portal needs packages that are not installed: pip install "midcall[portal]"'
