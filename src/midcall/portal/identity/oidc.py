"""Whoever signs in with the issuer of the MCP access tokens. The portal is a client of its own there."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from midcall.errors import InstallError
from midcall.portal.identity.base import Caller, Ground, Key, caller_key, key_of
from midcall.portal.identity.tokens import ALGORITHMS, Away, InvalidToken, Keys, fetch, problem
from midcall.portal.logs import logger
from midcall.portal.pages.posted import posted
from midcall.web.public_url import place_at

__all__ = ["Oidc"]

_SESSION: Final = 3600.0
_SIGNING_IN: Final = 600.0
_LEEWAY: Final = 30
_TIMEOUT: Final = 10.0
_BACK: Final = "/signed-in"
_OURS: Final = re.compile(r"/mine|/i/[A-Za-z0-9_\-]{1,200}")


@dataclass(frozen=True, slots=True)
class _Issuer:
    """What the issuer publishes about itself."""

    authorize: str
    token: str
    keys: Keys
    algorithms: tuple[str, ...]
    auth: str


class Oidc:
    """The same issuer and subject as in the MCP access token, by OpenID Connect.

    Args:
        issuer: The issuer, exactly as its tokens name it.
        client_id: The portal's own registration there, with `<base_url>/signed-in` as its redirect URI.
        client_secret: Its secret; without one it is a public client, which PKCE protects.
        key: Makes the identity key of claims, of the id token's and of the MCP access token's alike, where issuer and
            subject will not do: `key=lambda claims: claims["oid"]` for Entra, whose subjects differ by client.
        scopes: What to ask for at sign-in.
        session: For how many seconds a sign-in is good.
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str | None = None,
        *,
        key: Key | None = None,
        scopes: Sequence[str] = ("openid", "profile", "email"),
        session: float = _SESSION,
    ) -> None:
        place_at(issuer, wrong=_bad_issuer)  # https, or loopback
        if not client_id or "openid" not in scopes or not session > 0:
            raise InstallError(_bad_oidc())
        self._issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._key = key
        self._scopes = " ".join(scopes)
        self._session = session
        self._known: _Issuer | None = None
        self._ground: Ground
        self.routes: Sequence[Route] = (
            Route(_BACK, self._signed_in),
            Route("/sign-out", self._sign_out, methods=["POST"]),
        )

    def settle(self, ground: Ground) -> None:
        self._ground = ground

    # --- who it is ------------------------------------------------------------------------------

    async def visitor(self, request: Request) -> str | None:
        return self._signed_in_as(request).get("key")

    def name(self, request: Request) -> str:
        return self._signed_in_as(request).get("name", "")

    def owner(self, caller: Caller) -> str:
        return caller_key(caller, self._key)

    def _signed_in_as(self, request: Request) -> dict[str, str]:
        """The session names its issuer and client: settings that have changed end it."""
        session: Any = self._ground.cookies.get(request.cookies, "session", within=self._session)
        mine = isinstance(session, dict) and cast("dict[str, Any]", session).get("at") == self._at()
        return cast("dict[str, str]", session) if mine else {}

    def _at(self) -> list[str]:
        return [self._issuer, self._client_id]

    async def trouble(self) -> str | None:
        """Why nobody can sign in now; None if the issuer describes itself as it must. For `midcall doctor`."""
        try:
            await self._discovered()
        except Away as exc:
            return _issuer_away(str(exc))
        return None

    # --- signing in -----------------------------------------------------------------------------

    async def sign_in(self, request: Request, back: str) -> Response:
        """Off to the issuer, with state, nonce and PKCE that only this browser can finish."""
        begun = {name: secrets.token_urlsafe(32) for name in ("state", "nonce", "verifier")}
        try:
            url = await self._authorize_url(begun, again="again" in request.query_params)
        except Away as exc:
            return self._unavailable(str(exc))
        response = RedirectResponse(url, 303)
        self._ground.cookies.set(response, "signing-in", {**begun, "back": back}, seconds=_SIGNING_IN)
        return response

    async def _authorize_url(self, begun: Mapping[str, str], *, again: bool) -> str:
        issuer = await self._discovered()
        more = {"prompt": "login"} if again else {}
        async with self._client(issuer) as client:
            url, _ = client.create_authorization_url(
                issuer.authorize, state=begun["state"], nonce=begun["nonce"], code_verifier=begun["verifier"], **more
            )
        return url

    async def _signed_in(self, request: Request) -> Response:
        """The issuer sends the browser back here."""
        begun = self._begun(request)
        if begun is None:
            logger.warning(_sign_in_lost())
            return self._told("sign_in_lost", 400, drop=True)
        said = request.query_params
        if "code" not in said or said.get("iss", self._issuer) != self._issuer:
            logger.info(_sign_in_refused(said.get("error", "no code")[:40] if "error" in said else "no code"))
            return self._told("sign_in_refused", 403, drop=True, again=begun["back"])
        try:
            claims = await self._exchange(said["code"], begun)
        except Away as exc:
            return self._unavailable(str(exc))
        except InvalidToken as exc:
            logger.warning(_id_token_refused(str(exc)))
            return self._told("sign_in_refused", 403, drop=True, again=begun["back"])
        return self._welcome(claims, begun["back"])

    def _begun(self, request: Request) -> dict[str, str] | None:
        """The sign-in that this very browser has begun, if it is the one that comes back."""
        begun: Any = self._ground.cookies.get(request.cookies, "signing-in", within=_SIGNING_IN)
        if not isinstance(begun, dict):
            return None
        found, state = cast("dict[str, str]", begun), request.query_params.get("state", "")
        return found if hmac.compare_digest(found["state"].encode(), state.encode("utf-8", "replace")) else None

    async def _exchange(self, code: str, begun: Mapping[str, str]) -> Mapping[str, Any]:
        issuer = await self._discovered()
        try:
            async with self._client(issuer) as client:
                tokens = await client.fetch_token(issuer.token, code=code, code_verifier=begun["verifier"])
        except httpx2.HTTPError as exc:
            raise Away(type(exc).__name__) from None
        except (AuthlibBaseError, ValueError, KeyError) as exc:
            raise InvalidToken(type(exc).__name__) from None
        claims, header = await issuer.keys.claims(str(tokens.get("id_token", "")), algorithms=issuer.algorithms)
        return self._checked(claims, header, begun["nonce"], str(tokens.get("access_token", "")))

    def _checked(
        self, claims: dict[str, Any], header: dict[str, Any], nonce: str, access_token: str
    ) -> Mapping[str, Any]:
        wanted = {
            "iss": {"essential": True, "value": self._issuer},
            "aud": {"essential": True, "value": self._client_id},
        }
        params = {"nonce": nonce, "client_id": self._client_id, "access_token": access_token}
        token: Any = CodeIDToken(claims, header, wanted, params)
        try:
            token.validate(leeway=_LEEWAY)
        except (AuthlibBaseError, JoseError, ValueError) as exc:
            raise InvalidToken(problem(exc)) from None
        return claims

    def _welcome(self, claims: Mapping[str, Any], back: str) -> Response:
        key = key_of(claims, self._key)
        if not key:
            logger.error(_no_identity_key())
            return self._told("sign_in_refused", 403, drop=True)
        name = str(claims.get("email") or claims.get("preferred_username") or claims.get("name") or claims["sub"])
        response = RedirectResponse(f"{self._ground.place.path}{back}", 303)
        session = {"key": key, "name": name[:200], "at": self._at()}
        self._ground.cookies.set(response, "session", session, seconds=self._session)
        self._ground.cookies.drop(response, "signing-in")
        return response

    async def _sign_out(self, request: Request) -> Response:
        """Ends the session of this browser with us; the issuer's own is the issuer's."""
        if not self._ground.place.is_from_page(request.headers):
            return self._told("not_from_page", 403)
        back = (await posted(request)).last("back")
        known = _OURS.fullmatch(back) is not None
        there = f"{self._ground.place.path}{back}?again=1"
        response = RedirectResponse(there, 303) if known else self._ground.views.told("signed_out", 200)
        self._ground.cookies.drop(response, "session")
        return response

    # --- the issuer -----------------------------------------------------------------------------

    async def _discovered(self) -> _Issuer:
        if self._known is None:
            self._known = self._described(await fetch(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"))
        return self._known

    def _described(self, said: Mapping[str, Any]) -> _Issuer:
        if said.get("issuer") != self._issuer:
            raise Away(_other_issuer(str(said.get("issuer"))[:200], self._issuer))
        try:
            endpoints = [str(said[name]) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
            for each in endpoints:
                place_at(each.partition("?")[0])
        except (KeyError, InstallError):
            raise Away("metadata") from None
        offered = said.get("id_token_signing_alg_values_supported") or ["RS256"]
        algorithms = tuple(each for each in ALGORITHMS if each in offered)
        return _Issuer(endpoints[0], endpoints[1], Keys(endpoints[2]), algorithms, self._auth(said))

    def _auth(self, said: Mapping[str, Any]) -> str:
        if self._client_secret is None:
            return "none"
        known = said.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        return "client_secret_basic" if "client_secret_basic" in known else "client_secret_post"

    def _client(self, issuer: _Issuer) -> Any:
        make: Any = AsyncOAuth2Client
        return make(
            self._client_id,
            self._client_secret,
            scope=self._scopes,
            redirect_uri=f"{self._ground.place.url}{_BACK}",
            token_endpoint_auth_method=issuer.auth,
            code_challenge_method="S256",
            timeout=_TIMEOUT,
        )

    # --- what is said ---------------------------------------------------------------------------

    def _unavailable(self, why: str) -> Response:
        logger.error(_issuer_away(why))
        return self._told("sign_in_away", 503)

    def _told(self, what: str, status: int, *, drop: bool = False, again: str = "") -> Response:
        response = self._ground.views.told(what, status, again=again)
        if drop:
            self._ground.cookies.drop(response, "signing-in")
        return response


def _bad_issuer(url: str, why: str) -> str:
    return f"An issuer cannot be at {url!r}: {why}."


def _bad_oidc() -> str:
    return 'Oidc(...) needs an issuer, a client_id, scopes with "openid", and a positive session.'


def _issuer_away(why: str) -> str:
    return f"the issuer that signs users in cannot be used: {why}"


def _other_issuer(named: str, wanted: str) -> str:
    return f"its metadata names the issuer {named!r}, and {wanted!r} was set: they must be the same to the letter"


def _sign_in_lost() -> str:
    return (
        "a sign-in came back that was not begun here: in another browser, too long ago, or with a replica that has "
        "other keys or another time"
    )


def _id_token_refused(why: str) -> str:
    return f"an id token was refused: {why}"


def _sign_in_refused(why: str) -> str:
    return f"a sign-in was refused by the issuer: {why}"


def _no_identity_key() -> str:
    return "the id token has no identity key: see key= of Oidc"
