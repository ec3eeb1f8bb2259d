"""Types of ONNX models that the library's tensors lack: arrays of these are taken and given back."""

import pathlib
import subprocess

import fxjit
import numpy as np
import pytest
from onnx_files import TYPES, write_model

UNSIGNED = ["uint16", "uint32", "uint64"]
NODES = [("Mul", ["a", "b"], ["product"], {}), ("Sub", ["a", "b"], ["less"], {}),
         ("Cast", ["a"], ["real"], {"to": 11})]


@pytest.fixture(params=UNSIGNED)
def dtype(request):
    return request.param


@pytest.fixture
def path(tmp_path, dtype):
    return write_model(tmp_path / "model.onnx", NODES,
                       {"a": (dtype, ["n", 3]), "b": (dtype, ["n", 3])},
                       {"product": (dtype, ["n", 3]), "less": (dtype, ["n", 3]),
                        "real": ("float64", ["n", 3])})


def numbers(dtype):
    largest = np.iinfo(dtype).max
    a = np.array([[0, 1, 2], [largest, largest - 1, largest // 2 + 1]], dtype)
    b = np.array([[1, largest, 3], [2, largest, largest // 2]], dtype)
    return a, b


def check(results, a, b):
    with np.errstate(over="ignore"):
        expected = (a * b, a - b, a.astype(np.float64))
    for got, wanted in zip(results, expected, strict=True):
        got = np.asarray(got)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)


def test_arrays_keep_their_types(path, dtype):
    model = fxjit.load(path)
    a, b = numbers(dtype)
    check(model(a, b), a, b)
    check(model(a=a, b=b), a, b)
    check(model.call_leaves([a, b]), a, b)
    wide = np.zeros((2, 6), dtype)
    wide[:, ::2] = a
    check(model(wide[:, ::2], b.copy(order="F")), a, b)
    nothing = np.zeros((0, 3), dtype)
    check(model(nothing, nothing), nothing, nothing)


def test_arrays_that_get_results(path, dtype):
    model = fxjit.load(path)
    a, b = numbers(dtype)
    out = np.full((2, 3), 9, dtype), np.full((2, 6), 9, dtype)[:, ::2], np.zeros((2, 3))
    assert model(a, b, out=out) is out
    check(out, a, b)
    with pytest.raises(TypeError, match=f"out: expected an array of {dtype}, got one of int64"):
        model(a, b, out=(np.zeros((2, 3), np.int64), *out[1:]))


def test_tensors_of_pytorch_keep_their_types(path, dtype):
    torch = pytest.importorskip("torch")
    a, b = numbers(dtype)
    results = fxjit.load(path)(torch.from_numpy(a), torch.from_numpy(b))
    assert [one.dtype for one in results] == [getattr(torch, dtype)] * 2 + [torch.float64]
    check([one.numpy() for one in results], a, b)


def test_types_are_described(path, dtype):
    model = fxjit.load(path)
    assert [str(one) for one in model.inputs] == [f"a: {dtype}[n, 3]", f"b: {dtype}[n, 3]"]
    assert [one.dtype for one in model.inputs] == [dtype, dtype]
    assert [one.dtype for one in model.outputs] == [dtype, dtype, "float64"]


def test_arrays_of_other_types_are_refused(path, dtype):
    model = fxjit.load(path)
    a, b = numbers(dtype)
    with pytest.raises(TypeError, match=f"argument 1: expected an array of {dtype}, got one of "
                                        rf"float32: convert it first, by .astype\(\"{dtype}\"\)"):
        model(a, b.astype(np.float32))
    with pytest.raises(TypeError, match=f"a: expected an array of {dtype}, got one of >u"):
        model(a=a.astype(a.dtype.newbyteorder(">")), b=b)
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=f"got one of int64.*to\\(torch.{dtype}\\)"):
        model(torch.zeros(2, 3, dtype=torch.int64), torch.from_numpy(b))


@pytest.mark.parametrize("given", ["uint16", "uint32", "uint64", "float64", "int32"])
def test_arrays_for_inputs_of_plain_types(tmp_path, given):
    model = fxjit.load(write_model(tmp_path / "model.onnx", [("Neg", ["x"], ["y"], {})],
                                   {"x": ("float32", [2])}, {"y": ("float32", [2])}))
    with pytest.raises((TypeError, RuntimeError), match=f"(?s){given}.*convert it to"):
        model(np.zeros(2, given))
    with pytest.raises(TypeError, match="dtype object"):
        model(np.array([None, "x"]))


def test_lists_of_arrays(tmp_path, dtype):
    nodes = [("ConcatFromSequence", ["s"], ["y"], {"axis": 0}),
             ("SequenceInsert", ["s", "x"], ["t"], {})]
    model = fxjit.load(write_model(
        tmp_path / "model.onnx", nodes, {"s": ("sequence", dtype, ["n"]), "x": (dtype, ["m"])},
        {"y": (dtype, ["k"]), "t": ("sequence", dtype, ["n"])}))
    a, b = numbers(dtype)
    y, t = model([a[0], b[0]], b[1])
    assert y.dtype == dtype and [one.dtype for one in t] == [dtype] * 3
    np.testing.assert_array_equal(y, np.concatenate([a[0], b[0]]))
    np.testing.assert_array_equal(t[2], b[1])


def test_the_command_keeps_types(path, dtype, tmp_path):
    a, b = numbers(dtype)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    package = pathlib.Path(fxjit.__file__).parent
    command = next(place for place in (package / "bin" / "fxjit",  # Of a wheel; of a build.
                                       package.parents[1] / "bin" / "fxjit") if place.exists())
    run = subprocess.run(
        [command, "run", path, "--input", f"a={tmp_path / 'a.npy'}",
         "--input", f"b={tmp_path / 'b.npy'}", "--output", tmp_path / "out"],
        capture_output=True, text=True, check=True)
    assert f"product: {dtype}[2, 3]" in run.stdout
    check([np.load(tmp_path / "out" / f"{name}.npy") for name in ("product", "less", "real")],
          a, b)


FLOAT8 = ["float8_e4m3fn", "float8_e5m2"]
CARRIED = ["float8_e4m3fnuz", "float8_e5m2fnuz"]


@pytest.mark.parametrize("name", FLOAT8 + CARRIED)
def test_real_numbers_of_8_bits(tmp_path, name):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    nodes = [("Cast", ["x"], ["small"], {"to": TYPES[name]}),
             ("Transpose", ["s"], ["turned"], {}), ("Cast", ["s"], ["real"], {"to": 1})]
    model = fxjit.load(write_model(
        tmp_path / "model.onnx", nodes, {"x": ("float32", ["n"]), "s": (name, ["a", "b"])},
        {"small": (name, ["n"]), "turned": (name, ["b", "a"]), "real": ("float32", ["a", "b"])}))
    assert [one.dtype for one in model.inputs] == ["float32", name]
    codes = torch.arange(256, dtype=torch.uint8).reshape(8, 32).view(dtype)
    finite = codes.float()[codes.float().isfinite()].unique()
    middles = (finite[1:] + finite[:-1]) / 2  # Ties, and what is next to them.
    one = torch.tensor(1.0)
    x = torch.cat([finite, middles, torch.nextafter(middles, one), torch.nextafter(middles, -one),
                   torch.tensor([0.0, 1e-9, -1e-9])])
    small, turned, real = model(x, codes)
    assert small.dtype == turned.dtype == dtype
    assert torch.equal(small.float(), x.to(dtype).float())
    assert torch.equal(real.nan_to_num(7777), codes.float().nan_to_num(7777))
    assert torch.equal(turned.float().nan_to_num(7777), codes.t().float().nan_to_num(7777))
    refused = "convert it to" if name in FLOAT8 else f"array of {name}, got one of uint8"
    with pytest.raises((TypeError, RuntimeError), match=f"(?s){name}.*uint8|{refused}"):
        model(x, codes.view(torch.uint8))


# 1.03 and 1.07 times 57344 are below the tie at 61440; of 448 the tie is 464, between them.
@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("real", ["float32", "float16", "float64"])
@pytest.mark.parametrize("name", FLOAT8)
def test_casts_beyond_the_largest_number(tmp_path, name, real, saturate):
    torch = pytest.importorskip("torch")
    model = fxjit.load(write_model(
        tmp_path / "model.onnx",
        [("Cast", ["x"], ["y"], {"to": TYPES[name], "saturate": saturate})],
        {"x": (real, ["n"])}, {"y": (name, ["n"])}))
    largest = torch.finfo(getattr(torch, name)).max
    beyond = largest if saturate else np.nan if name == "float8_e4m3fn" else np.inf
    ends = [1, 1.03, 1.07, 1.13, np.inf]
    expected = [largest, largest, largest if name == "float8_e5m2" else beyond, beyond, beyond]
    x = torch.tensor([largest * end for end in ends] + [np.nan, 0.3])
    got = model(torch.cat([x, -x]).to(getattr(torch, real)))
    assert got.dtype == getattr(torch, name)
    wanted = torch.tensor(expected + [np.nan, torch.tensor(0.3).to(got.dtype).item()])
    assert torch.equal(got.float().nan_to_num(7777, 8888, -8888),
                       torch.cat([wanted, -wanted]).nan_to_num(7777, 8888, -8888))


@pytest.mark.parametrize("name", FLOAT8)
def test_quantised_to_8_real_bits(tmp_path, name):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    nodes = [("QuantizeLinear", ["x", "scale", "zero"], ["q"], {}),
             ("DequantizeLinear", ["q", "scale", "zero"], ["y"], {}),
             ("Concat", ["q", "q"], ["both"], {"axis": 0}),
             ("Gather", ["both", "i"], ["rows"], {"axis": 0})]
    model = fxjit.load(write_model(
        tmp_path / "model.onnx", nodes,
        {"x": ("float32", ["n", 4]), "scale": ("float32", []), "zero": (name, []),
         "i": ("int64", ["k"])},
        {"q": (name, ["n", 4]), "y": ("float32", ["n", 4]), "rows": (name, ["k", 4])}))
    x = torch.linspace(-70, 300, 20).reshape(5, 4)
    q, y, rows = model(x, torch.tensor(0.25), torch.zeros(()).to(dtype), torch.tensor([7, 0, 9]))
    largest = torch.finfo(dtype).max
    expected = (x / 0.25).clamp(-largest, largest).to(dtype).float()
    assert q.dtype == rows.dtype == dtype
    assert torch.equal(q.float(), expected)
    assert torch.equal(y, expected * 0.25)
    assert torch.equal(rows.float(), expected[[2, 0, 4]])


@pytest.mark.parametrize("name", FLOAT8)
def test_arrays_of_numpy_with_8_real_bits(tmp_path, name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    dtype = getattr(ml_dtypes, name)
    model = fxjit.load(write_model(tmp_path / "model.onnx",
                                   [("Transpose", ["x"], ["y"], {})],
                                   {"x": (name, ["a", "b"])}, {"y": (name, ["b", "a"])}))
    x = np.arange(240, dtype=np.uint8).reshape(8, 30).view(dtype)
    got = model(x)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.view(np.uint8), x.view(np.uint8).T)


def test_computing_with_8_real_bits_is_refused(tmp_path):
    with pytest.raises(Exception, match="float8_e4m3fn are not supported by this op"):
        fxjit.load(write_model(tmp_path / "model.onnx", [("Add", ["x", "x"], ["y"], {})],
                               {"x": ("float8_e4m3fn", [2])}, {"y": ("float8_e4m3fn", [2])}))
