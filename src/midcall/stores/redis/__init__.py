"""A store in Redis: for many machines."""

from midcall.stores.redis.store import Redis

__all__ = ["Redis"]
