"""Pages that say one thing: a heading, what it means, and what to do next."""

from __future__ import annotations

from midcall.language import _


def heading_and_hint(what: str) -> tuple[str, str]:
    """The heading of this notice, and what the user can do."""
    match what:
        case "unknown":
            return _("There is no such page"), _(
                "The link may be incomplete, or it expired long ago. Go back to where you found it and ask again."
            )
        case "refused":
            return _("This page cannot be trusted"), _(
                "Somebody may have changed it in the server's database, so nothing is shown, and nothing was done. "
                "Tell the person who runs this server."
            )
        case "expired":
            return _("This page has expired"), _(
                "Nothing was done. Go back to where you came from and ask for a new link."
            )
        case "wrong_user":
            return _("This page is for somebody else"), _(
                "You are signed in, but not as the user this page is for. Nothing was shown, and nothing was done. "
                "If somebody sent you this link, close it: you would be answering for them."
            )
        case "no_identity":
            return _("This server cannot tell who you are"), _(
                "So it shows and accepts nothing here. The person who runs it has to set up sign-in first."
            )
        case "other_user":
            return _("This page is for another user of this machine"), _(
                "Open it as the user who started the server, in a browser on the same machine."
            )
        case "sign_in_elsewhere":
            return _("Please sign in first"), _(
                "You are not signed in to this server. Sign in the way you usually do, then open this page again."
            )
        case "sign_in_again":
            return _("Your session has expired"), _("Nothing was done. Sign in again to come back to this page.")
        case "sign_in_lost":
            return _("This sign-in was not started here"), _(
                "It was started in another browser, or too long ago. Open your link again."
            )
        case "sign_in_refused":
            return _("You could not be signed in"), _(
                "The sign-in was rejected or interrupted. Nothing was shown, and nothing was done."
            )
        case "sign_in_away":
            return _("Sign-in is not available right now"), _(
                "The service that signs you in cannot be reached. Please try again later."
            )
        case "signed_out":
            return _("You are signed out"), _("To sign in again, open your link again.")
        case "not_from_page":
            return _("This request did not come from our page"), _(
                "Nothing was done. Another site may have tried to act for you, or your browser blocks cookies. "
                "Open the page again and answer there."
            )
        case "details_changed":
            return _("These are not the details that you were shown"), _(
                "Nothing was done. Open the page again and check the details."
            )
        case "too_large":
            return _("Request too large"), _("More was sent than this page accepts. Nothing was done.")
        case "not_understood":
            return _("Request not understood"), _("Nothing was done. Open the page again and answer there.")
        case "too_often":
            return _("Too many attempts"), _(
                "Many pages that do not exist were opened from here. Wait a minute, then try again."
            )
        case "store_away":
            return _("This page is not available right now"), _(
                "The server cannot reach its database. Nothing is lost: please try again later."
            )
        case "wrong_host":
            return _("This is not the address of this page"), _("Open the link exactly as you got it.")
        case "oauth_refused":
            return _("The account was not connected"), _(
                "The connection was started in another browser, too long ago, or twice, or the other service rejected "
                "it. Nothing was stored. Open your link again."
            )
        case "oauth_away":
            return _("The other service does not respond"), _(
                "The service that you want to connect cannot be reached right now. Please try again later."
            )
        case "not_ready":
            return _("Not ready yet"), _("This portal is not installed on a server.")
        case _:
            return _("Something went wrong"), _(
                "Nothing was done. Please try again. The person who runs this server can find out more."
            )
