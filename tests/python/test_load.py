"""fxjit.load and calls with NumPy's arrays."""

import gc
import subprocess
import sys
import threading
import time

import fxjit
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from cases import case_of, close, path_of


def test_gives_what_torch_gives():
    inputs, answers = case_of("resnet")
    model = fxjit.load(path_of("resnet"))
    got = model(inputs["x"])
    assert isinstance(got, np.ndarray) and got.dtype == np.float32
    close(got, answers[0])


def test_takes_arguments_by_name():
    inputs, answers = case_of("bert")
    got = fxjit.load(path_of("bert"))(**inputs)
    leaves = list(got.values()) if isinstance(got, dict) else list(got)
    for one, expected in zip(leaves, answers, strict=True):
        close(one, expected)


def test_takes_and_gives_containers():
    model = fxjit.load(path_of("nested"))
    inputs, answers = case_of("nested")
    assert [line.split(":")[0] for line in model.inputs][:1] == ["x"]
    got = model(inputs["x"], {"a": (inputs["parts_a_0"],), "b": inputs["parts_b"]})
    leaves = []

    def collect(value):
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            for item in value:
                collect(item)
        elif isinstance(value, np.ndarray):
            leaves.append(value)

    collect(got)
    for one, expected in zip(leaves, answers, strict=True):
        close(one, expected)


def test_leaves_stand_for_containers():
    model = fxjit.load(path_of("nested"))
    inputs, answers = case_of("nested")
    leaves = [one.constant[0] if one.constant else inputs[one.name] for one in model.inputs]
    got = model.call_leaves(leaves)
    assert len(got) == len(model.outputs)
    tensors = [one for one, output in zip(got, model.outputs) if output.dtype is not None]
    for one, answer in zip(tensors, answers, strict=True):
        close(one, answer)
    with pytest.raises(TypeError, match="one for each input"):
        model.call_leaves(leaves[1:])


def test_inputs_and_outputs_have_sizes():
    model = fxjit.load(path_of("dynamic"))
    x, y = model.inputs
    assert (x.example, y.example) == ([4, 6], [9, 6])
    assert (x.most, y.most) == ([100, 6], [None, 6])
    (output,) = model.outputs
    assert (output.dtype, output.sizes) == ("float32", [f"2*{x.sizes[0]}", 6])
    assert fxjit.load(path_of("nested")).inputs[4].constant == (3,)


def test_programs_are_counted_and_bounded():
    inputs, _ = case_of("dynamic")
    model = fxjit.load(path_of("dynamic"))
    assert model.compiled_size == (0, 0)
    model(**inputs)
    programs, size = model.compiled_size
    assert programs == 1 and size > 0
    capped = fxjit.load(path_of("dynamic"), memory_cap=1)
    for rows in (4, 5, 6):
        capped(inputs["x"][:1].repeat(rows, 0), inputs["y"])
    assert capped.compiled_size[0] == 1
    with pytest.raises(ValueError, match="memory_cap"):
        fxjit.load(path_of("dynamic"), memory_cap=-1)


def test_sizes_that_change_get_programs_of_their_own():
    model = fxjit.load(path_of("dynamic"))
    inputs, answers = case_of("dynamic")
    close(model(**inputs), answers[0])
    assert "float32" in model.report()


def test_results_outlive_the_model():
    inputs, answers = case_of("resnet")
    got = fxjit.load(path_of("resnet"))(inputs["x"])
    gc.collect()
    close(got, answers[0])
    got += 1  # Its own memory.


def test_strides_and_read_only_arrays_are_taken():
    inputs, answers = case_of("resnet")
    x = inputs["x"]
    last = np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    model = fxjit.load(path_of("resnet"))
    close(model(last), answers[0])
    x.setflags(write=False)
    close(model(x), answers[0])


def test_arguments_are_given_back():
    inputs, _ = case_of("resnet")
    x = inputs["x"]
    model = fxjit.load(path_of("resnet"))
    model(x)
    before = sys.getrefcount(x)
    for _ in range(100):
        model(x)
    assert sys.getrefcount(x) == before


def test_calls_run_in_many_threads():
    inputs, answers = case_of("resnet")
    model = fxjit.load(path_of("resnet"))
    wrong = []

    def work():
        for _ in range(20):
            try:
                close(model(inputs["x"]), answers[0])
            except AssertionError as error:
                wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_calls_let_other_threads_run():
    inputs, _ = case_of("resnet")
    model = fxjit.load(path_of("resnet"), threads=1)
    ticks, done = [0], threading.Event()

    def tick():
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # Only who lets go of the interpreter's lock loses it.
    other = threading.Thread(target=tick)
    try:
        other.start()
        seen = set()
        for _ in range(2000):
            before = ticks[0]
            model(inputs["x"])
            seen.add(ticks[0] - before)
        assert max(seen) > 0
    finally:
        sys.setswitchinterval(interval)
        done.set()
        other.join()


def test_says_what_it_holds():
    model = fxjit.load(path_of("resnet"))
    assert "conv2d" in model.graph
    assert "resnet.pt2" in repr(model)
    inputs, _ = case_of("resnet")
    assert "us" in model.profile(inputs["x"])


@pytest.mark.parametrize("call, error, part", [
    (lambda model, x: model(), TypeError, "x"),
    (lambda model, x: model(x, x), TypeError, "argument"),
    (lambda model, x: model(y=x), TypeError, "y"),
    (lambda model, x: model("text"), TypeError, "a str"),
    (lambda model, x: model(object()), TypeError, "object"),
    (lambda model, x: model(x.astype(np.float64)), RuntimeError, "float64"),
    (lambda model, x: model(x[0]), RuntimeError, "x"),
    (lambda model, x: model(x[:, :, ::-1]), ValueError, "stride"),
    (lambda model, x: model(x.astype(">f4")), TypeError, "array"),
    (lambda model, x: model(np.array(["a"], dtype=object)), TypeError, "array"),
    (lambda model, x: model(2**70), OverflowError, "64"),
    (lambda model, x: model(as_strided(x, (2, 2), (2**62, 4))), ValueError, "strides"),
])
def test_wrong_arguments(call, error, part):
    inputs, _ = case_of("resnet")
    model = fxjit.load(path_of("resnet"))
    with pytest.raises(error, match=part):
        call(model, inputs["x"])


@pytest.mark.parametrize("options, error, part", [
    ({"thread": 2}, TypeError, "threads"),
    ({"threads": "two"}, TypeError, "number"),
    ({"threads": -1}, ValueError, "thread"),
    ({"new_shape": "later"}, ValueError, "behind"),
])
def test_wrong_options(options, error, part):
    with pytest.raises(error, match=part):
        fxjit.load(path_of("resnet"), **options)


def test_wrong_files(tmp_path):
    with pytest.raises(fxjit.UserError, match="none.pt2"):
        fxjit.load(tmp_path / "none.pt2")
    (tmp_path / "text.pt2").write_text("no archive")
    with pytest.raises(fxjit.UserError, match="text.pt2"):
        fxjit.load(tmp_path / "text.pt2")
    with pytest.raises(fxjit.UserError):
        fxjit.load(tmp_path)


def test_options_are_taken():
    inputs, answers = case_of("resnet")
    model = fxjit.load(path_of("resnet"), threads=1, convolution="direct", strict_sums=True,
                       tile_products=False, cache_folder="")
    close(model(inputs["x"]), answers[0])


def test_says_its_version():
    text = subprocess.run([sys.executable, "-m", "fxjit", "--version"], capture_output=True,
                          text=True, check=True).stdout
    assert fxjit.__version__ in text
