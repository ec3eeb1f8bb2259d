"""Looks at the files of models every few seconds, and loads what has changed where that is asked
for."""

from __future__ import annotations

import logging
import time

import fxjit

from .places import Source, Stamp
from .repository import UNREADABLE, Repository
from .served import Served

log = logging.getLogger("fxjit.serving")
SECONDS = 2.0  # Between looks at the files of models that are loaded.


class Watch:
    """`look` is called every SECONDS, by one thread at a time. A model whose mapped file was
    written over or cut off no longer answers, because nobody knows what it would read, until its
    files have been the same for two looks and are loaded anew. poll_seconds: how often the places
    are looked at for what is new, changed or gone; 0: never."""

    def __init__(self, repository: Repository, poll_seconds: float = 0):
        self._repository, self._poll_seconds = repository, poll_seconds
        self._next_poll = time.monotonic() + poll_seconds
        self._stamps: dict[tuple[str, str], Stamp] = {}  # As of the look before.
        self._unsettled = False
        self._lost: set[str] = set()  # Models that are to be loaded anew.

    def look(self) -> None:
        for served in list(self._repository):
            self._look_at(served)
        polls = self._poll_seconds > 0 and (
            self._unsettled or time.monotonic() >= self._next_poll)
        if not polls and not self._lost:
            return
        self._unsettled = False
        try:
            self._repository.poll(self._settled, None if polls else self._lost)
        except (OSError, fxjit.UserError) as error:
            log.error(UNREADABLE, extra={"error": str(error)})
        if polls:
            self._next_poll = time.monotonic() + self._poll_seconds
        if not self._unsettled:
            self._lost.clear()

    def _look_at(self, served: Served) -> None:
        if served.files is None:
            return
        about = {"model": served.name, "version": served.version}
        copied, mapped = served.files.changes()
        for path in copied:
            log.warning("a model's file was written over: the copy in memory answers until it is "
                        "loaded anew", extra={**about, "file": str(path)})
        for path in mapped:
            log.error("a model's file was written over while it was mapped",
                      extra={**about, "file": str(path)})
        if mapped or served.files.lost():
            names = ", ".join(path.name for path in mapped) or "its file"
            self._repository.lose(served, f"{names} was written over while it was mapped")
            self._lost.add(served.name)

    def _settled(self, source: Source) -> bool:
        """Whether the files are those of the look before: nobody is writing them."""
        key = source.name, source.version
        before, self._stamps[key] = self._stamps.get(key), source.stamp
        if before != source.stamp:
            self._unsettled = True
        return before == source.stamp
