"""What a loaded model can do beside being called."""

import copy
import pickle
import shutil
import xml.etree.ElementTree

import fxjit
import numpy as np
import pytest
from cases import case_of, close, path_of
from fxjit import drawing


def test_results_go_where_the_caller_says():
    inputs, answers = case_of("resnet")
    model = fxjit.load(path_of("resnet"))
    out = np.full(answers[0].shape, np.nan, np.float32)
    assert model(inputs["x"], out=out) is out
    close(out, answers[0])
    assert model(inputs["x"], out=[out])[0] is out


@pytest.mark.parametrize("make, part", [
    (lambda shape: np.empty(shape, np.float64), "float64"),
    (lambda shape: np.empty((3, *shape), np.float32), "float32"),
    (lambda shape: [], "1"),
    (lambda shape: np.broadcast_to(np.float32(0), shape), "read"),
])
def test_wrong_places_for_results(make, part):
    inputs, answers = case_of("resnet")
    model = fxjit.load(path_of("resnet"))
    with pytest.raises(fxjit.UserError, match=part):
        model(inputs["x"], out=make(answers[0].shape))


@pytest.mark.parametrize("again", [
    copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))],
    ids=["copy", "deepcopy", "pickle"])
def test_models_are_copied(again):
    inputs, answers = case_of("resnet")
    model = fxjit.load(path_of("resnet"), threads=1)
    other = again(model)
    assert other is not model and repr(other) == repr(model)
    close(other(inputs["x"]), answers[0])


@pytest.mark.parametrize("again", [
    copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["deepcopy", "pickle"])
def test_copies_have_their_own_state(again):
    inputs, _ = case_of("counter")

    def answers(model):
        results = model(**copy.deepcopy(inputs))  # Some are written.
        leaves = results if isinstance(results, (tuple, list)) else [results]
        return [np.array(leaf, np.float64) for leaf in leaves]

    model = fxjit.load(path_of("counter"))
    answers(model)
    other = again(model)
    second, third = answers(model), answers(model)
    assert any((a != b).any() for a, b in zip(second, third, strict=True))
    for ours, theirs in zip(answers(other), second, strict=True):
        close(ours, theirs)


def test_pickles_may_name_the_file(tmp_path):
    inputs, answers = case_of("resnet")
    path = tmp_path / "resnet.pt2"
    shutil.copy(path_of("resnet"), path)
    model = fxjit.load(path, threads=1)
    whole = pickle.dumps(model)
    model.pickled_by_path = True
    short = pickle.dumps(copy.copy(model))
    assert len(short) < 2000 < len(whole)
    other = pickle.loads(short)
    assert other.pickled_by_path and repr(other) == repr(model)
    close(other(inputs["x"]), answers[0])
    path.rename(tmp_path / "moved.pt2")
    with pytest.raises(fxjit.UserError, match="resnet.pt2"):
        pickle.dumps(model)
    with pytest.raises(fxjit.UserError, match="resnet.pt2"):
        pickle.loads(short)
    close(pickle.loads(whole)(inputs["x"]), answers[0])


def test_models_are_saved(tmp_path):
    inputs, answers = case_of("resnet")
    fxjit.load(path_of("resnet")).save(str(tmp_path / "again.pt2"))
    close(fxjit.load(tmp_path / "again.pt2")(inputs["x"]), answers[0])


def test_reports_have_rows():
    resnet = fxjit.load(path_of("resnet"))
    assert not resnet.report().rows
    x, _ = case_of("resnet")
    profile = resnet.profile(x["x"])
    assert profile.native and "<table>" in profile._repr_html_()
    assert sum(row["share"] for row in profile.rows) == pytest.approx(1)
    assert {"label", "nodes", "reason", "by"} <= resnet.report().rows[0].keys()


def test_graphs_are_drawn():
    graph = fxjit.load(path_of("resnet")).graph
    picture = xml.etree.ElementTree.fromstring(graph._repr_svg_())
    words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    drawn = [node for node in graph.nodes if node.op != "get_attr"]
    assert [node.name for node in drawn] == words[::2]
    assert graph.startswith("graph():") and drawn[-1].op == "output"


def test_long_graphs_are_drawn_in_part():
    nodes = [("a<b", "placeholder", "a<b", [])]
    nodes += [(f"n{i}", "call_method", "relu", [f"n{i - 1}" if i else "a<b"]) for i in range(1000)]
    picture = drawing.Graph("", nodes)._repr_svg_()
    assert "a&lt;b" in picture and "n398" in picture and "n399" not in picture
    assert f"the first {drawing.MOST_NODES} nodes" in picture
