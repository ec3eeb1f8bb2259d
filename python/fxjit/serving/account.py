"""Counts the bytes that requests hold in memory: bodies as they arrive, unpacked and parsed,
messages, and answers. A request that would go beyond the limit is refused, so that memory stays
bounded."""

from __future__ import annotations

import threading

from .errors import Overloaded, TooLarge


class Account:
    """Thread-safe."""

    def __init__(self, limit: int):
        self.limit, self.held = limit, 0
        self._lock = threading.Lock()

    def open(self) -> Held:
        """Opens the account of one request, which holds nothing yet."""
        return Held(self)

    def take(self, size: int, own: int = 0) -> None:
        """Counts `size` more bytes for a request that has `own` already. Raises Overloaded if other
        requests hold too much, TooLarge if the request alone exceeds the limit."""
        with self._lock:
            if own + size > self.limit:
                raise TooLarge(f"the request takes {own + size} bytes or more when it is worked "
                               f"on, at most {self.limit} are there")
            if self.held + size > self.limit:
                raise Overloaded(f"{self.held} bytes of requests are being worked on already")
            self.held += size

    def give(self, size: int) -> None:
        with self._lock:
            self.held -= size


class Held:
    """The bytes of one request. They count until it is closed and no thread works on it any
    more."""

    def __init__(self, account: Account):
        self._account, self.size = account, 0
        self._lock = threading.Lock()
        self._users = 1  # The request itself, and each thread that works on it.

    def grow(self, size: int) -> None:
        """Counts more bytes. Raises Overloaded or TooLarge (Account.take)."""
        with self._lock:
            self._account.take(size, self.size)
            self.size += size

    def shrink(self, size: int) -> None:
        with self._lock:
            self.size -= size
            self._account.give(size)

    def share(self) -> None:
        """Says that a thread works on the bytes: they count until close() has been called once
        more."""
        with self._lock:
            self._users += 1

    def close(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._account.give(self.size)
                self.size = 0
