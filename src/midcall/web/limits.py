"""Who opens page after page that is not there is told to wait, before anything is looked up for them."""

from __future__ import annotations

from collections import OrderedDict, deque
from ipaddress import IPv6Address, ip_address
from typing import Final

__all__ = ["BadOpens", "network"]

LIMIT: Final = 20
PERIOD: Final = 60.0
_REMEMBERED: Final = 10_000


class BadOpens:
    """Counts what went wrong, per source. Forgets the oldest sources first, so that it stays small.

    Args:
        limit: How many may go wrong within a period.
        period: Its length, in seconds.
    """

    def __init__(self, limit: int = LIMIT, period: float = PERIOD, *, remembered: int = _REMEMBERED) -> None:
        self._limit = limit
        self._period = period
        self._remembered = remembered
        self._seen: OrderedDict[str, deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._seen)

    def note(self, source: str, now: float) -> None:
        times = self._seen.setdefault(source, deque(maxlen=self._limit))
        times.append(now)
        self._seen.move_to_end(source)
        while len(self._seen) > self._remembered:
            self._seen.popitem(last=False)

    def wait(self, source: str, now: float) -> float:
        """For how many seconds this source has to wait; 0 if it need not."""
        times = self._seen.get(source)
        if times is None or len(times) < self._limit:
            return 0.0
        return max(0.0, times[0] + self._period - now)


def network(host: str) -> str:
    """Whom an address stands for: with IPv6, one household has very many."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or IPv6Address(int(address) >> 64 << 64))
    return host
