"""Bodies on their way through ASGI: as they come, counted and within a time, and as they go."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from .account import Held
from .errors import Slow, TooLarge

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
PIECE = 1 << 18  # Bytes of an answer that are given to the connection at a time.
ABORT = "fxjit.abort"  # Of a scope's extensions: a function that ends the connection at once.


class ClientGone(Exception):
    """Nobody is there to be answered."""


async def read_body(receive: Receive, limit: int, seconds: float, held: Held) -> bytearray:
    """TooLarge, Overloaded, Slow; ClientGone where the connection ends before."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientGone
                part = message.get("body", b"")
                if len(body) + len(part) > limit:
                    raise TooLarge(f"the body has more than {limit} bytes")
                held.grow(len(part))
                body += part
                if not message.get("more_body"):
                    return body
    except TimeoutError:
        raise Slow(f"the body did not arrive within {seconds:g} seconds") from None


class Watch:
    """Cancels the task that made it when the client goes away."""

    def __init__(self, receive: Receive):
        self.gone = False
        self._task = asyncio.current_task()
        self._waiting = asyncio.ensure_future(receive())
        self._waiting.add_done_callback(self._end)

    def _end(self, waiting: asyncio.Future[Any]) -> None:
        if not waiting.cancelled() and self._task is not None:
            self.gone = True
            self._task.cancel()

    def stop(self) -> None:
        self._task = None
        self._waiting.cancel()


@contextlib.contextmanager
def watched() -> Iterator[Callable[[Receive], None]]:
    """Gives what begins to watch a connection. ClientGone where the client went away."""
    watches: list[Watch] = []
    try:
        yield lambda receive: watches.append(Watch(receive))
    except asyncio.CancelledError:
        if any(watch.gone for watch in watches):
            asyncio.current_task().uncancel()
            raise ClientGone from None
        raise
    finally:
        for watch in watches:
            watch.stop()


async def send_all(scope: Scope, send: Send, status: int, headers: Headers, parts: list[Any],
                   seconds: float) -> None:
    """An answer in pieces, each when the connection has room for it. A client that does not take
    all of it within the time is let go."""
    headers = [*headers, (b"content-length", b"%d" % sum(len(part) for part in parts))]
    try:
        async with asyncio.timeout(seconds):
            await send({"type": "http.response.start", "status": status, "headers": headers})
            for piece, more in _pieces(parts):
                await send({"type": "http.response.body", "body": piece, "more_body": more})
    except TimeoutError:
        abort = (scope.get("extensions") or {}).get(ABORT)
        if abort:
            abort()


def _pieces(parts: list[Any]) -> Iterator[tuple[bytes, bool]]:
    """Small parts are put together, large ones are cut; each with whether more come."""
    whole = bytearray()
    for part in parts:
        view = memoryview(part)
        while len(whole) + len(view) > PIECE:
            room = PIECE - len(whole)
            yield bytes(whole + view[:room]), True
            whole, view = bytearray(), view[room:]
        whole += view
    yield bytes(whole), False
