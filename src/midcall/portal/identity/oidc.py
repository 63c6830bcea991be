"""The user who signs in with the issuer of the MCP access tokens. The portal has its own client there."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from midcall.errors import InstallError
from midcall.portal.identity.base import Caller, Key, caller_key, key_of
from midcall.portal.identity.jwt import ALGORITHMS, InvalidToken, Keys, Unavailable, describe_problem, fetch
from midcall.portal.logs import logger
from midcall.settings import PROVIDER_TIMEOUT_SECONDS, SESSION_SECONDS, SIGN_IN_SECONDS, TOKEN_LEEWAY_SECONDS
from midcall.web.public_url import place_at
from midcall.web.security import read_posted

if TYPE_CHECKING:
    from midcall.portal.access import Access

_BACK: Final = "/signed-in"
_OURS: Final = re.compile(r"/mine|/i/[A-Za-z0-9_\-]{1,200}")


@dataclass(frozen=True, slots=True)
class _Issuer:
    """The issuer's metadata."""

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
        key: Makes the identity key from the claims of the id token and of the MCP access token, if issuer and
            subject will not do: `key=lambda claims: claims["oid"]` for Entra, whose subjects differ by client.
        scopes: What to request at sign-in.
        session: For how many seconds a sign-in is valid.
    """

    def __init__(
        self,
        issuer: str,
        client_id: str,
        client_secret: str | None = None,
        *,
        key: Key | None = None,
        scopes: Sequence[str] = ("openid", "profile", "email"),
        session: float = SESSION_SECONDS,
    ) -> None:
        place_at(issuer, what="An issuer")  # https, or loopback
        if not client_id or "openid" not in scopes or not session > 0:
            raise InstallError('Oidc(...) needs an issuer, a client_id, scopes with "openid", and a positive session.')
        self._issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._key = key
        self._scopes = " ".join(scopes)
        self._session = session
        self._known: _Issuer | None = None
        self._portal: Access
        self.routes: Sequence[Route] = (
            Route(_BACK, self._finish),
            Route("/sign-out", self._sign_out, methods=["POST"]),
        )

    def attach(self, portal: Access) -> None:
        self._portal = portal

    # --- who it is ------------------------------------------------------------------------------

    async def visitor(self, request: Request) -> str | None:
        return self._session_of(request).get("key")

    def name(self, request: Request) -> str:
        return self._session_of(request).get("name", "")

    def owner(self, caller: Caller) -> str:
        return caller_key(caller, self._key)

    def _session_of(self, request: Request) -> dict[str, str]:
        """The session in this browser, unless the issuer or the client has changed since."""
        session: Any = self._portal.cookies.get(request.cookies, "session", within=self._session)
        mine = isinstance(session, dict) and cast("dict[str, Any]", session).get("at") == self._at()
        return cast("dict[str, str]", session) if mine else {}

    def _at(self) -> list[str]:
        return [self._issuer, self._client_id]

    async def trouble(self) -> str | None:
        """Why nobody can sign in now; None if the issuer's metadata is fine. For `midcall doctor`."""
        try:
            await self._discover()
        except Unavailable as exc:
            return _issuer_away(str(exc))
        return None

    # --- sign in -------------------------------------------------------------------------------

    async def sign_in(self, request: Request, back: str) -> Response:
        """Redirect to the issuer, with a state, nonce and PKCE verifier that only this browser has."""
        started = {name: secrets.token_urlsafe(32) for name in ("state", "nonce", "verifier")}
        try:
            url = await self._authorize_url(started, again="again" in request.query_params)
        except Unavailable as exc:
            return self._unavailable(str(exc))
        response = RedirectResponse(url, 303)
        self._portal.cookies.set(response, "signing-in", {**started, "back": back}, seconds=SIGN_IN_SECONDS)
        return response

    async def _authorize_url(self, started: Mapping[str, str], *, again: bool) -> str:
        issuer = await self._discover()
        more = {"prompt": "login"} if again else {}
        async with self._client(issuer) as client:
            url, _ = client.create_authorization_url(
                issuer.authorize,
                state=started["state"],
                nonce=started["nonce"],
                code_verifier=started["verifier"],
                **more,
            )
        return url

    async def _finish(self, request: Request) -> Response:
        """The issuer sends the browser back here."""
        started = self._sign_in_of(request)
        if started is None:
            logger.warning(
                "a sign-in came back that was not started here: in another browser, too long ago, or at a replica "
                "with other keys or another clock"
            )
            return self._notice("sign_in_lost", 400, drop=True)
        said = request.query_params
        if "code" not in said or said.get("iss", self._issuer) != self._issuer:
            logger.info(f"the issuer rejected a sign-in: {said.get('error', 'no code')[:40]}")
            return self._notice("sign_in_refused", 403, drop=True, again=started["back"])
        try:
            claims = await self._exchange(said["code"], started)
        except Unavailable as exc:
            return self._unavailable(str(exc))
        except InvalidToken as exc:
            logger.warning(f"an id token was rejected: {exc}")
            return self._notice("sign_in_refused", 403, drop=True, again=started["back"])
        return self._welcome(claims, started["back"])

    def _sign_in_of(self, request: Request) -> dict[str, str] | None:
        """The sign-in that this browser started, if it is the one that comes back."""
        started: Any = self._portal.cookies.get(request.cookies, "signing-in", within=SIGN_IN_SECONDS)
        if not isinstance(started, dict):
            return None
        found, state = cast("dict[str, str]", started), request.query_params.get("state", "")
        return found if hmac.compare_digest(found["state"].encode(), state.encode("utf-8", "replace")) else None

    async def _exchange(self, code: str, started: Mapping[str, str]) -> Mapping[str, Any]:
        issuer = await self._discover()
        try:
            async with self._client(issuer) as client:
                tokens = await client.fetch_token(issuer.token, code=code, code_verifier=started["verifier"])
        except httpx2.HTTPError as exc:
            raise Unavailable(type(exc).__name__) from None
        except (AuthlibBaseError, ValueError, KeyError) as exc:
            raise InvalidToken(type(exc).__name__) from None
        claims, header = await issuer.keys.claims(str(tokens.get("id_token", "")), algorithms=issuer.algorithms)
        return self._verify(claims, header, started["nonce"], str(tokens.get("access_token", "")))

    def _verify(
        self, claims: dict[str, Any], header: dict[str, Any], nonce: str, access_token: str
    ) -> Mapping[str, Any]:
        wanted = {
            "iss": {"essential": True, "value": self._issuer},
            "aud": {"essential": True, "value": self._client_id},
        }
        params = {"nonce": nonce, "client_id": self._client_id, "access_token": access_token}
        token: Any = CodeIDToken(claims, header, wanted, params)
        try:
            token.validate(leeway=TOKEN_LEEWAY_SECONDS)
        except (AuthlibBaseError, JoseError, ValueError) as exc:
            raise InvalidToken(describe_problem(exc)) from None
        return claims

    def _welcome(self, claims: Mapping[str, Any], back: str) -> Response:
        key = key_of(claims, self._key)
        if not key:
            logger.error("the id token has no identity key: see key= of Oidc")
            return self._notice("sign_in_refused", 403, drop=True)
        name = str(claims.get("email") or claims.get("preferred_username") or claims.get("name") or claims["sub"])
        response = RedirectResponse(f"{self._portal.place.path}{back}", 303)
        session = {"key": key, "name": name[:200], "at": self._at()}
        self._portal.cookies.set(response, "session", session, seconds=self._session)
        self._portal.cookies.drop(response, "signing-in")
        return response

    async def _sign_out(self, request: Request) -> Response:
        """End the session of this browser with us, but not the one with the issuer."""
        if not self._portal.place.is_from_page(request.headers):
            return self._notice("not_from_page", 403)
        back = (await read_posted(request)).last("back")
        there = f"{self._portal.place.path}{back}?again=1"
        response = (
            RedirectResponse(there, 303) if _OURS.fullmatch(back) else self._portal.renderer.notice("signed_out", 200)
        )
        self._portal.cookies.drop(response, "session")
        return response

    # --- the issuer -----------------------------------------------------------------------------

    async def _discover(self) -> _Issuer:
        if self._known is None:
            self._known = self._read_metadata(
                await fetch(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
            )
        return self._known

    def _read_metadata(self, said: Mapping[str, Any]) -> _Issuer:
        if said.get("issuer") != self._issuer:
            named = str(said.get("issuer"))[:200]
            raise Unavailable(f"its metadata names the issuer {named!r}, not {self._issuer!r}: they must match exactly")
        try:
            endpoints = [str(said[name]) for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
            for each in endpoints:
                place_at(each.partition("?")[0])
        except (KeyError, InstallError):
            raise Unavailable("its metadata is incomplete") from None
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
            redirect_uri=f"{self._portal.place.url}{_BACK}",
            token_endpoint_auth_method=issuer.auth,
            code_challenge_method="S256",
            timeout=PROVIDER_TIMEOUT_SECONDS,
        )

    # --- notices --------------------------------------------------------------------------------

    def _unavailable(self, why: str) -> Response:
        logger.error(_issuer_away(why))
        return self._notice("sign_in_away", 503)

    def _notice(self, what: str, status: int, *, drop: bool = False, again: str = "") -> Response:
        response = self._portal.renderer.notice(what, status, again=again)
        if drop:
            self._portal.cookies.drop(response, "signing-in")
        return response


def _issuer_away(why: str) -> str:
    return f"the issuer that signs users in cannot be used: {why}"
