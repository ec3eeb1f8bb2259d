"""Labels that are texts, and lists of maps, as ONNX Runtime gives them to Python."""

import pickle

import fxjit
import numpy as np
import pytest
from onnx_files import write_model

ML = "ai.onnx.ml:"
X = np.array([[0, 3, 1], [2, 1, 1], [0, -1, 4]], np.float32)
PLACES = [1, 0, 2]  # Of the greatest in each row.
# Scores are the numbers of x.
UNIT = {"coefficients": [1., 0., 0., 0., 1., 0., 0., 0., 1.], "intercepts": [0., 0., 0.],
        "post_transform": "NONE"}
TEXTS = ["a", "bb", "ä"]


def classifier(**labels):
    return (ML + "LinearClassifier", ["x"], ["label", "scores"], UNIT | labels)


def load(tmp_path, nodes, outputs, **more):
    return fxjit.load(write_model(tmp_path / "model.onnx", nodes, {"x": ("float32", ["n", 3])},
                                  outputs, **more))


def check_texts(got, expected):
    assert got.dtype == object and got.tolist() == expected


def test_labels_of_a_classifier(tmp_path):
    model = load(tmp_path, [classifier(classlabels_strings=TEXTS)],
                 {"label": ("string", ["n"]), "scores": ("float32", ["n", 3])})
    for fast in (model, pickle.loads(pickle.dumps(model))):
        labels, scores = fast(X)
        check_texts(labels, [TEXTS[i] for i in PLACES])
        np.testing.assert_array_equal(scores, X)
        assert fast(x=X)[0].tolist() == labels.tolist()
    # As leaves, and in memory of the caller's, they are places in the list.
    assert model.call_leaves([X])[0].tolist() == PLACES


@pytest.mark.parametrize("keys, dtype", [(TEXTS, "string"), ([4, 9, 7], "int64")])
def test_lists_of_maps(keys, dtype, tmp_path):
    name = "strings" if dtype == "string" else "ints"
    zipped = {"classlabels_" + name.replace("ints", "int64s"): keys}
    maps = (ML + "ZipMap", ["scores"], ["maps"], zipped)
    expected = [dict(zip(keys, row, strict=True)) for row in X.tolist()]
    both = load(tmp_path, [classifier(**{"classlabels_" + name: keys}), maps],
                {"label": (dtype, ["n"]), "maps": ("maps", dtype, None)})
    labels, found = both(X)
    assert labels.tolist() == [keys[i] for i in PLACES]
    assert found == expected
    alone = load(tmp_path, [classifier(**{"classlabels_" + name: keys}), maps],
                 {"maps": ("maps", dtype, None)})
    assert alone(X) == expected


def test_texts_of_constants_and_encoders(tmp_path):
    nodes = [("ArgMax", ["x"], ["place"], {"axis": 1, "keepdims": 0}),
             (ML + "ArrayFeatureExtractor", ["classes", "place"], ["picked"], {}),
             ("Flatten", ["picked"], ["label"], {"axis": 0}),
             (ML + "LabelEncoder", ["place"], ["encoded"],
              {"keys_int64s": [2, 0], "values_strings": ["two", "zero"],
               "default_string": "other"})]
    model = load(tmp_path, nodes, {"label": ("string", [1, "n"]), "encoded": ("string", ["n"])},
                 texts={"classes": TEXTS})
    label, encoded = model(X)
    check_texts(label, [[TEXTS[i] for i in PLACES]])
    check_texts(encoded, ["other", "zero", "two"])


def test_what_computes_with_texts_is_refused(tmp_path):
    nodes = [classifier(classlabels_strings=TEXTS), ("Equal", ["label", "classes"], ["y"], {})]
    with pytest.raises(ValueError, match="Equal of them is not supported"):
        load(tmp_path, nodes, {"y": ("bool", ["n"])}, texts={"classes": TEXTS})


ENCODED = [("Concat", ["c", "d"], ["both"], {"axis": 1}),
           ("Gather", ["both", "zero"], ["first"], {"axis": 1}),
           (ML + "OneHotEncoder", ["first"], ["hot"], {"cats_strings": ["red", "blé", "green"]}),
           ("Flatten", ["hot"], ["flat"], {"axis": 1}),
           (ML + "LabelEncoder", ["d"], ["number"],
            {"keys_strings": ["y", "x", "y"], "values_floats": [2., 3., 4.], "default_float": -1.}),
           (ML + "LabelEncoder", ["c"], ["named"],
            {"keys_strings": ["", "red"], "values_strings": ["none", "rouge"],
             "default_string": "?"})]
TEXT_OUTPUTS = {"flat": ("float32", ["n", 3]), "number": ("float32", ["n", 1]),
                "named": ("string", ["n", 1])}
COLORS = [["red"], ["green"], [""], ["blé"], ["grey"]]
LETTERS = [["x"], ["y"], ["z"], ["x"], ["y"]]
HOT = [[1, 0, 0], [0, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0]]


@pytest.fixture
def encoder(tmp_path):
    nodes = [("Constant", [], ["zero"], {"value_ints": [0]}), *ENCODED]
    return fxjit.load(write_model(tmp_path / "model.onnx", nodes,
                                  {"c": ("string", ["n", 1]), "d": ("string", ["n", 1])},
                                  TEXT_OUTPUTS))


@pytest.mark.parametrize("array", [lambda x: np.array(x, object), np.array, list])
def test_strings_of_inputs_are_encoded(encoder, array):
    for fast in (encoder, pickle.loads(pickle.dumps(encoder))):
        for given in ((array(COLORS), array(LETTERS)), {"d": array(LETTERS), "c": array(COLORS)}):
            hot, number, named = fast(**given) if isinstance(given, dict) else fast(*given)
            np.testing.assert_array_equal(hot, np.array(HOT, np.float32))
            np.testing.assert_array_equal(number[:, 0], np.array([3, 2, -1, 3, 2], np.float32))
            check_texts(named, [["rouge"], ["?"], ["none"], ["?"], ["?"]])
    assert [one.dtype for one in encoder.inputs] == ["string", "string"]


def test_what_is_no_string_is_refused(encoder):
    for wrong in (np.zeros((5, 1)), np.array([["a"], [None]], object), np.array([[b"a"]])):
        with pytest.raises(TypeError, match="c: expected an array of strings"):
            encoder(wrong, np.array(LETTERS))
    with pytest.raises(RuntimeError, match="1"):
        encoder(np.array(["a"]), np.array(LETTERS))


def test_strings_of_inputs_are_no_results(tmp_path):
    nodes = [(ML + "LabelEncoder", ["c"], ["y"], {"keys_strings": ["a"], "values_int64s": [1]}),
             ("Identity", ["c"], ["same"], {})]
    with pytest.raises(ValueError, match="strings of an input are no results"):
        load_texts(tmp_path, nodes, {"y": ("int64", ["n"]), "same": ("string", ["n"])})


def load_texts(tmp_path, nodes, outputs):
    return fxjit.load(write_model(tmp_path / "model.onnx", nodes, {"c": ("string", ["n"])}, outputs))


def test_missing_strings_are_replaced(tmp_path):
    """As scikit-learn's SimpleImputer is written."""
    nodes = [("Constant", [], ["zero"], {"value_ints": [0]}),
             (ML + "LabelEncoder", ["zero"], ["fill"],
              {"keys_int64s": [0], "values_strings": ["most"], "default_string": "most"}),
             (ML + "LabelEncoder", ["c"], ["missing"],
              {"keys_strings": [""], "values_int64s": [1], "default_int64": 0}),
             ("Cast", ["missing"], ["is_missing"], {"to": 9}),
             ("Where", ["is_missing", "fill", "c"], ["whole"], {}),
             (ML + "OneHotEncoder", ["whole"], ["hot"], {"cats_strings": ["least", "most"]})]
    model = load_texts(tmp_path, nodes, {"hot": ("float32", ["n", 2])})
    np.testing.assert_array_equal(model(np.array(["most", "", "least", "other"])),
                                  [[0, 1], [0, 1], [1, 0], [0, 0]])


@pytest.mark.parametrize("texts", [True, False])
def test_unknown_categories_are_refused(texts, tmp_path):
    known = {"cats_strings": ["a", "b"]} if texts else {"cats_int64s": [3, 5]}
    nodes = [(ML + "OneHotEncoder", ["c"], ["hot"], known | {"zeros": 0})]
    model = fxjit.load(write_model(tmp_path / "model.onnx", nodes,
                                   {"c": ("string" if texts else "int64", ["n"])},
                                   {"hot": ("float32", ["n", 2])}))
    right, wrong = (["b", "a"], ["b", "c"]) if texts else ([5, 3], [5, 4])
    np.testing.assert_array_equal(model(np.array(right)), [[0, 1], [1, 0]])
    with pytest.raises(RuntimeError, match="a category is unknown"):
        model(np.array(wrong))
    np.testing.assert_array_equal(model(np.array(right)), [[0, 1], [1, 0]])
