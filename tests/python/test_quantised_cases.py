"""Quantised ONNX graphs against whole numbers: scales at the ends of floats, and random graphs whose
scales are powers of two, so that everything between the integers is exact as well."""

import fxjit
import numpy as np
import pytest
from onnx_files import write_model

NUMBERS = {"float32": 1, "uint8": 2, "int8": 3}


def constant(array):
    return NUMBERS[array.dtype.name], array


def quantised(x, scale, zero, dtype=np.uint8):
    limits = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        moved = np.rint(x / scale) + np.float32(zero)
    moved = np.where(np.isnan(moved), limits.min, moved)
    return np.clip(moved, limits.min, limits.max).astype(dtype)


EXTREMES = np.array([0, -0.0, 1, -1, 1e-38, 1e-40, -1e-40, 3e38, -3e38, np.inf, -np.inf, np.nan],
                    np.float32)


@pytest.mark.parametrize("scale", [0, 1e-45, 1e-40, 1e-38, 3e38, np.inf, np.nan, -0.5])
def test_scales_at_the_ends(tmp_path, scale):
    scale, size = np.array(scale, np.float32), len(EXTREMES)
    model = fxjit.load(write_model(
        tmp_path / "model.onnx",
        [("QuantizeLinear", ["x", "s", "z"], ["q"], {}),
         ("DequantizeLinear", ["q", "s", "z"], ["y"], {})],
        {"x": ("float32", [size])}, {"q": ("uint8", [size]), "y": ("float32", [size])},
        constants={"s": constant(scale), "z": constant(np.array(3, np.uint8))}))
    q, y = model(EXTREMES)
    expected = quantised(EXTREMES, scale, 3)
    np.testing.assert_array_equal(np.asarray(q), expected)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.asarray(y), (expected.astype(np.float32) - 3) * scale)


@pytest.mark.parametrize("scales", [(0, 0.1, 0.1), (1e-40, 1, 1e-38), (1e-20, 1e-20, 1e-37),
                                    (1e20, 1e25, 1e38), (0.1, 0.1, 0), (1e-45, 1e-45, 1e-45)])
def test_products_by_scales_at_the_ends(tmp_path, scales):
    generator = np.random.default_rng(1)
    x = generator.integers(0, 256, (5, 17)).astype(np.uint8)
    w = generator.integers(-128, 128, (17, 9)).astype(np.int8)
    a, b, c = (np.array(scale, np.float32) for scale in scales)
    model = fxjit.load(write_model(
        tmp_path / "model.onnx",
        [("DequantizeLinear", ["x", "a", "p"], ["r"], {}),
         ("DequantizeLinear", ["w", "b"], ["s"], {}), ("MatMul", ["r", "s"], ["t"], {}),
         ("QuantizeLinear", ["t", "c", "q"], ["y"], {})],
        {"x": ("uint8", [5, 17])}, {"y": ("uint8", [5, 9])},
        constants={"a": constant(a), "p": constant(np.array(100, np.uint8)), "w": constant(w),
                   "b": constant(b), "c": constant(c), "q": constant(np.array(128, np.uint8))}))
    sums = (x.astype(np.int64) - 100) @ w.astype(np.int64)
    with np.errstate(all="ignore"):
        real = (sums * (float(a) * float(b))).astype(np.float32)
    np.testing.assert_array_equal(np.asarray(model(x)), quantised(real, c, 128))


class Graph:
    """A random chain of quantised ops, and its integers. Of each value: name, scale, zero point."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.count = [], {}, 0
        rows, columns = self.random.integers(1, 20, 2)
        self.x = self.draw((rows, columns))
        self.value = ("x", *self.numbers(), self.x)

    def draw(self, sizes, dtype=np.uint8):
        limits = np.iinfo(dtype)
        return self.random.integers(limits.min, limits.max, sizes, dtype, endpoint=True)

    def numbers(self):
        zero = int(self.random.choice([0, 255, int(self.random.integers(256))]))
        return 2.0 ** int(self.random.integers(-6, 3)), zero

    def keep(self, array):
        self.count += 1
        self.constants[f"c{self.count}"] = constant(array)
        return f"c{self.count}"

    def node(self, op, inputs, **attributes):
        self.count += 1
        self.nodes.append((op, inputs, [f"v{self.count}"], attributes))
        return f"v{self.count}"

    def parameters(self, scale, zero):
        return [self.keep(np.array(scale, np.float32)), self.keep(np.array(zero, np.uint8))]

    def real(self):
        name, scale, zero, q = self.value
        made = self.node("DequantizeLinear", [name, *self.parameters(scale, zero)])
        return made, (q.astype(np.float64) - zero) * scale

    def finish(self, name, real):
        scale, zero = self.numbers()
        # So that some of the range is used, whatever the op has made.
        scale *= 2.0 ** max(0, int(np.log2(np.abs(real).max() / 256 / scale + 1)))
        made = self.node("QuantizeLinear", [name, *self.parameters(scale, zero)])
        self.value = (made, scale, zero, quantised(real, scale, zero))

    def product(self):
        name, real = self.real()
        columns = int(self.random.integers(1, 20))
        w = self.draw((real.shape[1], columns), np.int8)
        scale = 2.0 ** self.random.integers(-8, -2, columns)
        factor = self.node("DequantizeLinear", [self.keep(w), self.keep(scale.astype(np.float32))],
                           axis=1)
        self.finish(self.node("MatMul", [name, factor]), real @ (w * scale))

    def addition(self):
        name, real = self.real()
        other = self.draw(real.shape)
        scale, zero = self.numbers()
        second = self.node("DequantizeLinear", [self.keep(other), *self.parameters(scale, zero)])
        self.finish(self.node("Add", [name, second]),
                    real + (other.astype(np.float64) - zero) * scale)

    def relu(self):
        name, real = self.real()
        self.finish(self.node("Relu", [name]), np.maximum(real, 0))

    def turn(self):
        name, real = self.real()
        self.finish(self.node("Transpose", [name], perm=[1, 0]), real.T)

    def double(self):
        name, real = self.real()
        self.finish(self.node("Concat", [name, name], axis=0), np.concatenate([real, real]))


@pytest.mark.parametrize("seed", range(24))
def test_random_graphs(tmp_path, seed):
    graph = Graph(seed)
    steps = [Graph.product, Graph.product, Graph.addition, Graph.relu, Graph.turn, Graph.double]
    for _ in range(6):
        steps[graph.random.integers(len(steps))](graph)
    name, _, _, expected = graph.value
    model = fxjit.load(write_model(
        tmp_path / "model.onnx", graph.nodes, {"x": ("uint8", list(graph.x.shape))},
        {name: ("uint8", list(expected.shape))}, constants=graph.constants))
    np.testing.assert_array_equal(np.asarray(model(graph.x)), expected)
