"""The queue, the batches and the repository of fxjit.serving, without a server."""

import asyncio
import importlib.util
import json
import logging
import os
import shutil
import threading
import time
import zlib

import numpy as np
import pytest
from cases import case_of, close, path_of

for needed in ("orjson", "prometheus_client"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit.serving is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import fxjit  # noqa: E402
from fxjit.serving import Tensor  # noqa: E402
from fxjit.serving.account import Account  # noqa: E402
from fxjit.serving.batch_plan import BatchPlan, Padding, shown  # noqa: E402
from fxjit.serving.batcher import Batcher, BatchOptions, Job  # noqa: E402
from fxjit.serving.engine import FxjitEngine, _example_of  # noqa: E402
from fxjit.serving.errors import (  # noqa: E402
    BadRequest, Expired, ModelFailed, NotFound, NotReady, Overloaded, TooLarge)
from fxjit.serving.front_door import FrontDoor  # noqa: E402
from fxjit.serving.grpc_receipts import Receipts  # noqa: E402
from fxjit.serving.load import load_served, rows_are_alone  # noqa: E402
from fxjit.serving.log_limits import OfOneKind, line_of  # noqa: E402
from fxjit.serving.model_config import ServeOptions  # noqa: E402
from fxjit.serving.repository import Repository  # noqa: E402
from fxjit.serving.requests import Request  # noqa: E402
from fxjit.serving.rest import RestApp  # noqa: E402
from fxjit.serving.rest_body import unpacked  # noqa: E402
from fxjit.serving.served import Served  # noqa: E402

ROWS = (Tensor("x", "FP32", ("rows", "places")),)


class Doubling:
    """Gives twice its input, when `gate` is open; refuses rows that begin with a NaN."""

    inputs = ROWS
    outputs = (Tensor("y", "FP32", ("rows", "places")),)

    def __init__(self):
        self.gate, self.calls = threading.Event(), []
        self.gate.set()

    def example(self):
        return {"x": (2, 3)}

    def run(self, arrays):
        self.calls.append(arrays[0].shape)
        assert self.gate.wait(30)
        if arrays[0].size and np.isnan(arrays[0]).any():
            raise BadRequest("NaN")
        return [arrays[0] * 2]

    def compiled_size(self):
        return 0, 0


def rows_of(*numbers, places=3):
    return np.repeat(np.array(numbers, np.float32)[:, None], places, 1)


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


def parts_of(engine, requests):
    """Each request's outputs when all share a call, and when each has its own."""
    plan = BatchPlan(engine.inputs, engine.outputs, True)
    symbols = [plan.symbols_of(one) for one in requests]
    return plan.parts(engine.run(plan.joined(requests)), symbols), [
        engine.run(one) for one in requests]


@pytest.mark.parametrize("strict", [False, True])
def test_rows_of_a_call_are_those_of_single_requests(strict):
    engine = FxjitEngine(path_of("bert"), {"strict_sums": strict})
    inputs, answers = case_of("bert")
    random = np.random.default_rng(3)
    requests = [[random.integers(1, 50, (rows, 7)), np.ones((rows, 7), np.int64)]
                for rows in (1, 3, 1, 2)]
    requests.append([inputs["input_ids"], inputs["attention_mask"]])
    together, alone = parts_of(engine, requests)
    for one, other in zip(together, alone, strict=True):
        for got, wanted in zip(one, other, strict=True):
            if strict:
                np.testing.assert_array_equal(got, wanted)
            close(got, wanted, 1e-5)
    for got, answer in zip(together[-1], answers, strict=True):
        close(got, answer)


@pytest.mark.parametrize("strict", [False, True])
def test_padded_requests_of_mixed_lengths_are_those_of_single_requests(strict):
    """Asked all at once and one after the other; what nothing was padded for is the bound."""
    engine = FxjitEngine(path_of("bert"), {"strict_sums": strict})
    plan = BatchPlan(engine.inputs, engine.outputs, True,
                     Padding({"input_ids": 0, "attention_mask": 0}, multiple=8))
    served = Served("bert", "1", engine, plan, BatchOptions(instances=1, delay=0.05))
    random = np.random.default_rng(4)
    requests = [
        Request({"input_ids": random.integers(1, 50, (rows, length)),
                 "attention_mask": np.ones((rows, length), np.int64)})
        for rows, length in [(1, 3), (2, 8), (1, 5), (3, 7), (1, 9), (1, 12), (2, 16), (1, 1)]]

    async def ask():
        times = [{} for _ in requests]
        together = await asyncio.gather(*map(served.infer, requests, times))
        assert max(one["batch"] for one in times) > 1
        return together, [await served.infer(one, {}) for one in requests]

    together, alone = asyncio.run(ask())
    served.close()
    for request, got, single in zip(requests, together, alone, strict=True):
        plain = engine.run([request.inputs[one.name] for one in engine.inputs])
        for name, wanted in zip(got.outputs, plain, strict=True):
            if strict:
                np.testing.assert_array_equal(got.outputs[name], single.outputs[name])
            close(got.outputs[name], single.outputs[name], 1e-5)
            close(got.outputs[name], wanted, 1e-5)


def served_by(engine, **options):
    plan = BatchPlan(engine.inputs, engine.outputs, True)
    return Served("m", "1", engine, plan, BatchOptions(**{"instances": 1, **options}))


def test_a_deadline_ends_the_wait_though_all_are_busy():
    engine = Doubling()
    served = served_by(engine)

    async def ask():
        engine.gate.clear()
        first = asyncio.ensure_future(served.infer(Request({"x": rows_of(1)}), {}))
        while not engine.calls:
            await asyncio.sleep(0.001)
        with pytest.raises(Expired):
            await served.infer(Request({"x": rows_of(2)}, deadline=time.monotonic() + 0.02), {})
        gone = asyncio.ensure_future(served.infer(Request({"x": rows_of(3)}), {}))
        await asyncio.sleep(0.01)
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        engine.gate.set()
        return await first

    answer = asyncio.run(ask())
    served.close()
    np.testing.assert_array_equal(answer.outputs["y"], rows_of(2))
    assert engine.calls == [(1, 3)]


class Fixed:
    """A repository of one model."""

    stopping = False

    def __init__(self, served):
        self._served = served

    def find(self, name, version=""):
        return self._served


def test_a_client_that_goes_away_is_not_computed():
    engine = Doubling()
    served = served_by(engine)
    door = FrontDoor(Fixed(served))
    body = (b'{"inputs":[{"name":"x","shape":[1,3],"datatype":"FP32","data":[1,2,3]}]}')

    async def ask():
        engine.gate.clear()
        first = asyncio.ensure_future(served.infer(Request({"x": rows_of(1)}), {}))
        while not engine.calls:
            await asyncio.sleep(0.001)
        messages = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]
        sent = []

        async def receive():
            if len(messages) == 1:
                await asyncio.sleep(0.02)
            return messages.pop(0)

        async def send(message):
            sent.append(message)

        await RestApp(door)({"type": "http", "method": "POST", "path": "/v2/models/m/infer",
                             "headers": []}, receive, send)
        engine.gate.set()
        await first
        return sent

    assert asyncio.run(ask()) == []
    served.close()
    assert engine.calls == [(1, 3)]


def test_the_account_refuses_what_goes_beyond_it():
    account = Account(150)
    one, other = account.open(), account.open()
    one.grow(100)
    with pytest.raises(Overloaded):
        other.grow(51)
    with pytest.raises(TooLarge):
        one.grow(51)
    one.share()  # A thread works on it still.
    one.close()
    assert account.held == 100
    one.close()
    other.grow(150)
    other.shrink(50)
    assert account.held == 100


@pytest.mark.parametrize("size", [0, 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_bodies_are_unpacked_piece_by_piece(size):
    for whole in (bytes(size), np.random.default_rng(0).bytes(size)):
        packed = bytearray(zlib.compress(whole, 1))
        held = Account(8 << 20).open()
        held.grow(len(packed))
        assert unpacked(packed, "deflate", 4 << 20, held) == whole and held.size == size
        for wrong in (packed + b"x", packed[:-1]):
            with pytest.raises(BadRequest):
                unpacked(wrong, "deflate", 4 << 20, Account(16 << 20).open())
    with pytest.raises(TooLarge):
        unpacked(bytearray(zlib.compress(bytes(5 << 20))), "deflate", 4 << 20, held)


def test_the_oldest_message_makes_room_for_others():
    async def ask():
        account = Account(120)
        receipts = Receipts(account, largest=50, seconds=3600)
        never = asyncio.Event()
        first = asyncio.ensure_future(receipts.receive(never.wait))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(receipts.receive(lambda: asyncio.sleep(0, b"message")))
        assert await second == b"message"
        with pytest.raises(Overloaded):
            await first
        last = asyncio.ensure_future(receipts.receive(never.wait))
        await asyncio.sleep(0)
        receipts.end()
        with pytest.raises(NotReady):
            await last

    asyncio.run(ask())


def test_lines_are_cut_and_warnings_counted():
    for fields in ({"error": "x" * 10**6}, {f"field{n}": "\n" * 1000 for n in range(50)},
                   {"request": "\0" * 10**6, "reason": "bad"}):
        line = line_of({"time": "now", "level": "warning", "event": "refused", **fields})
        assert len(line) <= 1024 and json.loads(line)["event"] == "refused"
    assert "the end" in line_of({"event": "failed", "traceback": "x" * 10**5 + "the end"})
    limit = OfOneKind()
    records = [logging.LogRecord("a", logging.WARNING, "", 0, "refused", None, None)
               for _ in range(1000)]
    passed = [record for record in records if limit.filter(record)]
    assert 10 <= len(passed) <= 30
    error = logging.LogRecord("a", logging.ERROR, "", 0, "refused", None, None)
    assert limit.filter(error)


def test_the_first_priority_is_first(queue):
    queue.hold()
    jobs = [queue.ask(rows_of(n, places=n), priority=priority)
            for n, priority in ((1, 2**64), (2, 3), (4, 1), (5, 3))]
    queue.finish()
    assert [places for _, places in queue.engine.calls[1:]] == [4, 2, 5, 1]
    assert all(job.results is not None for job in jobs)


def options(**changes):
    return ServeOptions(BatchOptions(instances=1), threads=1, **changes)


@pytest.fixture
def folder(tmp_path):
    for version in ("1", "2", "10"):
        (tmp_path / "mlp" / version).mkdir(parents=True)
        shutil.copy(path_of("perceptron"), tmp_path / "mlp" / version)
    return tmp_path


def repository_of(folder, **changes):
    made = Repository([str(folder)], options(**changes), load_served)
    made.load_all()
    return made


def states(repository):
    return [(row["name"], row["version"], row["state"]) for row in repository.index()]


def test_versions_come_and_go(folder):
    (folder / "mlp" / "model.json").write_text('{"versions": 2}')
    repository = repository_of(folder)
    assert states(repository) == [("mlp", "2", "READY"), ("mlp", "10", "READY")]
    assert repository.find("mlp").version == "10" and repository.ready()
    with pytest.raises(NotFound):
        repository.find("mlp", "1")
    kept = repository.find("mlp", "2")
    shutil.rmtree(folder / "mlp" / "10")
    repository.load("mlp")
    assert repository.versions("mlp") == ["1", "2"] and repository.find("mlp", "2") is kept
    os.utime(folder / "mlp" / "2" / "perceptron.pt2")
    repository.load("mlp")
    assert repository.find("mlp", "2") is not kept
    repository.unload("mlp")
    with pytest.raises(NotReady):
        repository.find("mlp")
    assert repository.index(ready_only=True) == [] and not repository.ready()
    repository.load("mlp")
    assert repository.ready()
    repository.close()


def test_a_model_that_cannot_be_loaded_says_why(folder):
    (folder / "bad" / "1").mkdir(parents=True)
    (folder / "bad" / "1" / "model.pt2").write_text("no archive")
    repository = repository_of(folder)
    assert ("bad", "1", "UNAVAILABLE") in states(repository) and not repository.ready()
    assert repository.find("mlp")
    with pytest.raises(NotReady, match="bad"):
        repository.find("bad")
    with pytest.raises(NotReady, match="archive"):
        repository.load("bad")
    shutil.copy(path_of("perceptron"), folder / "bad" / "1" / "model.pt2")
    repository.load("bad")
    assert repository.ready()
    repository.close()


@pytest.mark.parametrize("text, part", [
    ("{", "model.json"), ("[]", "object"), ('{"option": {}}', "unknown field option"),
    ('{"max_batch": 0}', "too small"), ('{"max_batch": "2"}', "int"),
    ('{"batching": 1}', "bool"), ('{"pad": {"value": 1}}', "pad"),
    ('{"options": {"thread": 1}}', "thread"), ('{"file": "none.pt2"}', "none.pt2"),
    ('{"front": "front.py"}', "--front-code"), ('{"inputs": []}', "together"),
    ('{"pad": {"values": {}}, "batching": true, "versions": 0}', "versions")])
def test_what_is_wrong_with_a_model_json(folder, text, part):
    (folder / "mlp" / "model.json").write_text(text)
    repository = repository_of(folder)
    with pytest.raises(NotReady, match=part):
        repository.load("mlp")
    repository.close()


def test_warm_up_compiles_before_it_answers(folder):
    (folder / "mlp" / "model.json").write_text('{"versions": 1}')
    (folder / "mlp" / "warmup.json").write_text('[{"x": [5, 8]}, {"x": [6, 8]}]')
    (folder / "mlp" / "10" / "warmup.json").write_text('[{"x": [7, 8]}]')
    repository = repository_of(folder)
    programs = repository.find("mlp").engine.compiled_size()[0]
    assert programs == 3  # Of one row and of two, by which rows are found to be alone, and of 7.
    (folder / "mlp" / "10" / "warmup.json").write_text('[{"x": [7, 9]}]')
    with pytest.raises(NotReady, match="x"):
        repository.load("mlp")
    repository.close()


FRONT = """
import numpy as np
from fxjit.serving import BadRequest, Tensor

class Front:
    inputs = [Tensor("text", "BYTES", ("rows",))]
    outputs = [Tensor("best", "INT64", ("rows",))]

    def __init__(self, folder):
        pass

    def before(self, inputs):
        if b"" in inputs["text"]:
            raise BadRequest("an empty text")
        return {"x": np.array([[float(text)] * 8 for text in inputs["text"]], np.float32)}

    def after(self, outputs):
        return {"best": outputs["output"].argmax(1)}
"""


def test_code_stands_in_front_where_it_is_allowed(folder):
    (folder / "mlp" / "front.py").write_text(FRONT)
    (folder / "mlp" / "model.json").write_text('{"front": "front.py", "versions": 1}')
    repository = repository_of(folder, front_code=True)
    served = repository.find("mlp")
    assert served.metadata([])["inputs"] == [{"name": "text", "datatype": "BYTES", "shape": [-1]}]

    def ask(*texts):
        given = np.array(texts, object)
        return asyncio.run(served.infer(Request({"text": given}), {})).outputs["best"]

    model = fxjit.load(path_of("perceptron"))
    wanted = model(np.repeat(np.array([[1.0], [-3.0]], np.float32), 8, 1)).argmax(1)
    np.testing.assert_array_equal(ask(b"1", b"-3"), wanted)
    with pytest.raises(BadRequest, match="empty"):
        ask(b"1", b"")
    with pytest.raises(ModelFailed, match="ValueError"):
        ask(b"one")
    repository.close()


def test_sizes_that_a_file_does_not_tell_are_guessed():
    class Told:
        def __init__(self, name, sizes, example):
            self.name, self.sizes, self.example, self.dtype = name, sizes, example, "float32"

    ids, mask = Told("ids", ["n", "s"], [None, None]), Told("mask", ["n", "s", 3], [None, None, 3])
    assert _example_of([ids, mask]) == {"ids": (1, 16), "mask": (1, 16, 3)}
    assert _example_of([Told("x", ["2*n"], [None])]) is None


def test_a_model_without_sizes_is_described(tmp_path):
    torch = pytest.importorskip("torch", reason="PyTorch, which writes the file, is not installed")
    graph = torch.fx.symbolic_trace(torch.nn.Linear(3, 2))
    (tmp_path / "linear" / "1").mkdir(parents=True)
    fxjit.from_fx(graph).save(str(tmp_path / "linear" / "1" / "linear.fx"))
    with pytest.raises(NotReady, match="model.json"):
        repository_of(tmp_path).load("linear")
    (tmp_path / "linear" / "model.json").write_text(
        '{"inputs": [{"name": "input", "datatype": "FP32", "shape": ["n", 3]}],'
        ' "outputs": [{"name": "y", "datatype": "FP32", "shape": ["n", 2]}], "batching": true}')
    served = repository_of(tmp_path).find("linear")
    x = np.ones((2, 3), np.float32)
    (name,) = [one.name for one in served.inputs]
    got = asyncio.run(served.infer(Request({name: x}), {})).outputs["y"]
    close(got, graph(torch.from_numpy(x)).detach().numpy())
    served.close()
