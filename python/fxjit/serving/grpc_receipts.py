"""Limits how many messages of gRPC may arrive at the same time. The gRPC library holds a message
until it is complete and says nothing of it before, so each message that does not arrive at once is
counted as the largest possible one."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from .account import Account, Held
from .errors import NotReady, Overloaded, ServingError, Slow, TooLarge

PATIENCE = 1.0  # Seconds for which a message may keep others from being received.
AT_ONCE = 0.02  # Seconds of a message whose bytes the account does not have yet.


class Receipts:
    """Used by one event loop. Half of the account is reserved for messages of up to `largest`
    bytes, so that this many arrive at the same time and others wait. If others wait, the oldest
    message that has been arriving for longer than PATIENCE is refused. seconds: the time that each
    message may take."""

    def __init__(self, account: Account, largest: int, seconds: float):
        self._account, self._seconds = account, seconds
        self._most, self._largest = largest, min(largest, account.limit // 2)
        self._free = max(1, account.limit // 2 // largest)
        self._open: dict[asyncio.Timeout, float] = {}  # With the time at which each began.
        self._refused: dict[asyncio.Timeout, ServingError] = {}
        self._ended = False
        self._waiting: collections.deque[asyncio.Future[None]] = collections.deque()

    def end(self) -> None:
        """Answers NotReady to all whose messages have not come."""
        self._ended = True
        for timeout in self._open:
            self._refuse(timeout, NotReady("the server stops"))

    async def receive(self, read: Callable[[], Awaitable[Any]]) -> Any:
        """The bytes, or grpc.aio.EOF where no more come. Overloaded, Slow; NotReady after end()."""
        await self._slot()
        timeout, held = asyncio.timeout(self._seconds), self._account.open()
        loop = asyncio.get_running_loop()
        counting = loop.call_later(AT_ONCE, self._count, timeout, held)
        try:
            if self._ended:
                raise NotReady("the server stops")
            async with timeout:
                self._open[timeout] = loop.time()
                return await read()
        except TimeoutError:
            if timeout in self._refused:
                raise self._refused[timeout] from None
            raise Slow(f"the message did not arrive within {self._seconds:g} seconds") from None
        finally:
            counting.cancel()
            held.close()
            self._open.pop(timeout, None)
            self._refused.pop(timeout, None)
            self._give()

    async def one(self, read: Callable[[], Awaitable[Any]]) -> bytes:
        """The same of a call that has one message; TooLarge where the library gives none."""
        data = await self.receive(read)
        if data is grpc.aio.EOF:
            raise TooLarge(f"there is no message of at most {self._most} bytes")
        return data

    def _refuse(self, timeout: asyncio.Timeout, error: ServingError) -> bool:
        if timeout in self._refused or timeout.expired():
            return False
        self._refused[timeout] = error
        timeout.reschedule(0)
        return True

    def _count(self, timeout: asyncio.Timeout, held: Held) -> None:
        """Has the account hold a message that does not come at once."""
        try:
            held.grow(self._largest)
        except ServingError as error:
            self._refuse(timeout, error)

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
            if timeout in self._refused or timeout.expired():
                continue
            left = begun + PATIENCE - now
            if left > 0:
                return left
            self._refuse(timeout, Overloaded("others wait for a message that comes too slowly"))
            break
        return PATIENCE
