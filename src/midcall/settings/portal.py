"""The portal: what `Portal` and its identities take, and the limits of its pages, secrets and accounts."""

from __future__ import annotations

from typing import Final

PORTAL_URL: Final = None
"""The address that users know the portal by.
Default: it listens on this machine when it is first needed
Argument: Portal(base_url=)
Variable: MIDCALL_PORTAL_URL"""
PORTAL_HOST: Final = "127.0.0.1"
"""Without an address: the loopback address to listen on.
Argument: Portal(host=)
Variable: MIDCALL_PORTAL_HOST"""
PORTAL_PORT: Final = 0
"""Without an address: the port to listen on; 0 takes any free one.
Argument: Portal(port=)
Variable: MIDCALL_PORTAL_PORT"""
PORTAL_TTL_SECONDS: Final = 3600.0
"""A page can be answered for this long.
Then: The page says that it has expired, and accepts no answer; the tool gets `TimedOut`.
Argument: Portal(ttl=)
Variable: MIDCALL_PORTAL_TTL"""
PORTAL_PAUSE_SECONDS: Final = 0.7
"""A page to which another page has led takes no answer before it was shown this long: longer than a double click takes.
Then: The answer doesn't count, and the page is shown again and says why.
Argument: Portal(pause=)
Variable: MIDCALL_PORTAL_PAUSE"""
PORTAL_DETACHED: Final = True
"""Without an address, for a stdio server on Linux: whether a separate process serves open pages, so that their
addresses work after the server has ended.
Argument: Portal(detached=)
Variable: MIDCALL_PORTAL_DETACHED"""
PAGES_IDLE_SECONDS: Final = 15.0
"""The page process stays this long when no page is open.
Then: It ends; the next page starts another."""
PAGES_POLL_SECONDS: Final = 1.0
"""Between two checks of the page process for open pages."""
PAGES_LOCK_SECONDS: Final = 3.0
"""A server waits this long for others that start or reach the page process.
Then: It serves its pages itself, and their addresses end with it."""
PAGES_RETRY_SECONDS: Final = 0.02
"""Between two attempts to get their lock."""
PAGES_MESSAGE_BYTES: Final = 1_000_000
"""A server and the page process send each other messages of this size.
Then: The connection is closed: that page is not served, or that secret is checked when its call continues."""
PAGES_LOG_BYTES: Final = 100_000
"""The log of the page process may have this size.
Then: It begins a new file, and keeps the one before."""
PAGES_STOP_SECONDS: Final = 10.0
"""`midcall pages --stop` waits this long for the page process.
Then: The command fails, and says that it has not ended yet."""
MAX_DETACHED_PAGES: Final = 1_000
"""The page process stays for this many open pages of one server.
Then: It does not stay for more, but still serves them."""
PAGE_NAME_CHARACTERS: Final = 200
"""A page shows this much of the name of a server or client.
Then: The name ends with an ellipsis."""
HEALTH_SECONDS: Final = 3.0
"""`/health` gives the store this long to answer.
Then: `/health` returns 503."""
NEXT_HOLD_SECONDS: Final = 5.0
"""After an answer, a request of the browser waits this long for the next page of the call.
Then: The page says that it waits, and asks again automatically."""
NEXT_SECONDS: Final = 60.0
"""After an answer, the browser waits this long in all for the next page of the call.
Then: The page sends the user back to the client. Its button looks again."""
POST_BYTES: Final = 1_000_000
"""The largest form that a page of the portal accepts.
Then: The request is refused with 413."""
POST_VALUES: Final = 20_000
"""The most values in such a form.
Then: The request is refused with 413."""
APPROVAL_CHARACTERS: Final = 100_000
"""The longest approval, message and details together: its page shows all of it.
Then: `approve` raises `InvalidQuestion`."""
SECRET_CHARACTERS: Final = 65_536
"""The longest secret that the portal accepts.
Then: The page says that the secret is too long, and stores nothing."""
SECRET_NAME_BYTES: Final = 400
"""The longest name of a secret.
Then: `secret` raises `InvalidQuestion`, before anyone is asked."""
VAULT_NAMESPACE_BYTES: Final = 512
"""The longest namespace that the vault stores as it is; a server's file may have a long path.
Then: A digest takes its place."""
SECRET_CHECK_SECONDS: Final = 30.0
"""`secret(check=)` has this long.
Then: The page says that the secret couldn't be checked, and stores nothing."""
MAX_CACHED_PAGES: Final = 256
"""Keep this many drawn pages.
Then: The oldest is dropped, and rendered again if it's needed."""
CACHED_PAGE_CHARACTERS: Final = 100_000
"""The longest page that is kept.
Then: The page is rendered each time."""
SESSION_SECONDS: Final = 3600.0
"""A sign-in with OpenID Connect lasts this long.
Then: The user signs in again.
Argument: Oidc(session=)"""
SIGN_IN_SECONDS: Final = 600.0
"""From leaving for the issuer to coming back, at most.
Then: The sign-in is refused, and can be started again."""
TOKEN_LEEWAY_SECONDS: Final = 30
"""The clock of an issuer may differ by this much.
Then: The token is refused."""
PROVIDER_TIMEOUT_SECONDS: Final = 10.0
"""Wait for an issuer or an OAuth provider to answer, to its last byte.
Then: The page says that the issuer or provider can't be reached, with 503."""
PROVIDER_BYTES: Final = 1_000_000
"""The longest answer of an issuer or an OAuth provider.
Then: It counts as unusable: the page reports it with 503, and the log says why."""
PROVIDER_FRESH_SECONDS: Final = 3600.0
"""Keep what an issuer or a provider publishes this long.
Then: It's fetched again when it's next needed."""
PROVIDER_AGAIN_SECONDS: Final = 10.0
"""Fetch it again after a failure, or for a token with an unknown key, at most this often.
Then: Until then, such a token is refused."""
INTERNAL_HOSTS: Final = None
"""Hosts on this machine or in a private network that the metadata of an issuer elsewhere may name.
Default: none
Argument: Oidc(internal=), Provider.discover(internal=)"""
CONSENT_SECONDS: Final = 600.0
"""From consent on our page to the provider's answer, at most.
Then: The provider's answer is refused, and the user can start again."""
ACCESS_SKEW_SECONDS: Final = 60.0
"""Renew an access token this long before it expires.
Then: `authorize` renews the token before it returns it."""
MAX_CONSENTS: Final = 8
"""A browser may have this many consents under way.
Then: The oldest is forgotten: its answer is refused."""
WEBHOOK_SECONDS: Final = 3600.0
"""A webhook's URL stays valid this long.
Then: `verify` raises `BadCallback`.
Argument: Callbacks(lasts=)"""
