"""LabelEncoder with tables in tensors, and support vectors of two classes, as ONNX Runtime has them."""

import fxjit
import numpy as np
import pytest
from onnx_files import write_model

ML = "ai.onnx.ml:"
NAN = float("nan")


def texts(*items):
    return np.array(items, object)


def numbers(dtype, *items):
    return np.array(items, dtype)


# Keys, what is looked up, and the place of each in the keys; -1: not there.
KEYS = [(texts("b", "a", "", "ä"), texts("a", "c", "ä", ""), [1, -1, 3, 2]),
        (numbers("int64", 1 << 60, -3, (1 << 60) + 1), numbers("int64", -3, (1 << 60) + 1, 0),
         [1, 2, -1]),
        (numbers("int32", 7, -7), numbers("int32", -7, 7, 0), [1, 0, -1]),
        (numbers("int16", 7, -7), numbers("int16", -7, 7, 0), [1, 0, -1]),
        (numbers("float32", .1, NAN, 2), numbers("float32", 2, NAN, .1, .2), [2, 1, 0, -1]),
        (numbers("float64", .1, NAN, 2), numbers("float64", 2, NAN, .1, .2), [2, 1, 0, -1])]
# Values, the default where none is given, and one that is.
VALUES = [(texts("x", "yy", "", "ü"), "_Unused", "none"),
          (numbers("int64", 1 << 60, 3, -1, 5), -1, (1 << 60) + 1),
          (numbers("int32", 4, 3, 2, 1), -1, 9), (numbers("int16", 4, 3, 2, 1), -1, 9),
          (numbers("float32", .1, .2, NAN, 4), -0., .3),
          (numbers("float64", .1, .2, NAN, 4), -0., .3)]


def dtype_of(array):
    return "string" if array.dtype == object else array.dtype.name


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("values", VALUES, ids=lambda case: dtype_of(case[0]))
@pytest.mark.parametrize("keys", KEYS, ids=lambda case: dtype_of(case[0]))
def test_tables_in_tensors(keys, values, given, tmp_path):
    (known, x, places), (made, otherwise, other) = keys, values
    made = made[:len(known)]
    attributes = {"keys_tensor": known, "values_tensor": made}
    if given:
        otherwise = other
        attributes["default_tensor"] = np.array([other], made.dtype)
    path = write_model(tmp_path / "model.onnx", [(ML + "LabelEncoder", ["x"], ["y"], attributes)],
                       {"x": (dtype_of(x), ["n"])}, {"y": (dtype_of(made), ["n"])})
    expected = np.array([otherwise if place < 0 else made[place] for place in places], made.dtype)
    for taken in (x, x[:1], x[:0]):
        got = fxjit.load(path)(taken)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected[:len(taken)])


def test_tables_of_any_sizes(tmp_path):
    """They need not be lists, and attributes of both kinds go together."""
    attributes = {"keys_tensor": np.array([[1, 2], [3, 1]], np.int64),
                  "values_floats": [.5, .25, 8., 4.], "default_float": 7.}
    path = write_model(tmp_path / "model.onnx", [(ML + "LabelEncoder", ["x"], ["y"], attributes)],
                       {"x": ("int64", [2, "n"])}, {"y": ("float32", [2, "n"])})
    x = np.array([[1, 3, 2], [0, 1, 9]])
    np.testing.assert_array_equal(fxjit.load(path)(x), [[.5, 8, .25], [7, .5, 7]])


@pytest.mark.parametrize("wrong", [
    {"values_tensor": numbers("int64", 1)}, {"values_tensor": texts("a")},
    {"values_tensor": numbers("int64", 1, 2), "default_tensor": numbers("int64", 1, 2)}])
def test_tables_that_do_not_fit(wrong, tmp_path):
    attributes = {"keys_tensor": numbers("int64", 1, 2)} | wrong
    path = write_model(tmp_path / "model.onnx", [(ML + "LabelEncoder", ["x"], ["y"], attributes)],
                       {"x": ("int64", ["n"])}, {"y": ("int64", ["n"])})
    with pytest.raises(ValueError, match="values: fewer than keys|default_tensor: expected one"):
        fxjit.load(path)


def test_a_constant_of_strings(tmp_path):
    nodes = [("Constant", [], ["names"], {"value": texts("a", "b", "c")}),
             ("Gather", ["names", "x"], ["y"], {"axis": 0})]
    path = write_model(tmp_path / "model.onnx", nodes, {"x": ("int64", ["n"])},
                       {"y": ("string", ["n"])})
    assert fxjit.load(path)(np.array([2, 0])).tolist() == ["c", "a"]


# Rows of x give the scores x + rho where the signs of the coefficients differ, and others where
# none is negative: the second class wins above 0, or from 0.5 on, else the greater score.
LINEAR = [([1., 0., 0., 1.], [[.3, .1], [.1, .3], [.6, -1.], [-1., .5], [-1., -2.], [-2., -1.],
                              [.5, .5]], [0, 1, 1, 1, 0, 1, 1]),
          ([1., -0.5, 0., 1.], [[.3, .1], [.1, .3], [-3., -1.], [-1., -3.], [0., 0.],
                               [-2., -1.5]], [1, 1, 1, 1, 0, 0])]


@pytest.mark.parametrize("post", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("coefficients, x, classes", LINEAR)
def test_two_classes_without_support_vectors(coefficients, x, classes, names, post, tmp_path):
    known = {"classlabels_strings": ["no", "yes"]} if names else {"classlabels_ints": [4, 9]}
    node = (ML + "SVMClassifier", ["x"], ["label", "scores"],
            known | {"coefficients": coefficients, "rho": [0.], "kernel_type": "LINEAR",
                     "kernel_params": [0., 0., 3.],
                     "post_transform": post})
    path = write_model(tmp_path / "model.onnx", [node], {"x": ("float32", ["n", 2])},
                       {"label": ("string" if names else "int64", ["n"]),
                        "scores": ("float32", ["n", 2])})
    label, scores = fxjit.load(path)(np.array(x, np.float32))
    assert label.tolist() == [next(iter(known.values()))[place] for place in classes]
    expected = np.array(x) @ np.array(coefficients).reshape(2, 2).T
    if post == "LOGISTIC":
        expected = 1 / (1 + np.exp(-expected))
    if post == "SOFTMAX":
        expected = np.exp(expected) / np.exp(expected).sum(1, keepdims=True)
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-7)
