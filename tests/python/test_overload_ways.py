"""Every ATen overload of the op table by all ways of Python (see overload_ways.py)."""

import re

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from overload_calls import names  # noqa: E402
from overload_ways import LAYOUTS, WAYS, try_all  # noqa: E402

# What torch.export and Dynamo do not trace: results that are no tensors, sizes that are data, some
# functions of tensors that are not contiguous.
UNTRACED = re.compile(
    r"(_assert_tensor_metadata|allclose|dim|element_size|equal|is_complex|is_contiguous"
    r"|is_floating_point|is_nonzero|is_same_size|is_signed|numel|size|stride|sym_is_contiguous"
    r"|sym_numel|one_hot|ctc_loss|(gru|lstm|rnn_relu|rnn_tanh)(?=\.data)|_reshape_alias"
    r"|native_channel_shuffle|atan2(?=\.out))\.")
# Strides that are others: results of rules of PyTorch's where its function gives the argument, and
# gaps between elements.
OTHER_STRIDES = {
    "torch.compile": re.compile(r"(resize_|copy|dropout|lift_fresh_copy)\.default"),
    "fxjit.compile": re.compile(
        r"(normal_functional|lift_fresh|_?conj|copy|(diagonal|select|slice)_scatter)\.default"),
}
OTHER_STRIDES[".pt2"] = OTHER_STRIDES["fxjit.compile"]


def parts(count):
    """The table in so many parts, each as a pattern of names."""
    packets = sorted({name.split(".")[0] for name in names()})
    return [rf"^({'|'.join(map(re.escape, packets[i::count]))})\." for i in range(count)]


def check(pattern, way, layout):
    alone = UNTRACED.pattern
    if layout != "dense":
        alone += "|" + OTHER_STRIDES[way].pattern
    outcomes, stays = try_all(pattern, [way], [layout], alone=alone)
    assert outcomes.right
    for _, _, call, text in outcomes.wrong:
        assert layout != "dense" and OTHER_STRIDES[way].match(call.name), (call, text)
        assert text.startswith("strides"), (call, text)
    for _, _, call, text in outcomes.refused:
        assert UNTRACED.match(call.name), (call, text)
    return stays


@pytest.mark.parametrize("part", range(4))
@pytest.mark.parametrize("way", WAYS)
def test_dense_tensors(way, part):
    stays = check(parts(4)[part], way, "dense")
    # One way takes what the others take.
    assert not any("whole graph" in text for text in stays)


PLACED = [(way, layout) for way in OTHER_STRIDES for layout in LAYOUTS if layout != "dense"]


@pytest.mark.parametrize("number", range(len(PLACED)), ids=map(" ".join, PLACED))
def test_other_layouts(number):
    """A part of the table each; overload_ways.py takes the rest, too."""
    check(parts(2 * len(PLACED))[number], *PLACED[number])
