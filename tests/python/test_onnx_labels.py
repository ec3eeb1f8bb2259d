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
