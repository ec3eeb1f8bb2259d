"""The queue before a model, and which requests share a call."""

import importlib.util
import time

import numpy as np
import pytest
from cases import path_of

for needed in ("orjson", "prometheus_client"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit.serving is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
from fxjit.serving import Tensor  # noqa: E402
from fxjit.serving.batch_plan import BatchPlan, Padding, shown  # noqa: E402
from fxjit.serving.batcher import Batcher, BatchOptions, Job  # noqa: E402
from fxjit.serving.engine import FxjitEngine  # noqa: E402
from fxjit.serving.errors import (  # noqa: E402
    BadRequest, Expired, ModelFailed, NotReady, Overloaded)
from fxjit.serving.load import rows_are_alone  # noqa: E402
from serving_parts import ROWS, Doubling, rows_of  # noqa: E402


class Queue:
    """A batcher over Doubling, with what ended."""

    def __init__(self, padding=None, **options):
        self.engine = Doubling()
        plan = BatchPlan(self.engine.inputs, self.engine.outputs, True, padding)
        self.batcher = Batcher(self.engine, plan, BatchOptions(**{"instances": 1, **options}))
        self.ended = []

    def ask(self, array, deadline=None, priority=2**64):
        job = Job([array], deadline, self.ended.extend, priority)
        self.batcher.submit(job)
        return job

    def hold(self):
        """Closes the gate with one request behind it."""
        self.engine.gate.clear()
        job = self.ask(rows_of(0))
        while not self.engine.calls:
            time.sleep(0.001)
        return job

    def finish(self):
        self.engine.gate.set()
        self.batcher.close()


@pytest.fixture
def queue():
    made = Queue()
    yield made
    made.finish()


def test_requests_that_wait_share_a_call(queue):
    queue.hold()
    jobs = [queue.ask(rows_of(n, n + 1)) for n in range(4)] + [queue.ask(rows_of(7, places=5))]
    queue.finish()
    assert queue.engine.calls == [(1, 3), (8, 3), (1, 5)]
    for n, job in enumerate(jobs[:4]):
        np.testing.assert_array_equal(job.results[0], rows_of(2 * n, 2 * n + 2))
    assert [job.batch for job in jobs] == [4, 4, 4, 4, 1]


def test_a_call_has_no_more_rows_than_it_may():
    queue = Queue(max_batch=3)
    queue.hold()
    for rows in (2, 2, 1, 5):
        queue.ask(rows_of(*range(rows)))
    queue.finish()
    assert queue.engine.calls == [(1, 3), (3, 3), (2, 3), (5, 3)]


def test_instances_share_what_waits():
    queue = Queue(instances=2, delay=0.0)
    queue.engine.gate.clear()
    for places in (1, 2):
        queue.ask(rows_of(0, places=places))
    while len(queue.engine.calls) < 2:
        time.sleep(0.001)
    for n in range(6):
        queue.ask(rows_of(n))
    queue.finish()
    assert sorted(queue.engine.calls[2:], reverse=True) == [(3, 3), (2, 3), (1, 3)]


def test_a_full_queue_refuses_at_once():
    queue = Queue(queue=2)
    queue.hold()
    jobs = [queue.ask(rows_of(1)), queue.ask(rows_of(2))]
    with pytest.raises(Overloaded):
        queue.ask(rows_of(3))
    queue.finish()
    assert [job.results[0][0, 0] for job in jobs] == [2, 4]


def test_what_is_over_or_cancelled_is_not_computed(queue):
    first = queue.hold()
    late = queue.ask(rows_of(1, places=4), time.monotonic() + 0.01)
    gone = queue.ask(rows_of(2, places=5))
    assert queue.batcher.cancel(gone) and not queue.batcher.cancel(first)
    time.sleep(0.02)
    queue.finish()
    assert queue.engine.calls == [(1, 3)]
    assert isinstance(late.error, Expired) and late in queue.ended and gone not in queue.ended


def test_one_that_fails_fails_alone(queue):
    queue.hold()
    jobs = [queue.ask(rows_of(n)) for n in (1, np.nan, 2)]
    queue.finish()
    assert isinstance(jobs[1].error, BadRequest)
    assert [jobs[0].results[0][0, 0], jobs[2].results[0][0, 0]] == [2, 4]
    assert jobs[0].error is None and jobs[2].error is None


def test_any_error_of_a_call_ends_the_request(queue):
    queue.engine.run = lambda arrays: 1 / 0
    job = queue.ask(rows_of(1))
    queue.finish()
    assert isinstance(job.error, ModelFailed) and "ZeroDivisionError" in str(job.error)


def test_after_the_end_nothing_is_taken(queue):
    queue.finish()
    with pytest.raises(NotReady):
        queue.ask(rows_of(1))


@pytest.mark.parametrize("array", [
    rows_of(1).astype(np.float64), rows_of(1)[0], np.array(["a"], object)])
def test_what_does_not_fit_is_refused(queue, array):
    with pytest.raises(BadRequest, match="x"):
        queue.ask(array)


def test_sizes_are_told_in_the_users_terms():
    assert shown(("s77", 8)) == "[batch, 8]"
    assert shown(("s77", "s3", "2*s3 + s77", "u1")) == "[batch, n, 2*n + batch, m]"
    assert shown(("rows", "places", "s0")) == "[rows, places, n]"
    assert shown(()) == "[]"


def test_padded_requests_share_calls():
    queue = Queue(Padding({"x": -1.0}, multiple=4))
    queue.hold()
    jobs = [queue.ask(rows_of(n, places=n)) for n in (1, 3, 4, 5)]
    queue.finish()
    assert queue.engine.calls == [(1, 4), (3, 4), (1, 8)]
    for n, job in zip((1, 3, 4, 5), jobs):
        np.testing.assert_array_equal(job.results[0], rows_of(2 * n, places=n))


def test_padding_stops_at_the_largest_size():
    limited = (Tensor("x", "FP32", ("rows", "places"), (None, 6)),)
    plan = BatchPlan(limited, Doubling.outputs, True, Padding({"x": 0}, multiple=4))
    assert plan.key([rows_of(1, places=3)]) == ((4,),)
    assert plan.key([rows_of(1, places=5)]) == ((6,),)


def test_a_request_gets_its_own_rows_of_each_dim():
    plan = BatchPlan(ROWS, (Tensor("s", "FP32", ("rows", "rows")),), True)
    symbols = [plan.symbols_of([rows_of(*range(count))]) for count in (1, 2)]
    whole = np.arange(9.0).reshape(3, 3)
    parts = plan.parts([whole], symbols)
    assert parts[0][0].tolist() == [[0]] and parts[1][0].tolist() == [[4, 5], [7, 8]]


def test_sizes_that_are_computed_are_not_cut():
    with pytest.raises(ValueError, match="computed"):
        BatchPlan(ROWS, (Tensor("y", "FP32", ("2*rows",)),), True)


def test_rows_that_touch_each_other_are_noticed():
    class Mean(Doubling):
        def run(self, arrays):
            return [arrays[0] - arrays[0].mean(0)]

    assert rows_are_alone(Doubling()) and not rows_are_alone(Mean())
    assert rows_are_alone(FxjitEngine(path_of("bert")))
    assert not rows_are_alone(FxjitEngine(path_of("attention")))


def test_the_first_priority_is_first(queue):
    queue.hold()
    jobs = [queue.ask(rows_of(n, places=n), priority=priority)
            for n, priority in ((1, 2**64), (2, 3), (4, 1), (5, 3))]
    queue.finish()
    assert [places for _, places in queue.engine.calls[1:]] == [4, 2, 5, 1]
    assert all(job.results is not None for job in jobs)
