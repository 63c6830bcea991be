"""The portal: what `Portal` and its identities take, and the limits of its pages, secrets and accounts."""

from __future__ import annotations

from typing import Final

from midcall.settings.setting import Subject

portal: Final = Subject("Portal", "portal")

portal.add(
    "PORTAL_URL",
    None,
    "",
    "The address that users know the portal by.",
    argument="Portal(base_url=)",
    env="MIDCALL_PORTAL_URL",
    otherwise="it listens on this machine when it is first needed",
)
PORTAL_HOST: Final = portal.add(
    "PORTAL_HOST",
    "127.0.0.1",
    "",
    "Without an address: the loopback address to listen on.",
    argument="Portal(host=)",
    env="MIDCALL_PORTAL_HOST",
)
PORTAL_PORT: Final = portal.add(
    "PORTAL_PORT",
    0,
    "",
    "Without an address: the port to listen on; 0 takes any free one.",
    argument="Portal(port=)",
    env="MIDCALL_PORTAL_PORT",
)
PORTAL_TTL_SECONDS: Final = portal.add(
    "PORTAL_TTL_SECONDS",
    3600.0,
    "s",
    "A page can be answered for this long.",
    then="The page says that it has expired, and accepts no answer; the tool gets `TimedOut`.",
    argument="Portal(ttl=)",
    env="MIDCALL_PORTAL_TTL",
)
PORTAL_PAUSE_SECONDS: Final = portal.add(
    "PORTAL_PAUSE_SECONDS",
    0.7,
    "s",
    "A page to which another page has led takes no answer before it was shown this long: longer than a double click "
    "takes.",
    then="The answer doesn't count, and the page is shown again and says why.",
    argument="Portal(pause=)",
    env="MIDCALL_PORTAL_PAUSE",
)
PORTAL_DETACHED: Final = portal.add(
    "PORTAL_DETACHED",
    True,
    "",
    "Without an address, for a stdio server on Linux: whether a separate process serves open pages, so that their "
    "addresses work after the server has ended.",
    argument="Portal(detached=)",
    env="MIDCALL_PORTAL_DETACHED",
)
PAGES_IDLE_SECONDS: Final = portal.add(
    "PAGES_IDLE_SECONDS",
    15.0,
    "s",
    "The page process stays this long when no page is open.",
    then="It ends; the next page starts another.",
)
PAGES_POLL_SECONDS: Final = portal.add(
    "PAGES_POLL_SECONDS", 1.0, "s", "Between two checks of the page process for open pages.", interval=True
)
PAGES_LOCK_SECONDS: Final = portal.add(
    "PAGES_LOCK_SECONDS",
    3.0,
    "s",
    "A server waits this long for others that start or reach the page process.",
    then="It serves its pages itself, and their addresses end with it.",
)
PAGES_RETRY_SECONDS: Final = portal.add(
    "PAGES_RETRY_SECONDS", 0.02, "s", "Between two attempts to get their lock.", interval=True
)
PAGES_MESSAGE_BYTES: Final = portal.add(
    "PAGES_MESSAGE_BYTES",
    1_000_000,
    "bytes",
    "A server and the page process send each other messages of this size.",
    then="The connection is closed: that page is not served, or that secret is checked when its call continues.",
)
PAGES_LOG_BYTES: Final = portal.add(
    "PAGES_LOG_BYTES",
    100_000,
    "bytes",
    "The log of the page process may have this size.",
    then="It begins a new file, and keeps the one before.",
)
PAGES_STOP_SECONDS: Final = portal.add(
    "PAGES_STOP_SECONDS",
    10.0,
    "s",
    "`midcall pages --stop` waits this long for the page process.",
    then="The command fails, and says that it has not ended yet.",
    where="cli",
)
MAX_DETACHED_PAGES: Final = portal.add(
    "MAX_DETACHED_PAGES",
    1_000,
    "pages",
    "The page process stays for this many open pages of one server.",
    then="It does not stay for more, but still serves them.",
)
PAGE_NAME_CHARACTERS: Final = portal.add(
    "PAGE_NAME_CHARACTERS",
    200,
    "characters",
    "A page shows this much of the name of a server or client.",
    then="The name ends with an ellipsis.",
)
HEALTH_SECONDS: Final = portal.add(
    "HEALTH_SECONDS", 3.0, "s", "`/health` gives the store this long to answer.", then="`/health` returns 503."
)
NEXT_HOLD_SECONDS: Final = portal.add(
    "NEXT_HOLD_SECONDS",
    5.0,
    "s",
    "After an answer, a request of the browser waits this long for the next page of the call.",
    then="The page says that it waits, and asks again automatically.",
)
NEXT_SECONDS: Final = portal.add(
    "NEXT_SECONDS",
    60.0,
    "s",
    "After an answer, the browser waits this long in all for the next page of the call.",
    then="The page sends the user back to the client. Its button looks again.",
)
POST_BYTES: Final = portal.add(
    "POST_BYTES",
    1_000_000,
    "bytes",
    "The largest form that a page of the portal accepts.",
    then="The request is refused with 413.",
    where="web",
)
POST_VALUES: Final = portal.add(
    "POST_VALUES",
    20_000,
    "values",
    "The most values in such a form.",
    then="The request is refused with 413.",
    where="web",
)
APPROVAL_CHARACTERS: Final = portal.add(
    "APPROVAL_CHARACTERS",
    100_000,
    "characters",
    "The longest approval, message and details together: its page shows all of it.",
    then="`approve` raises `InvalidQuestion`.",
    where="server",
)
SECRET_CHARACTERS: Final = portal.add(
    "SECRET_CHARACTERS",
    65_536,
    "characters",
    "The longest secret that the portal accepts.",
    then="The page says that the secret is too long, and stores nothing.",
)
SECRET_NAME_BYTES: Final = portal.add(
    "SECRET_NAME_BYTES",
    400,
    "bytes",
    "The longest name of a secret.",
    then="`secret` raises `InvalidQuestion`, before anyone is asked.",
    where="server/verbs",
)
VAULT_NAMESPACE_BYTES: Final = portal.add(
    "VAULT_NAMESPACE_BYTES",
    512,
    "bytes",
    "The longest namespace that the vault stores as it is; a server's file may have a long path.",
    then="A digest takes its place.",
)
SECRET_CHECK_SECONDS: Final = portal.add(
    "SECRET_CHECK_SECONDS",
    30.0,
    "s",
    "`secret(check=)` has this long.",
    then="The page says that the secret couldn't be checked, and stores nothing.",
)
MAX_CACHED_PAGES: Final = portal.add(
    "MAX_CACHED_PAGES",
    256,
    "pages",
    "Keep this many drawn pages.",
    then="The oldest is dropped, and rendered again if it's needed.",
)
CACHED_PAGE_CHARACTERS: Final = portal.add(
    "CACHED_PAGE_CHARACTERS",
    100_000,
    "characters",
    "The longest page that is kept.",
    then="The page is rendered each time.",
)
SESSION_SECONDS: Final = portal.add(
    "SESSION_SECONDS",
    3600.0,
    "s",
    "A sign-in with OpenID Connect lasts this long.",
    then="The user signs in again.",
    argument="Oidc(session=)",
)
SIGN_IN_SECONDS: Final = portal.add(
    "SIGN_IN_SECONDS",
    600.0,
    "s",
    "From leaving for the issuer to coming back, at most.",
    then="The sign-in is refused, and can be started again.",
)
TOKEN_LEEWAY_SECONDS: Final = portal.add(
    "TOKEN_LEEWAY_SECONDS", 30, "s", "The clock of an issuer may differ by this much.", then="The token is refused."
)
PROVIDER_TIMEOUT_SECONDS: Final = portal.add(
    "PROVIDER_TIMEOUT_SECONDS",
    10.0,
    "s",
    "Wait for an issuer or an OAuth provider to answer, to its last byte.",
    then="The page says that the issuer or provider can't be reached, with 503.",
)
PROVIDER_BYTES: Final = portal.add(
    "PROVIDER_BYTES",
    1_000_000,
    "bytes",
    "The longest answer of an issuer or an OAuth provider.",
    then="It counts as unusable: the page reports it with 503, and the log says why.",
    where="web",
)
PROVIDER_FRESH_SECONDS: Final = portal.add(
    "PROVIDER_FRESH_SECONDS",
    3600.0,
    "s",
    "Keep what an issuer or a provider publishes this long.",
    then="It's fetched again when it's next needed.",
    where="web",
)
PROVIDER_AGAIN_SECONDS: Final = portal.add(
    "PROVIDER_AGAIN_SECONDS",
    10.0,
    "s",
    "Fetch it again after a failure, or for a token with an unknown key, at most this often.",
    then="Until then, such a token is refused.",
    where="web",
)
portal.add(
    "INTERNAL_HOSTS",
    None,
    "",
    "Hosts on this machine or in a private network that the metadata of an issuer elsewhere may name.",
    argument="Oidc(internal=), Provider.discover(internal=)",
    otherwise="none",
)
CONSENT_SECONDS: Final = portal.add(
    "CONSENT_SECONDS",
    600.0,
    "s",
    "From consent on our page to the provider's answer, at most.",
    then="The provider's answer is refused, and the user can start again.",
)
ACCESS_SKEW_SECONDS: Final = portal.add(
    "ACCESS_SKEW_SECONDS",
    60.0,
    "s",
    "Renew an access token this long before it expires.",
    then="`authorize` renews the token before it returns it.",
)
MAX_CONSENTS: Final = portal.add(
    "MAX_CONSENTS",
    8,
    "consents",
    "A browser may have this many consents under way.",
    then="The oldest is forgotten: its answer is refused.",
)
WEBHOOK_SECONDS: Final = portal.add(
    "WEBHOOK_SECONDS",
    3600.0,
    "s",
    "A webhook's URL stays valid this long.",
    then="`verify` raises `BadCallback`.",
    argument="Callbacks(lasts=)",
)
