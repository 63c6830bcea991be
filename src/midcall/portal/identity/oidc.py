"""The user who signs in with the issuer of the MCP access tokens. The portal has its own client there."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import urlencode

import httpx2
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from midcall.errors import InstallError
from midcall.portal.identity.jwt import ALGORITHMS, InvalidToken, Keys, describe_problem, first_text
from midcall.portal.identity.sessions import Sessions
from midcall.portal.identity.visitors import Caller, Key, caller_key, key_of
from midcall.portal.logs import logger
from midcall.settings.portal import PROVIDER_TIMEOUT_SECONDS, SESSION_SECONDS, SIGN_IN_SECONDS, TOKEN_LEEWAY_SECONDS
from midcall.web.fetching import Cache, Fence, Published, Reach, Unavailable, fetch
from midcall.web.public_url import place_at
from midcall.web.security import TooLarge, is_same, read_posted

if TYPE_CHECKING:
    from midcall.portal.access import Access

_BACK: Final = "/signed-in"
_OUT: Final = "/signed-out"
_OURS: Final = re.compile(r"/mine|/i/[A-Za-z0-9_\-]{1,200}")


@dataclass(frozen=True, slots=True)
class _Issuer:
    """The issuer's metadata."""

    authorize: str
    token: str
    keys: Keys
    algorithms: tuple[str, ...]
    auth: str
    sends_issuer: bool
    """Whether it always names itself when it sends the browser back (RFC 9207)."""
    end_session: str
    """Where users sign out; empty if it doesn't say."""


class Oidc:
    """The same issuer and subject as in the MCP access token, by OpenID Connect.

    Args:
        issuer: The issuer, exactly as its tokens name it.
        client_id: The portal's own registration there, with `<base_url>/signed-in` as its redirect URI, and
            `<base_url>/signed-out` as its post-logout redirect URI.
        client_secret: Its secret; without one it is a public client, which PKCE protects.
        key: Makes the identity key from the claims of the id token and of the MCP access token, if issuer and
            subject will not do: `key=lambda claims: claims["oid"]` for Entra, whose subjects differ by client.
        scopes: What to request at sign-in.
        session: For how many seconds a sign-in is valid.
        internal: Hosts on this machine or in a private network that the issuer's metadata may name, though the issuer
            is elsewhere.
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
        internal: Sequence[str] = (),
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
        self._reach = Reach(issuer, tuple(internal))
        self._metadata = Cache(self._discover)
        self._portal: Access
        self._sessions: Sessions
        self.routes: Sequence[Route] = (
            Route(_BACK, self._finish),
            Route("/sign-out", self._sign_out, methods=["POST"]),
            Route(_OUT, self._confirm_sign_out),
        )

    def attach(self, portal: Access) -> None:
        self._portal = portal
        self._sessions = Sessions(portal.store, portal.vault, portal.clock)

    # --- who it is ------------------------------------------------------------------------------

    async def visitor(self, request: Request) -> str | None:
        session = self._session_of(request)
        if not session or not await self._sessions.is_open(session["id"], session["key"]):
            return None
        return session["key"]

    def name(self, request: Request) -> str:
        return self._session_of(request).get("name", "")

    def owner(self, caller: Caller) -> str:
        return caller_key(caller, self._key)

    def _session_of(self, request: Request) -> dict[str, str]:
        return self._read_cookie(request, "session", self._session)

    def _read_cookie(self, request: Request, purpose: str, within: float) -> dict[str, str]:
        """What this browser has; nothing if the issuer or the client has changed since."""
        found: Any = self._portal.cookies.get(request.cookies, purpose, within=within)
        mine = isinstance(found, dict) and cast("dict[str, Any]", found).get("at") == self._at()
        return cast("dict[str, str]", found) if mine else {}

    def _at(self) -> list[str]:
        return [self._issuer, self._client_id]

    async def trouble(self) -> str | None:
        """Why nobody can sign in now; None if the issuer's metadata is fine. For `midcall doctor`."""
        try:
            await self._metadata.get()
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
        self._portal.cookies.set(
            response, "signing-in", {**started, "back": back, "at": self._at()}, seconds=SIGN_IN_SECONDS
        )
        return response

    async def _authorize_url(self, started: Mapping[str, str], *, again: bool) -> str:
        issuer = await self._metadata.get()
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
            self._portal.note("signin.refused", outcome="unknown")
            return self._notice("sign_in_lost", 400, drop=True)
        try:
            issuer = await self._metadata.get()
            if (why := self._why_not(request.query_params, issuer)) is not None:
                logger.info(f"a sign-in was rejected: {why}")
                self._portal.note("signin.refused", outcome="response")
                return self._notice("sign_in_refused", 403, drop=True, again=started["back"])
            id_token, claims = await self._exchange(issuer, request.query_params["code"], started)
        except Unavailable as exc:
            return self._unavailable(str(exc))
        except InvalidToken as exc:
            logger.warning(f"an id token was rejected: {exc}")
            self._portal.note("signin.refused", outcome="id_token")
            return self._notice("sign_in_refused", 403, drop=True, again=started["back"])
        return await self._welcome(id_token, claims, started["back"])

    def _why_not(self, said: QueryParams, issuer: _Issuer) -> str | None:
        """Why this response isn't a sign-in at our issuer (RFC 9207); None if it is."""
        if any(len(said.getlist(name)) > 1 for name in ("code", "state", "iss", "error")):
            return "it has a parameter twice"
        if issuer.sends_issuer and "iss" not in said:
            return "it does not name its issuer, as this one always does"
        if said.get("iss", self._issuer) != self._issuer:
            return "it comes from another issuer"
        if "error" in said or not said.get("code"):
            return f"the issuer says {said.get('error', 'nothing')[:40]!r}"
        return None

    def _sign_in_of(self, request: Request) -> dict[str, str] | None:
        """The sign-in that this browser started, if it is the one that comes back."""
        started = self._read_cookie(request, "signing-in", SIGN_IN_SECONDS)
        is_this = bool(started) and is_same(started["state"], request.query_params.get("state", ""))
        return started if is_this else None

    async def _exchange(self, issuer: _Issuer, code: str, started: Mapping[str, str]) -> tuple[str, Mapping[str, Any]]:
        """The id token for this code, and its claims."""
        try:
            async with asyncio.timeout(PROVIDER_TIMEOUT_SECONDS), self._client(issuer) as client:
                tokens = await client.fetch_token(issuer.token, code=code, code_verifier=started["verifier"])
        except (httpx2.HTTPError, TimeoutError) as exc:
            raise Unavailable(f"{issuer.token}: {str(exc) or type(exc).__name__}") from None
        except Exception as exc:  # an issuer can respond with anything, and Authlib can fail on it in any way
            raise InvalidToken(type(exc).__name__) from None
        id_token = str(tokens.get("id_token", ""))
        claims, header = await issuer.keys.claims(id_token, algorithms=issuer.algorithms)
        self._verify(claims, header, started["nonce"], str(tokens.get("access_token", "")))
        return id_token, claims

    def _verify(self, claims: dict[str, Any], header: dict[str, Any], nonce: str, access_token: str) -> None:
        wanted = {
            "iss": {"essential": True, "value": self._issuer},
            "aud": {"essential": True, "value": self._client_id},
        }
        params = {"nonce": nonce, "client_id": self._client_id, "access_token": access_token}
        token: Any = CodeIDToken(claims, header, wanted, params)
        try:
            token.validate(leeway=TOKEN_LEEWAY_SECONDS)
        except Exception as exc:  # Authlib can fail on odd claims in any way
            raise InvalidToken(describe_problem(exc)) from None

    async def _welcome(self, id_token: str, claims: Mapping[str, Any], back: str) -> Response:
        key = key_of(claims, self._key)
        if not key:
            logger.error("the id token has no identity key: see key= of Oidc")
            self._portal.note("signin.refused", outcome="no_key")
            return self._notice("sign_in_refused", 403, drop=True)
        name = first_text(claims, "email", "preferred_username", "name", "sub")
        response = RedirectResponse(f"{self._portal.place.path}{back}", 303)
        id = await self._sessions.begin(key, id_token, self._session)
        session = {"id": id, "key": key, "name": name[:200], "at": self._at()}
        self._portal.cookies.set(response, "session", session, seconds=self._session)
        self._portal.cookies.drop(response, "signing-in")
        return response

    async def _sign_out(self, request: Request) -> Response:
        """End the session here, and at the issuer; with a page to go back to, sign in again as somebody else."""
        if not self._portal.place.is_from_page(request.headers):
            self._portal.refuse("not_from_page")
            return self._notice("not_from_page", 403)
        try:
            back = (await read_posted(request)).last("back")
        except TooLarge:
            self._portal.refuse("too_large")
            return self._notice("too_large", 413)
        session = self._session_of(request)
        id_token = await self._sessions.end(session["id"], session["key"]) if session else ""
        if _OURS.fullmatch(back):
            there = f"{self._portal.place.path}{back}?again=1"
        else:
            there = await self._end_session_url(id_token) or f"{self._portal.place.path}{_OUT}"
        response = RedirectResponse(there, 303, {"clear-site-data": '"cache"'})  # and what "back" would show
        self._portal.cookies.drop(response, "session")
        return response

    async def _end_session_url(self, id_token: str) -> str:
        """Where the issuer signs the user out (OpenID Connect RP-Initiated Logout); empty if it doesn't offer that."""
        try:
            issuer = await self._metadata.get()
        except Unavailable:  # the session here has ended all the same
            return ""
        if not issuer.end_session or not id_token:
            return ""
        back = f"{self._portal.place.url}{_OUT}"
        said = {"id_token_hint": id_token, "client_id": self._client_id, "post_logout_redirect_uri": back}
        return f"{issuer.end_session}{'&' if '?' in issuer.end_session else '?'}{urlencode(said)}"

    async def _confirm_sign_out(self, request: Request) -> Response:
        return self._notice("signed_out", 200)

    # --- the issuer -----------------------------------------------------------------------------

    async def _discover(self) -> _Issuer:
        url = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        return self._read_metadata(await fetch(url, self._reach))

    def _read_metadata(self, said: Mapping[str, Any]) -> _Issuer:
        if said.get("issuer") != self._issuer:
            named = str(said.get("issuer"))[:200]
            raise Unavailable(f"its metadata names the issuer {named!r}, not {self._issuer!r}: they must match exactly")
        published = Published(said, self._reach)
        required = ("authorization_endpoint", "token_endpoint", "jwks_uri")
        authorize, token, keys = (published.url(name) for name in required)
        offered = published.texts("id_token_signing_alg_values_supported") or ("RS256",)
        algorithms = tuple(each for each in ALGORITHMS if each in offered)
        if not algorithms:
            raise Unavailable("it signs id tokens in no way that proves who signed them")
        return _Issuer(
            authorize,
            token,
            Keys(keys, reach=self._reach),
            algorithms,
            self._auth(published),
            sends_issuer=published.flag("authorization_response_iss_parameter_supported"),
            end_session=published.url_if_any("end_session_endpoint"),
        )

    def _auth(self, published: Published) -> str:
        if self._client_secret is None:
            return "none"
        known = published.texts("token_endpoint_auth_methods_supported") or ("client_secret_basic",)
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
            transport=Fence(self._reach),
            follow_redirects=False,
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
