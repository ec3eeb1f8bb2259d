"""A recurrent layer with weights of 8 bits, against exact sums: its states are quantised anew at each
time, each sequence by its own least and greatest number."""

import fxjit
import numpy as np
import pytest
from onnx_files import write_model

LENGTH, BATCH, FEATURES, HIDDEN = 30, 3, 19, 21


def quantised(x):
    """Whole numbers less their zero point, and their scale, as DynamicQuantizeLinear makes them."""
    low, high = np.float32(min(x.min(), 0)), np.float32(max(x.max(), 0))
    scale = (high - low) / np.float32(255) if high > low else np.float32(1)
    zero = np.rint(np.clip(-low / scale, 0, 255))
    return (np.clip(np.rint(x / scale) + zero, 0, 255) - zero).astype(np.int64), scale


def made(kind, by_column):
    generator = np.random.default_rng(3)
    limits = np.iinfo(kind)
    columns = [1, 4 * HIDDEN] if by_column else [1]

    def weights(rows):
        return generator.integers(limits.min, limits.max, (1, rows, 4 * HIDDEN), kind, True)

    def scales():
        return generator.uniform(1e-3, 3e-3, columns).astype(np.float32)

    zero = np.full(columns, 131 if kind == np.uint8 else 0, kind)
    return {"x": generator.standard_normal((LENGTH, BATCH, FEATURES)).astype(np.float32),
            "w": weights(FEATURES), "r": weights(HIDDEN),
            "b": generator.uniform(-1, 1, (1, 8 * HIDDEN)).astype(np.float32),
            "h": generator.uniform(-1, 1, (1, BATCH, HIDDEN)).astype(np.float32),
            "c": generator.uniform(-1, 1, (1, BATCH, HIDDEN)).astype(np.float32),
            "w_scale": scales(), "w_zero": zero, "r_scale": scales(), "r_zero": zero}


def expected(v):
    """In double precision but for what is quantised, which is whole."""
    def logistic(t):
        return 1 / (1 + np.exp(-t))

    h, c = v["h"][0].astype(np.float64), v["c"][0].astype(np.float64)
    w = v["w"][0].astype(np.int64) - v["w_zero"][0].astype(np.int64)
    r = v["r"][0].astype(np.int64) - v["r_zero"][0].astype(np.int64)
    x, x_scale = quantised(v["x"])
    bias = v["b"][0].astype(np.float64)
    results = []
    for t in range(LENGTH):
        states = np.empty((BATCH, 4 * HIDDEN))
        for n in range(BATCH):
            whole, scale = quantised(h[n].astype(np.float32))
            states[n] = (whole @ r) * (float(scale) * v["r_scale"][0])
        gates = (x[t] @ w) * (float(x_scale) * v["w_scale"][0]) + states
        i, o, f, new = np.split(gates + bias[:4 * HIDDEN] + bias[4 * HIDDEN:], 4, axis=-1)
        c = logistic(f) * c + logistic(i) * np.tanh(new)
        h = logistic(o) * np.tanh(c)
        results.append(h)
    return np.stack(results)[:, None]


@pytest.mark.parametrize("constant", [True, False], ids=["constant", "given"])
@pytest.mark.parametrize("by_column", [True, False], ids=["columns", "one_scale"])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_states_are_quantised_at_each_time(tmp_path, kind, by_column, constant):
    values = made(kind, by_column)
    inputs = ["x", "h", "c"] if constant else list(values)
    taken = ["x", "w", "r", "b", "", "h", "c", "", "w_scale", "w_zero", "r_scale", "r_zero"]
    numbers = {"float32": 1, "uint8": 2, "int8": 3}
    path = write_model(
        tmp_path / "model.onnx",
        [("com.microsoft:DynamicQuantizeLSTM", taken, ["y"], {"hidden_size": HIDDEN})],
        {name: (values[name].dtype.name, list(values[name].shape)) for name in inputs},
        {"y": ("float32", [LENGTH, 1, BATCH, HIDDEN])},
        constants={name: (numbers[one.dtype.name], one) for name, one in values.items()
                   if name not in inputs})
    model = fxjit.load(path)
    got = np.asarray(model(*[values[name] for name in inputs]))
    # A step of 8 bits more or less where a number lies between two of them.
    np.testing.assert_allclose(got, expected(values), rtol=0, atol=2e-3)
    assert [row["by"] for row in model.report().rows if "recurrence" in row["label"]] == ["routine"]
