"""How many messages of gRPC may be on their way at a time. The library holds a message until it is
whole, and tells nothing of it before, so each that is received counts as the largest."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import Awaitable, Callable

from .errors import NotReady, Overloaded, Slow

PATIENCE = 1.0  # Seconds for which a message may keep others from being received.


class Receipts:
    """Of one event loop. Messages that come while all slots are taken wait for one; the oldest that
    is still coming after PATIENCE is refused in their favour. seconds: for each message."""

    def __init__(self, slots: int, seconds: float):
        self._free, self._seconds = slots, seconds
        self._open: dict[asyncio.Timeout, float] = {}  # With the time at which each began.
        self._evicted: set[asyncio.Timeout] = set()
        self._ended = False
        self._waiting: collections.deque[asyncio.Future[None]] = collections.deque()

    def end(self) -> None:
        """Answers NotReady to all whose messages have not come."""
        self._ended = True
        for timeout in self._open:
            if not timeout.expired():
                timeout.reschedule(0)

    async def receive(self, read: Callable[[], Awaitable[bytes]]) -> bytes:
        """Overloaded, Slow; NotReady after end()."""
        await self._slot()
        timeout = asyncio.timeout(self._seconds)
        try:
            async with timeout:
                self._open[timeout] = asyncio.get_running_loop().time()
                return await read()
        except TimeoutError:
            if self._ended:
                raise NotReady("the server stops") from None
            if timeout in self._evicted:
                raise Overloaded("others wait for a message that comes too slowly") from None
            raise Slow(f"the message did not arrive within {self._seconds:g} seconds") from None
        finally:
            self._open.pop(timeout, None)
            self._evicted.discard(timeout)
            self._give()

    def _give(self) -> None:
        self._free += 1
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)
                break

    async def _slot(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._free or (self._waiting and self._waiting[0].done()):
            waiting: asyncio.Future[None] = loop.create_future()
            self._waiting.append(waiting)
            try:
                await asyncio.wait((waiting,), timeout=self._patience(loop.time()))
            finally:
                self._waiting.remove(waiting)
            if self._free:
                break
        self._free -= 1

    def _patience(self, now: float) -> float:
        """Seconds until the oldest message has had its time; refuses one that has."""
        for timeout, begun in self._open.items():
            if timeout in self._evicted or timeout.expired():
                continue
            left = begun + PATIENCE - now
            if left > 0:
                return left
            self._evicted.add(timeout)
            timeout.reschedule(now)
            break
        return PATIENCE
