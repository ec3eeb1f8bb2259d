"""Stored weights of fewer than 8 bits, several in a byte, against the same numbers one by one."""

import fxjit
import numpy as np
import pytest
from onnx_files import write_model

# Numbers of ONNX's types: bits, and whether there is a sign.
TYPES = {"uint4": (21, 4, False), "int4": (22, 4, True), "uint2": (25, 2, False),
         "int2": (26, 2, True)}
FLOAT4 = 23
FLOAT4_VALUES = [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6]
ROWS, DEPTH, COLUMNS = 5, 22, 9


def packed(codes, bits):
    """Codes along the last dim, the first of a byte in its lowest bits."""
    each = 8 // bits
    codes = np.concatenate([codes, np.zeros((*codes.shape[:-1], -codes.shape[-1] % each), np.uint8)],
                           axis=-1)
    parts = codes.reshape(*codes.shape[:-1], -1, each)
    return sum(parts[..., i].astype(np.uint8) << (bits * i) for i in range(each)).astype(np.uint8)


def codes_of(numbers, bits):
    return (numbers.astype(np.int64) & ((1 << bits) - 1)).astype(np.uint8)


def limits(bits, signed):
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def loaded(folder, nodes, inputs, result, constants):
    return fxjit.load(write_model(folder / "model.onnx", nodes, inputs, {"y": result}, opset=25,
                                  constants=constants))


def stored(name, numbers):
    number, bits, _ = TYPES[name]
    return number, packed(codes_of(numbers.reshape(-1), bits), bits), numbers.shape


def real(array):
    return 1, array.astype(np.float32)


@pytest.mark.parametrize("block", [0, 4, 8, 11])  # 11 divides the depth.
@pytest.mark.parametrize("name", TYPES)
def test_products_of_dequantised_weights(tmp_path, name, block):
    _, bits, signed = TYPES[name]
    low, high = limits(bits, signed)
    generator = np.random.default_rng(bits + block)
    w = generator.integers(low, high, (DEPTH, COLUMNS), endpoint=True)
    rows = [-(-DEPTH // block)] if block else []
    scale = generator.uniform(0.5, 2, (*rows, COLUMNS)).astype(np.float32)
    zero = generator.integers(low, high, scale.shape, endpoint=True)
    attributes = {"axis": 0, "block_size": block} if block else {"axis": 1}
    model = loaded(tmp_path,
                   [("DequantizeLinear", ["w", "s", "z"], ["r"], attributes),
                    ("MatMul", ["x", "r"], ["y"], {})],
                   {"x": ("float32", [ROWS, DEPTH])}, ("float32", [ROWS, COLUMNS]),
                   {"w": stored(name, w), "s": real(scale), "z": stored(name, zero)})
    x = generator.standard_normal((ROWS, DEPTH)).astype(np.float32)
    every = (lambda one: np.repeat(one, block, axis=0)[:DEPTH]) if block else (lambda one: one)
    expected = x.astype(np.float64) @ ((w - every(zero)) * every(scale).astype(np.float64))
    np.testing.assert_allclose(np.asarray(model(x)), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", TYPES)
def test_numbers_are_rounded_and_kept_in_the_range(tmp_path, name):
    _, bits, signed = TYPES[name]
    low, high = limits(bits, signed)
    x = np.array([-100, -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 3.49, 100, np.inf], np.float32)
    model = loaded(tmp_path,
                   [("QuantizeLinear", ["x", "s", "z"], ["q"], {}),
                    ("DequantizeLinear", ["q", "s", "z"], ["y"], {})],
                   {"x": ("float32", [len(x)])}, ("float32", [len(x)]),
                   {"s": real(np.array(0.5)), "z": stored(name, np.array(1))})
    expected = (np.clip(np.rint(x / 0.5) + 1, low, high) - 1) * 0.5
    np.testing.assert_array_equal(np.asarray(model(x)), expected)


def test_real_numbers_of_4_bits(tmp_path):
    codes = np.arange(15, dtype=np.uint8)  # An odd number of them.
    model = loaded(tmp_path,
                   [("DequantizeLinear", ["w", "s"], ["r"], {}), ("Add", ["x", "r"], ["y"], {})],
                   {"x": ("float32", [15])}, ("float32", [15]),
                   {"w": (FLOAT4, packed(codes, 4), [15]), "s": real(np.array(3))})
    got = np.asarray(model(np.zeros(15, np.float32)))
    np.testing.assert_array_equal(got, 3 * np.array(FLOAT4_VALUES[:15]))


def test_other_ops_name_the_type(tmp_path):
    with pytest.raises(ValueError, match="numbers of int4 are not supported by this op"):
        loaded(tmp_path, [("Add", ["w", "w"], ["y"], {})], {}, ("float32", [3]),
               {"w": stored("int4", np.arange(3))})


@pytest.mark.parametrize("zeros", [None, "packed", "real"])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_products_of_packed_blocks(tmp_path, bits, zeros):
    depth, block, blocks = 40, 16, 3  # Blocks do not divide the depth.
    generator = np.random.default_rng(bits)
    codes = generator.integers(0, 1 << bits, (COLUMNS, blocks, block)).astype(np.uint8)
    scale = generator.uniform(0.5, 2, (COLUMNS, blocks)).astype(np.float32)
    zero = np.full((COLUMNS, blocks), 1 << bits - 1)
    constants = {"w": (2, packed(codes, bits)), "s": real(scale),
                 "b": real(generator.standard_normal(COLUMNS))}
    if zeros == "packed":
        zero = generator.integers(0, 1 << bits, zero.shape).astype(np.uint8)
        constants["z"] = 2, packed(zero, bits)
    if zeros == "real":
        zero = generator.uniform(0, 1 << bits, zero.shape).astype(np.float32)
        constants["z"] = real(zero)
    taken = ["x", "w", "s", "z" if zeros else "", "", "b"]
    attributes = {"K": depth, "N": COLUMNS, "bits": bits, "block_size": block}
    model = loaded(tmp_path, [("com.microsoft:MatMulNBits", taken, ["y"], attributes)],
                   {"x": ("float32", [2, ROWS, depth])}, ("float32", [2, ROWS, COLUMNS]), constants)
    x = generator.standard_normal((2, ROWS, depth)).astype(np.float32)
    w = (codes - zero[..., None].astype(np.float64)) * scale[..., None]
    expected = x.astype(np.float64) @ w.reshape(COLUMNS, -1)[:, :depth].T + constants["b"][1]
    np.testing.assert_allclose(np.asarray(model(x)), expected, rtol=1e-5, atol=1e-3)


@pytest.mark.parametrize("rows", [1, 3, 70])
@pytest.mark.parametrize("block", [16, 32, 64, 128, 256])
def test_packed_blocks_of_halves(tmp_path, block, rows):
    depth, blocks = 2 * block + 9, 3
    generator = np.random.default_rng(block)
    codes = generator.integers(0, 16, (COLUMNS, blocks, block)).astype(np.uint8)
    scale = generator.uniform(0.5, 2, (COLUMNS, blocks)).astype(np.float16)
    model = loaded(tmp_path,
                   [("com.microsoft:MatMulNBits", ["x", "w", "s"], ["y"],
                     {"K": depth, "N": COLUMNS, "bits": 4, "block_size": block})],
                   {"x": ("float16", [rows, depth])}, ("float16", [rows, COLUMNS]),
                   {"w": (2, packed(codes, 4)), "s": (10, scale)})
    x = generator.standard_normal((rows, depth)).astype(np.float16)
    w = (codes - 8.0) * scale[..., None].astype(np.float64)
    expected = x.astype(np.float64) @ w.reshape(COLUMNS, -1)[:, :depth].T
    np.testing.assert_allclose(np.asarray(model(x)), expected, rtol=1e-3, atol=1e-2)


def test_packed_blocks_want_the_depth_that_they_state(tmp_path):
    with pytest.raises(ValueError, match="input 0: expected 16 in the last dim, as K says, got 12"):
        loaded(tmp_path, [("com.microsoft:MatMulNBits", ["x", "w", "s"], ["y"],
                           {"K": 16, "N": 2, "bits": 4, "block_size": 16})],
               {"x": ("float32", [1, 12])}, ("float32", [1, 2]),
               {"w": (2, np.zeros((2, 1, 8), np.uint8)), "s": real(np.ones((2, 1)))})


@pytest.mark.parametrize("change, message", [
    ({"bits": 3}, "bits: 3 are not supported"), ({"K": 0}, "K: expected 1 or more")])
def test_damaged_packed_blocks_are_refused_by_node(tmp_path, change, message):
    attributes = {"K": 16, "N": 2, "bits": 4, "block_size": 16} | change
    with pytest.raises(ValueError, match=message) as raised:
        loaded(tmp_path, [("com.microsoft:MatMulNBits", ["x", "w", "s"], ["y"], attributes)],
               {"x": ("float32", [1, 16])}, ("float32", [1, 2]),
               {"w": (2, np.zeros((2, 1, 8), np.uint8)), "s": real(np.ones((2, 1)))})
    assert "graph.node[0] MatMulNBits" in str(raised.value)
