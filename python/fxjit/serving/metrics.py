"""What is counted and timed of the models: for /metrics, in Prometheus's terms, and for Triton's
statistics."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector

from .errors import ServingError
from .statistics import Statistics

LABELS = ("model", "version")
STAGES = ("read", "queue", "compute", "write")
SECONDS = (.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128)

REQUESTS = Counter("fxjit_requests", "Requests that were answered, right or wrong", LABELS)
FAILURES = Counter("fxjit_failures", "Requests that failed", (*LABELS, "reason"))
CALLS = Histogram("fxjit_batch_rows", "Rows of a call of the model", LABELS, buckets=ROWS)
REQUEST_SECONDS = Histogram("fxjit_request_seconds", "Time of a request, from its body to its "
                            "answer's", LABELS, buckets=SECONDS)
STAGE_SECONDS = Histogram(
    "fxjit_stage_seconds", "Time of a request by stage: reading its body's tensors, in the "
    "queue, computing, writing the answer's body", (*LABELS, "stage"), buckets=SECONDS)
SHAPES = Counter("fxjit_shapes", "Calls by whether their shapes had a program: hit or miss",
                 (*LABELS, "program"))
MODEL_FAMILIES = (REQUESTS, FAILURES, CALLS, REQUEST_SECONDS, STAGE_SECONDS, SHAPES)
REFUSALS = Counter("fxjit_refusals", "Requests that were refused before a model had them, by the "
                   "status of REST or gRPC", ("protocol", "code", "reason"))

# What /metrics of fxjit-serve shows. The global registry, which KServe's own server shows, has
# these families as well, and those of whatever else is imported.
SHOWN = CollectorRegistry()
for family in (*MODEL_FAMILIES, REFUSALS):
    SHOWN.register(family)
ProcessCollector(registry=SHOWN)
PlatformCollector(registry=SHOWN)


def count_refusal(protocol: str, error: ServingError) -> None:
    """Of "rest" or "grpc". Those that a model's metrics have are not counted again."""
    if not error.counted:
        code = error.grpc if protocol == "grpc" else str(error.http)
        REFUSALS.labels(protocol, code, error.reason).inc()


class ModelMetrics:
    """The metrics of one version of a model."""

    def __init__(self, model: str, version: str):
        self._labels = (model, version)
        self.statistics = Statistics(model, version)
        self._requests = REQUESTS.labels(model, version)
        self._rows = CALLS.labels(model, version)
        self._whole = REQUEST_SECONDS.labels(model, version)
        self._stages = {stage: STAGE_SECONDS.labels(model, version, stage) for stage in STAGES}
        self._hits = SHAPES.labels(model, version, "hit")
        self._misses = SHAPES.labels(model, version, "miss")

    def answered(self, times: dict[str, float]) -> None:
        """A request with a right answer: seconds of each of STAGES, and `whole`."""
        self._requests.inc()
        self._whole.observe(times["whole"])
        for stage, metric in self._stages.items():
            metric.observe(times[stage])
        self.statistics.answered(times)

    def failed(self, reason: str, seconds: float) -> None:
        self._requests.inc()
        FAILURES.labels(*self._labels, reason).inc()
        self.statistics.failed(seconds)

    def called(self, rows: int, known: bool, seconds: tuple[float, float, float]) -> None:
        """A call of the model. known: there was a program for its shapes; seconds: of putting the
        rows together, of the model, and of taking its results apart."""
        self._rows.observe(rows)
        self.shapes_came(known)
        self.statistics.called(rows, seconds)

    def shapes_came(self, known: bool) -> None:
        """Counts a call, of a request or of the warm-up, as a hit or a miss."""
        (self._hits if known else self._misses).inc()

    def remove(self) -> None:
        """Forgets the series of a version that is no more."""
        for family in MODEL_FAMILIES:
            family.remove_by_labels(dict(zip(LABELS, self._labels)))
