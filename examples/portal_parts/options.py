"""The command-line options of both examples."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from midcall.portal import Provider
from midcall.stores import Store, open_store
from midcall.stores.keys import Key, find_keys
from midcall.stores.memory import Memory
from midcall.stores.sqlite import SQLite

from .tracker import Tracker


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the store, the keys and the third party."""
    parser.add_argument("--store", metavar="URL", help="sqlite:///path, postgresql://..., redis://... (MIDCALL_STORE)")
    parser.add_argument("--keys", metavar="KEY[,KEY]", help="at least 32 characters each; better as MIDCALL_KEYS")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="gets one line for each payment")
    group = parser.add_argument_group("the service that `list_issues` connects to (default: a toy in this process)")
    for name, about in PROVIDER.items():
        variable = f"PROVIDER_{name.upper().replace('-', '_')}"
        group.add_argument(
            f"--provider-{name}", metavar="TEXT", default=os.environ.get(variable), help=f"{about} ({variable})"
        )


PROVIDER = {
    "issuer": "its issuer, for discovery",
    "client-id": "what it knows us by",
    "client-secret": "the secret that goes with it",
    "scopes": "what to ask for, separated by spaces",
    "api": "what to show the token to",
}


def store_of(args: argparse.Namespace) -> Store:
    """Return the store from the options, or a file in the user's data directory."""
    return open_store(args.store or os.environ.get("MIDCALL_STORE") or "sqlite://")


def keys_of(args: argparse.Namespace, store: Store) -> list[Key]:
    """Return the given keys, or MIDCALL_KEYS, or this machine's own."""
    given = [key.strip() for key in (args.keys or "").split(",") if key.strip()]
    return find_keys(given, shared=not isinstance(store, Memory | SQLite))


def provider_of(args: argparse.Namespace, tracker: Tracker) -> tuple[Provider, str]:
    """Return the third party, and the URL that its tokens are for."""
    if not args.provider_issuer:
        return tracker.provider(), tracker.issues_url
    found = Provider.discover(
        "tracker",
        issuer=args.provider_issuer,
        client_id=args.provider_client_id or "portal-example",
        client_secret=args.provider_client_secret,
        scopes=(args.provider_scopes or "openid").split(),
        title="Tracker",
    )
    return found, args.provider_api or ""
