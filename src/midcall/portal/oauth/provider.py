"""A provider: a service where users have accounts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args
from urllib.parse import parse_qsl, urlsplit

from midcall.core.urls import is_safe
from midcall.errors import InstallError
from midcall.web.fetching import Reach

TokenAuth: TypeAlias = Literal["client_secret_basic", "client_secret_post", "none"]
"""How we authenticate at the token endpoint."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_RESERVED: Final = frozenset(
    {"response_type", "client_id", "client_secret", "redirect_uri", "scope", "state", "resource", "code"}
    | {"code_challenge", "code_challenge_method", "code_verifier", "request", "request_uri", "response_mode"}
)


@dataclass(frozen=True, slots=True)
class Provider:
    """A service where users have accounts.

        Provider("github", authorize_url="https://...", token_url="https://...", client_id=..., client_secret=...)
        Provider.discover("acme", issuer="https://id.acme.example", client_id=..., client_secret=...)

    Raises:
        InstallError: A setting is missing, or two contradict each other.
    """

    name: str
    """The name that tools use: `await authorize("github")`."""
    authorize_url: str | None = field(default=None, kw_only=True)
    token_url: str | None = field(default=None, kw_only=True)
    client_id: str = field(kw_only=True)
    client_secret: str | None = field(default=None, kw_only=True, repr=False)
    """None for a public client, which has only PKCE."""
    scopes: Sequence[str] = field(default=(), kw_only=True)
    revoke_url: str | None = field(default=None, kw_only=True)
    title: str = field(default="", kw_only=True)
    """The name that users see. Default: `name`."""
    issuer: str | None = field(default=None, kw_only=True)
    """Its issuer identifier (`iss`, RFC 9207). Without one, an `iss` must be on the host of `authorize_url`."""
    sends_issuer: bool = field(default=False, kw_only=True)
    """Whether it always sends `iss` with the browser. Discovery finds out automatically."""
    resource: str | None = field(default=None, kw_only=True)
    """The API that the tokens are for (RFC 8707)."""
    extra: Mapping[str, str] = field(default_factory=dict[str, str], kw_only=True)
    """More parameters of the authorization request, such as `audience` or `access_type`."""
    token_auth: TokenAuth | None = field(default=None, kw_only=True)
    """Default: what the provider publishes, or `client_secret_basic`; `none` without a secret."""
    internal: Sequence[str] = field(default=(), kw_only=True)
    """Hosts on this machine or in a private network that its metadata may name, though the issuer is elsewhere."""
    reach: Reach = field(init=False, compare=False, repr=False)
    """Where its metadata may point."""

    def __post_init__(self) -> None:
        _check_name(self)
        _check_urls(self)
        _check_client(self)
        _check_request(self)
        object.__setattr__(self, "scopes", tuple(self.scopes))
        object.__setattr__(self, "internal", tuple(self.internal))
        object.__setattr__(self, "reach", Reach(self.issuer or "", self.internal))
        object.__setattr__(self, "extra", dict(self.extra))
        object.__setattr__(self, "title", self.title or self.name)

    def __hash__(self) -> int:
        return hash((self.name, self.grantor, self.client_id))

    @classmethod
    def discover(
        cls,
        name: str,
        *,
        issuer: str,
        client_id: str,
        client_secret: str | None = None,
        scopes: Sequence[str] = (),
        title: str = "",
        resource: str | None = None,
        extra: Mapping[str, str] | None = None,
        token_auth: TokenAuth | None = None,
        internal: Sequence[str] = (),
    ) -> Provider:
        """A provider that publishes its endpoints (OpenID Connect Discovery, RFC 8414).

        Its metadata is fetched when it is first needed, so your server starts even if the provider is down.
        """
        return cls(
            name,
            issuer=issuer,
            client_id=client_id,
            client_secret=client_secret,
            scopes=scopes,
            title=title,
            resource=resource,
            extra=extra or {},
            token_auth=token_auth,
            internal=internal,
        )

    @classmethod
    def github(
        cls, client_id: str, client_secret: str, scopes: Sequence[str] = (), *, name: str = "github"
    ) -> Provider:
        """An OAuth app at github.com."""
        return cls(
            name,
            authorize_url="https://github.com/login/oauth/authorize",
            token_url="https://github.com/login/oauth/access_token",
            client_id=client_id,
            client_secret=client_secret,
            scopes=scopes,
            title="GitHub",
            token_auth="client_secret_post",
        )

    @property
    def uses_discovery(self) -> bool:
        """Whether its endpoints come from its metadata."""
        return self.authorize_url is None

    @property
    def grantor(self) -> str:
        """Who grants the tokens. Tokens from one are never sent to another."""
        return self.token_url or self.issuer or ""


def _check_name(provider: Provider) -> None:
    if not _NAME.fullmatch(provider.name):
        raise InstallError(
            f"{provider.name!r} cannot name a provider: use 1 to 40 lower-case letters, digits, - and _, and "
            "begin with a letter."
        )


def _check_urls(provider: Provider) -> None:
    given = (provider.authorize_url, provider.token_url)
    if not all(given) and (any(given) or not provider.issuer):
        raise InstallError(
            f"{provider.name}: authorize_url= and token_url= are both needed. Provider.discover(...) finds them "
            "by its issuer."
        )
    for name in ("authorize_url", "token_url", "revoke_url", "issuer"):
        url: str | None = getattr(provider, name)
        if url is not None and not is_safe(url):
            raise InstallError(
                f"{provider.name}: {name}={url!r} must be an https URL without user and fragment (http only on "
                "loopback)."
            )


def _check_client(provider: Provider) -> None:
    if not provider.client_id:
        raise InstallError(
            f"{provider.name}: client_id= is missing. The provider gives it to you when you register this server there."
        )
    method = provider.token_auth
    if method is not None and method not in get_args(TokenAuth):
        raise InstallError(f"{provider.name}: token_auth={method!r} must be one of {', '.join(get_args(TokenAuth))}.")
    if method is not None and (method == "none") == bool(provider.client_secret):
        raise InstallError(
            f"{provider.name}: token_auth={method!r} needs client_secret=, and client_secret= needs a method "
            "other than 'none'."
        )


def _check_request(provider: Provider) -> None:
    scopes = provider.scopes
    if isinstance(scopes, str) or not all(scope and not re.search(r"\s", scope) for scope in scopes):
        raise InstallError(
            f"{provider.name}: scopes={scopes!r} must be a list of scopes without spaces, such as ['repo', "
            "'read:user']."
        )
    query = parse_qsl(urlsplit(provider.authorize_url or "").query, keep_blank_values=True)
    for parameter in (*provider.extra, *(name for name, _ in query)):
        if parameter in _RESERVED:
            raise InstallError(f"{provider.name}: extra= must not set {parameter!r}, which is set for you.")
