"""Where bodies are read and written: small ones at once, others in threads of their own, so that
the event loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .account import Held

AT_ONCE = 1 << 16  # Bytes of a body that the event loop reads or writes itself.
LARGE = 1 << 20  # Bytes from which bodies are worked on one after the other.


class BodyThreads:
    """Of one event loop. Two threads, of which large bodies use one, so that they do not add up and
    leave room for others."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="fxjit-body")
        self._large = asyncio.Lock()

    async def run(self, held: Held, size: int, function: Callable[..., Any], *given: Any) -> Any:
        """function(*given), which works on about `size` bytes, counted in `held`."""
        if size <= AT_ONCE:
            return function(*given)
        if size <= LARGE:
            return await self._in_thread(held, function, given)
        async with self._large:
            return await self._in_thread(held, function, given)

    def _in_thread(self, held: Held, function: Callable[..., Any],
                   given: Any) -> asyncio.Future[Any]:
        """To be awaited at once: a coroutine with a future in a variable, which holds the
        exception that ends the coroutine, would stay with all of its bytes until Python's collector
        comes."""
        held.share()
        future = self._threads.submit(function, *given)
        future.add_done_callback(lambda _: held.close())
        return asyncio.wrap_future(future)
