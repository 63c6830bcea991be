"""Fill the vault before a test: secrets and connected accounts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from midcall.core.caller import Caller
from midcall.server.installation import Installation, installation_on
from midcall.testing.serving import load_server
from midcall.web.secret_checks import ONE

if TYPE_CHECKING:
    from midcall.portal.app import Portal


async def fill_vault(
    server: object,
    *,
    secrets: Mapping[str, str | Mapping[str, str]] | None = None,
    accounts: Mapping[str, str] | None = None,
    owner: str | None = None,
) -> None:
    """Put secrets and connected accounts into the vault, for `secret()` and `authorize()` to find.

        await fill_vault(mcp, secrets={"github": "ghp_1234"}, accounts={"google": "an access token"})

    Args:
        server: A server object with a portal, or its name as in `"package.module:mcp"`.
        secrets: By name: a text, or a dict for a secret with `fields`.
        accounts: An access token by the name of its provider.
        owner: The identity key of the user. Default: the user of a call without an access token, as `run` makes it.

    Raises:
        ValueError: The server has no portal, the portal has no such provider, or the owner isn't known.
    """
    installation = installation_on(load_server(server))
    portal = None if installation is None else cast("Portal | None", installation.portal)
    if installation is None or portal is None:
        raise ValueError("This server has no vault. Give it one with midcall.install(server, portal=Portal(), ...).")
    owner = owner or _owner(installation)
    for name, value in (secrets or {}).items():
        parts = {ONE: value} if isinstance(value, str) else value
        await portal.vault.keep(owner, name, parts, now=time.time())
    for name, token in (accounts or {}).items():
        await _connect(portal, owner, name, token)


async def _connect(portal: Portal, owner: str, name: str, token: str) -> None:
    from midcall.portal.oauth.tokens import Tokens, vault_name

    provider = portal.provider(name)
    if provider is None:
        known = ", ".join(each.name for each in portal.providers) or "none"
        raise ValueError(f"The portal has no provider {name!r}; it has: {known}.")
    scopes = " ".join(provider.scopes)
    tokens = Tokens(token, scopes=scopes, client=provider.client_id, grantor=provider.grantor)
    await portal.vault.keep(owner, vault_name(provider), tokens.dump(), now=time.time())


def _owner(installation: Installation) -> str:
    """The user of a call without an access token."""
    assert installation.portal is not None
    owner = "" if installation.principal is not None else installation.portal.owner_of(Caller())
    if not owner:
        raise ValueError("The user depends on the call. Pass owner=..., the identity key that the call will have.")
    return owner
