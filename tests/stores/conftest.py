"""The same places as for the contract."""

from tests.contract.conftest import eight, shared, shared_url, store, url

__all__ = ["eight", "shared", "shared_url", "store", "url"]
