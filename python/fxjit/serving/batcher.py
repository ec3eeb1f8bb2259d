"""The queue of requests in front of a model, and the threads that take requests from it, several
for one call."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .batch_plan import BatchPlan, Shapes
from .engine import Engine
from .errors import Expired, ModelFailed, NotReady, Overloaded, ServingError
from .redaction import without_paths
from .requests import LAST

log = logging.getLogger("fxjit.serving")
Seconds = tuple[float, float, float]


@dataclass(frozen=True)
class BatchOptions:
    """instances: calls of the model that may run at the same time. max_batch: the most rows of a
    call, unless one request alone has more. delay: the most seconds that the oldest request waits
    for others to join it; it waits less if nobody comes. queue: the most requests that may wait."""

    instances: int
    max_batch: int = 32
    delay: float = 0.002
    queue: int = 256


class Job:
    """A request in the queue. `done` is called once with all jobs that ended together, in the
    thread that computed them; each then has `results` or `error`. Times are of time.monotonic(), in
    seconds."""

    def __init__(self, arrays: list[np.ndarray], deadline: float | None,
                 done: Callable[[list[Job]], None], priority: int = LAST):
        self.arrays, self.deadline, self.done = arrays, deadline, done
        self.priority = priority
        self.symbols: dict[str, int] = {}
        self.key: Shapes = ()
        self.rows = 1
        self.results: list[np.ndarray] | None = None
        self.error: ServingError | None = None
        self.queued = self.begun = self.ended = 0.0
        self.batch = 0  # Requests that shared its call.


class Batcher:
    """Thread-safe. A request that finds the queue full raises Overloaded at once. A request is not
    computed if it is cancelled, or its deadline passes, before its call begins. If a call raises,
    it is made again for each of its requests alone, so that one bad request fails alone. `on_call`
    is told of each call that succeeded: its arrays, and the seconds for joining them, for the
    model, and for cutting the results apart."""

    def __init__(self, engine: Engine, plan: BatchPlan, options: BatchOptions,
                 on_call: Callable[[list[np.ndarray], Seconds], None] = lambda *told: None):
        self.engine, self.plan, self.options = engine, plan, options
        self._max_batch = plan.most_rows(options.max_batch)
        self._on_call = on_call
        self._queue: deque[Job] = deque()
        self._changed = threading.Condition()
        self._last_arrival = 0.0
        self._busy = 0
        self._closing = False
        self._threads = [threading.Thread(target=self._work, name=f"fxjit-{place}", daemon=True)
                         for place in range(options.instances)]
        for thread in self._threads:
            thread.start()

    def __len__(self) -> int:
        """The number of requests that wait."""
        return len(self._queue)

    def submit(self, job: Job) -> None:
        """Queues the job behind all of its priority. Raises BadRequest for arrays that do not fit,
        NotReady after close(), Overloaded if the queue is full."""
        job.symbols = self.plan.symbols_of(job.arrays)
        job.key = self.plan.key(job.arrays)
        job.rows = job.symbols[self.plan.rows] if self.plan.rows is not None else 1
        job.queued = time.monotonic()
        with self._changed:
            if self._closing:
                raise NotReady("the model is being unloaded")
            if len(self._queue) >= self.options.queue:
                raise Overloaded(f"{len(self._queue)} requests wait already")
            behind = len(self._queue)  # Behind all of the same priority.
            while behind and self._queue[behind - 1].priority > job.priority:
                behind -= 1
            self._queue.insert(behind, job)
            self._last_arrival = job.queued
            self._changed.notify()

    def cancel(self, job: Job) -> bool:
        """Takes a job out of the queue without calling `done`. Returns False if its call has
        begun."""
        with self._changed:
            try:
                self._queue.remove(job)
            except ValueError:
                return False
            self._changed.notify_all()
            return True

    def close(self) -> None:
        """Refuses new requests, waits until the waiting ones are computed, and ends the threads."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while group := self._take():
            self._run(group)
            with self._changed:
                self._busy -= 1

    def _take(self) -> list[Job]:
        """Waits for requests and returns those of the next call; empty when the batcher has been
        closed and nothing waits."""
        with self._changed:
            while True:
                self._drop_expired()
                if not self._queue:
                    if self._closing:
                        return []
                    self._changed.wait()
                    continue
                group = self._group()
                patience = self._patience(group)
                if patience <= 0:
                    for job in group:
                        self._queue.remove(job)
                    self._busy += 1
                    if self._queue:
                        self._changed.notify()
                    return group
                self._changed.wait(patience)

    def _drop_expired(self) -> None:
        now = time.monotonic()
        expired = [job for job in self._queue if job.deadline is not None and job.deadline <= now]
        for job in expired:
            self._queue.remove(job)
            job.error = Expired("its time was over before its turn came")
            job.done([job])

    def _group(self) -> list[Job]:
        """The oldest request and those that may share its call."""
        head = self._queue[0]
        if self.plan.rows is None:
            return [head]
        group, rows = [head], head.rows
        for job in self._queue:
            if job is not head and job.key == head.key and (
                    rows + job.rows <= self._max_batch):
                group.append(job)
                rows += job.rows
        return self._shared(group)

    def _shared(self, group: list[Job]) -> list[Job]:
        """The part of `group` that this instance computes. If nothing else waits, the other idle
        instances get equal parts: one long call beside idle cores would make all of its requests
        late."""
        lacking = self.options.instances - 1 - (len(self._queue) - len(group))
        return group if lacking <= 0 else group[:-(-len(group) // (lacking + 1))]

    def _patience(self, group: list[Job]) -> float:
        """Seconds to wait for more requests. None at all if no call runs, so that a lone client
        never waits, and none if nobody has come for a quarter of the delay."""
        rows = sum(job.rows for job in group)
        if self.plan.rows is None or self._closing or self._busy == 0 or (
                rows >= self._max_batch):
            return 0.0
        until = min(group[0].queued + self.options.delay,
                    self._last_arrival + self.options.delay / 4)
        return until - time.monotonic()

    def _run(self, group: list[Job]) -> None:
        begun = time.monotonic()
        for job in group:
            job.begun, job.batch = begun, len(group)
        error = self._call(group, self.plan)
        if error is not None and (len(group) > 1 or self.plan.padded):
            alone = BatchPlan(self.plan.inputs, self.plan.outputs, False)
            for job in group:
                job.error = self._call([job], alone)
        elif error is not None:
            group[0].error = error
        ended = time.monotonic()
        for job in group:
            job.ended = ended
        group[0].done(group)

    def _call(self, group: list[Job], plan: BatchPlan) -> ServingError | None:
        try:
            times = [time.monotonic()]
            arrays = plan.joined([job.arrays for job in group])
            times.append(time.monotonic())
            results = self.engine.run(arrays)
            times.append(time.monotonic())
            parts = plan.parts(results, [job.symbols for job in group])
            times.append(time.monotonic())
            self._on_call(arrays, (times[1] - times[0], times[2] - times[1], times[3] - times[2]))
        except ServingError as error:
            return error
        except Exception as error:  # Whatever it is, the clients wait for an answer.
            log.exception("a model's call failed")
            text = f"{type(error).__name__}: {error}"
            return ModelFailed(without_paths(text), text)
        for job, results in zip(group, parts, strict=True):
            job.results = results
        return None
