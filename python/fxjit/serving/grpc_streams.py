"""Streams of requests over gRPC: an answer for each, in the order of the requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from .account import Account, Held
from .errors import Overloaded, Slow

AT_A_TIME = 64  # Requests of one stream that are worked on; others are not read yet.
MOST = 64
Work = Callable[[bytes, Any, Held], Awaitable[bytes]]


class Room:
    """Limits the number of open streams. A stream waits for messages without end and may hold an
    incomplete one, of which the gRPC library says nothing, so it is counted as the largest possible
    message. A quarter of the account is reserved for streams."""

    def __init__(self, account: Account, largest: int):
        share = account.limit // 4
        self._account, self._largest = account, min(largest, share)
        self._free = self.most = min(max(1, share // largest), MOST)

    def enter(self) -> Held:
        """What one more stream holds, for leave(). Overloaded."""
        if not self._free:
            raise Overloaded(f"at most {self.most} streams may be open")
        held = self._account.open()
        held.grow(self._largest)
        self._free -= 1
        return held

    def leave(self, held: Held) -> None:
        held.close()
        self._free += 1


class RequestStreams:
    """Of one event loop. `work` gives the answer to a message, also where that is a refusal; what
    it holds stays in the account until the client has taken the answer, for which it has
    `seconds`."""

    def __init__(self, account: Account, largest: int, seconds: float, work: Work):
        self._account, self._seconds, self._work = account, seconds, work
        self._room = Room(account, largest)
        self._reading: set[asyncio.Task[None]] = set()

    def end(self) -> None:
        """Takes no more requests; streams end when those that came are answered."""
        for reading in self._reading:
            reading.cancel()

    async def serve(self, requests: AsyncIterator[bytes], context: Any) -> None:
        """Overloaded where there are too many streams; Slow where answers are not taken."""
        room = self._room.enter()
        slots = asyncio.Semaphore(AT_A_TIME)
        answers: asyncio.Queue[tuple[asyncio.Task[bytes], Held] | None] = asyncio.Queue()
        reading = asyncio.create_task(self._read(requests, context, slots, answers))
        self._reading.add(reading)
        try:
            await self._write(context, slots, answers)
        finally:
            reading.cancel()
            self._reading.discard(reading)
            while not answers.empty():
                if (left := answers.get_nowait()) is not None:
                    left[0].cancel()
                    left[1].close()
            self._room.leave(room)

    async def _read(self, requests: AsyncIterator[bytes], context: Any,
                    slots: asyncio.Semaphore, answers: asyncio.Queue[Any]) -> None:
        try:
            async for data in requests:
                await slots.acquire()
                held = self._account.open()
                answers.put_nowait((asyncio.create_task(self._work(data, context, held)), held))
        finally:
            answers.put_nowait(None)

    async def _write(self, context: Any, slots: asyncio.Semaphore,
                     answers: asyncio.Queue[Any]) -> None:
        while (next_one := await answers.get()) is not None:
            task, held = next_one
            try:
                data = await task
                async with asyncio.timeout(self._seconds):
                    await context.write(data)
            except TimeoutError:
                raise Slow("an answer was not taken") from None
            finally:
                task.cancel()
                held.close()
            slots.release()
