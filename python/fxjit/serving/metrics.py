"""What /metrics tells of the models, in Prometheus's terms."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from prometheus_client import REGISTRY, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from .served import Served

LABELS = ("model", "version")
STAGES = ("read", "queue", "compute", "write", "whole")
SECONDS = (.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128)

REQUESTS = Counter("fxjit_requests", "Requests that were answered, right or wrong", LABELS)
FAILURES = Counter("fxjit_failures", "Requests that failed", (*LABELS, "reason"))
CALLS = Histogram("fxjit_batch_rows", "Rows of a call of the model", LABELS, buckets=ROWS)
STAGE_SECONDS = Histogram(
    "fxjit_request_seconds", "Time of a request by stage: reading its body's tensors, in the "
    "queue, computing, writing the answer's body; whole: all of it", (*LABELS, "stage"),
    buckets=SECONDS)
SHAPES = Counter("fxjit_shapes", "Calls by whether their shapes had a program: hit or miss",
                 (*LABELS, "program"))


class ModelMetrics:
    """The metrics of one version of a model."""

    def __init__(self, model: str, version: str):
        self._labels = (model, version)
        self.requests = REQUESTS.labels(model, version)
        self.rows = CALLS.labels(model, version)
        self.stages = {stage: STAGE_SECONDS.labels(model, version, stage) for stage in STAGES}
        self.hits = SHAPES.labels(model, version, "hit")
        self.misses = SHAPES.labels(model, version, "miss")

    def failed(self, reason: str) -> None:
        FAILURES.labels(*self._labels, reason).inc()

    def remove(self) -> None:
        """Forgets the series of a version that is no more."""
        for family in (REQUESTS, CALLS, STAGE_SECONDS, SHAPES, FAILURES):
            family.remove_by_labels(dict(zip(LABELS, self._labels)))


class ModelCollector(Collector):
    """What is asked of the models when Prometheus comes."""

    def __init__(self, served: Iterable[Served]):
        self._served = served
        REGISTRY.register(self)

    def collect(self) -> Iterable[Metric]:
        queue = GaugeMetricFamily("fxjit_queue", "Requests that wait", labels=LABELS)
        programs = GaugeMetricFamily("fxjit_programs", "Compiled programs", labels=LABELS)
        size = GaugeMetricFamily("fxjit_program_bytes", "Bytes of compiled programs, without "
                                 "weights", labels=LABELS)
        for one in list(self._served):
            labels = (one.name, one.version)
            count, total = one.engine.compiled_size()
            queue.add_metric(labels, one.waiting)
            programs.add_metric(labels, count)
            size.add_metric(labels, total)
        return queue, programs, size

    def describe(self) -> Iterable[Metric]:
        return ()
