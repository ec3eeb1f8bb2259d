"""The server as a process: its signals, its end and its descriptors."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import signal
from typing import NoReturn

from prometheus_client import Counter

from .metrics import SHOWN

log = logging.getLogger("fxjit.serving")
SECONDS_BETWEEN = 1  # Looks at the descriptors.
OUT_OF_DESCRIPTORS = Counter(
    "fxjit_out_of_descriptors", "Seconds in which the process had no descriptor left")
SHOWN.register(OUT_OF_DESCRIPTORS)


def leave(code: int) -> NoReturn:
    """Ends the process though threads still work, which nothing can interrupt."""
    logging.shutdown()
    os._exit(code)


def on_signals(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    """SIGTERM and SIGINT set `stop`; the second of them ends the process."""
    def came(number: int) -> None:
        if stop.is_set():
            log.warning("ended by a second signal")
            leave(128 + number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, came, number)


async def watch_descriptors() -> None:
    """Logs and counts when the process runs out of descriptors, of which libraries tell nothing."""
    while True:
        await asyncio.sleep(SECONDS_BETWEEN)
        try:
            os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE):
                raise
            OUT_OF_DESCRIPTORS.inc()
            log.warning("no descriptor is left", extra={"reason": "descriptors"})
