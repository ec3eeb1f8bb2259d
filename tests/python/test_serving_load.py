"""What loading a model finds out and says: symbols, shared calls, the warm-up; and the package's
imports."""

import importlib.util
import pathlib
import re

import pytest

for needed in ("orjson", "prometheus_client"):
    if not importlib.util.find_spec(needed):
        pytest.skip(f"{needed} is not installed here: fxjit.serving is tested where scripts/setup "
                    "could make build/serve", allow_module_level=True)
import fxjit  # noqa: E402
from fxjit.serving import Tensor  # noqa: E402
from fxjit.serving.batch_plan import BatchPlan  # noqa: E402
from fxjit.serving.engine import _example_of  # noqa: E402
from fxjit.serving.load import _warm_up, plan_of, rows_are_alone, why_not_alone  # noqa: E402
from fxjit.serving.model_config import ModelConfig  # noqa: E402
from fxjit.serving.symbols import named_sizes  # noqa: E402
from serving_parts import Doubling, served_by  # noqa: E402


class Told:
    """An input or output as a model tells it."""

    def __init__(self, name, sizes, example=None):
        self.name, self.sizes, self.dtype = name, sizes, "float32"
        self.example = example or [size if isinstance(size, int) else None for size in sizes]


def test_symbols_may_have_any_text():
    """Those of ONNX, and sizes that are computed from nothing that has a name."""
    inputs, outputs = named_sizes(
        [Told("a", ["batch size", "n", 3]), Told("b", ["batch size", "2*n", "2*m"])],
        [Told("y", ["batch size", "n + 1", "2*m", "4*m"])])
    assert [one.sizes for one in inputs] == [["batch_size", "n", 3],
                                             ["batch_size", "2*n", "size_2_m"]]
    assert outputs[0].sizes == ["batch_size", "n + 1", "size_2_m", "4*m"]
    inputs, _ = named_sizes([Told("a", ["batch size", "batch_size", "batch-size", "?"])], [])
    assert inputs[0].sizes == ["batch_size_", "batch_size", "batch_size__", "size"]
    assert _example_of([Told("a", inputs[0].sizes)]) == {"a": (1, 16, 16, 16)}


class Named(Doubling):
    def __init__(self):
        super().__init__()
        one, other = named_sizes([Told("x", ["batch size", "places/2"])],
                                 [Told("y", ["batch size", "places/2"])])
        self.inputs = (Tensor("x", "FP32", tuple(one[0].sizes)),)
        self.outputs = (Tensor("y", "FP32", tuple(other[0].sizes)),)


def test_symbols_that_are_no_identifiers_prevent_no_batches():
    assert rows_are_alone(Named())
    plan = BatchPlan(Named().inputs, Named().outputs, True)
    assert plan.rows == "batch_size"


class Mean(Doubling):
    def run(self, arrays):
        return [arrays[0] - arrays[0].mean(0)]


class Numbers(Doubling):
    inputs = outputs = (Tensor("x", "FP32", (2, 3)),)


class Unknown(Doubling):
    def example(self):
        return None


@pytest.mark.parametrize("engine, why", [
    (Doubling(), ""), (Mean(), "output y of a row depends"), (Numbers(), "no first size"),
    (Unknown(), "no sizes")])
def test_why_requests_do_not_share_calls(engine, why, caplog):
    assert (why in why_not_alone(engine)) and bool(why) == bool(why_not_alone(engine))
    with caplog.at_level("INFO", "fxjit.serving"):
        plan_of(engine, ModelConfig(), "m")
    (told,) = caplog.records
    assert getattr(told, "reason", "") == why_not_alone(engine)


def test_why_nothing_is_compiled_before_the_first_request(caplog):
    served = served_by(Unknown())
    _warm_up(served, None)
    (told,) = caplog.records
    assert "warmup.json" in told.reason and told.model == "m"
    served.close()
    caplog.clear()
    engine = Doubling()
    engine.example = lambda: {"x": (1, 2, 3)}
    served = served_by(engine)
    _warm_up(served, None)
    assert "expected the shape" in caplog.records[0].reason
    served.close()


def test_the_package_has_no_circles():
    """Nor in imports that only type checkers see."""
    folder = pathlib.Path(fxjit.__file__).parent / "serving"
    uses = {path.stem: set(re.findall(r"^\s*from \.(\w+) import|^from \. import (.+)$",
                                      path.read_text(), re.M)) for path in folder.glob("*.py")
            if path.exists()}  # Not links that an earlier build made.
    flat = {name: {part for one in found for text in one for part in text.split(", ") if part}
            for name, found in uses.items()}
    while flat:
        free = [name for name, used in flat.items() if not used & flat.keys()]
        assert free, f"these import each other: {sorted(flat)}"
        for name in free:
            del flat[name]
