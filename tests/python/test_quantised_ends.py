"""ONNX's products of integers where sums are greatest and depths oddest: numbers and zero points at
both ends of their types, depths of 1 and of no whole quad, results that saturate at both ends."""

import fxjit
import numpy as np
import pytest
from onnx_files import write_model

NUMBERS = {"float32": 1, "uint8": 2, "int8": 3}
PAIRS = [("uint8", "int8"), ("int8", "int8"), ("uint8", "uint8"), ("int8", "uint8")]
ROWS = [1, 2, 7, 33]
COLUMNS = 21


def constant(array):
    return NUMBERS[array.dtype.name], array


def ends(dtype):
    limits = np.iinfo(dtype)
    return limits.min, limits.max


def drawn(generator, dtype, sizes):
    """Half of the numbers at the ends."""
    low, high = ends(dtype)
    numbers = generator.integers(low, high, sizes, endpoint=True)
    return np.where(generator.random(sizes) < 0.5, generator.choice([low, high], sizes),
                    numbers).astype(dtype)


def loaded(folder, node, inputs, result, constants):
    return fxjit.load(write_model(folder / "model.onnx", [node], inputs, {"y": result},
                                  constants={k: constant(v) for k, v in constants.items()}))


@pytest.mark.parametrize("depth", [1, 3, 17, 64, 127])
@pytest.mark.parametrize("left, right", PAIRS)
def test_sums(tmp_path, left, right, depth):
    generator = np.random.default_rng(depth)
    w = drawn(generator, right, (depth, COLUMNS))
    for zero in ends(left):
        by_column = generator.choice(ends(right), COLUMNS).astype(right)
        for w_zero in (np.array(ends(right)[1], right), by_column):
            model = loaded(tmp_path, ("MatMulInteger", ["x", "w", "p", "q"], ["y"], {}),
                           {"x": (left, ["N", depth])}, ("int32", ["N", COLUMNS]),
                           {"w": w, "p": np.array(zero, left), "q": w_zero})
            for rows in ROWS:
                x = drawn(generator, left, (rows, depth))
                expected = (x.astype(np.int64) - zero) @ (w.astype(np.int64) - w_zero)
                np.testing.assert_array_equal(np.asarray(model(x)), expected)


def test_given_factors(tmp_path):
    """The right factor is known to the call alone."""
    generator = np.random.default_rng(4)
    for left, right in PAIRS:
        for depth in (1, 3, 65):
            model = loaded(tmp_path, ("MatMulInteger", ["x", "w", "p"], ["y"], {}),
                           {"x": (left, [7, depth]), "w": (right, [depth, COLUMNS])},
                           ("int32", [7, COLUMNS]), {"p": np.array(ends(left)[1], left)})
            x = drawn(generator, left, (7, depth))
            w = drawn(generator, right, (depth, COLUMNS))
            expected = (x.astype(np.int64) - ends(left)[1]) @ w.astype(np.int64)
            np.testing.assert_array_equal(np.asarray(model(x, w)), expected)


@pytest.mark.parametrize("depth", [1, 5, 30])
@pytest.mark.parametrize("left, right", PAIRS[:2])
def test_saturated_results(tmp_path, left, right, depth):
    """Scales are powers of two, so that quotients are exact; those of the middle are rounded."""
    generator = np.random.default_rng(depth)
    w = drawn(generator, right, (depth, COLUMNS))
    low, high = ends(left)
    for zero in (low, high):
        for shift in (-10, -14):
            model = loaded(
                tmp_path,
                ("QLinearMatMul", ["x", "a", "p", "w", "b", "q", "c", "r"], ["y"], {}),
                {"x": (left, ["N", depth])}, (left, ["N", COLUMNS]),
                {"a": np.array(2.0 ** shift, np.float32), "p": np.array(high, left), "w": w,
                 "b": np.array(1, np.float32), "q": np.array(0, right),
                 "c": np.array(1, np.float32), "r": np.array(zero, left)})
            for rows in ROWS:
                x = drawn(generator, left, (rows, depth))
                sums = (x.astype(np.int64) - high) @ w.astype(np.int64)
                expected = np.clip(np.rint(sums * 2.0 ** shift) + zero, low, high)
                np.testing.assert_array_equal(np.asarray(model(x)), expected.astype(left))


@pytest.mark.parametrize("channels", [1, 3, 5])
@pytest.mark.parametrize("zero", [0, 255])
def test_images(tmp_path, channels, zero):
    """What lies outside is read as the zero point."""
    generator = np.random.default_rng(channels)
    w = drawn(generator, "int8", (6, channels, 3, 3))
    model = loaded(tmp_path, ("ConvInteger", ["x", "w", "p"], ["y"], {"pads": [1, 1, 1, 1]}),
                   {"x": ("uint8", [1, channels, 9, 11])}, ("int32", [1, 6, 9, 11]),
                   {"w": w, "p": np.array(zero, np.uint8)})
    x = drawn(generator, "uint8", (1, channels, 9, 11))
    moved = np.pad(x.astype(np.int64) - zero, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(moved, (3, 3), axis=(2, 3))
    expected = np.einsum("nchwij,ocij->nohw", windows, w.astype(np.int64))
    np.testing.assert_array_equal(np.asarray(model(x)), expected)
