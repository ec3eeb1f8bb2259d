"""Single products of a quantised model against whole numbers.

Of a model's products of 8-bit integers by constants some are taken, each as a model of
its own with any activations of u8, and held against sums that are exact: those of doubles
below 2^53. Where a product is between QuantizeLinear and DequantizeLinear, its result is
quantised, too, and may be one step off, as floats are rounded in between.
"""

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper

MOST, ROWS, SIZE = 8, 64, 14
OPSET = 17


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


class Layer:
    """One product: `node`, and its weight as it is stored."""

    def __init__(self, node, weight):
        self.node, self.weight = node, weight
        random = np.random.default_rng(0)
        self.x = random.integers(0, 256, self.sizes(), np.uint8)

    def key(self):
        return (self.node.op_type, self.weight.shape, str(self.node.attribute))

    def is_dynamic(self):
        return self.node.op_type in ("MatMulInteger", "DynamicQuantizeLSTM")

    def sizes(self):
        if self.node.op_type != "Conv":
            return [ROWS, self.depth_first().shape[0]]
        groups = attributes(self.node).get("group", 1)
        side = max(SIZE, self.weight.shape[2])
        return [1, groups * self.weight.shape[1], side, side]

    def depth_first(self):
        """A matrix of weights by depth and columns."""
        weight = self.weight.reshape(self.weight.shape[-2:])
        turned = attributes(self.node).get("transB", 0)
        return weight.T if turned else weight

    def sums(self):
        x, w = (torch.from_numpy(t).double()
                for t in (self.x, np.ascontiguousarray(self.weight)))
        if self.node.op_type != "Conv":
            matrix = torch.from_numpy(
                np.ascontiguousarray(self.depth_first())).double()
            return (x @ matrix).numpy()
        given = attributes(self.node)
        pads = given.get("pads", [0, 0, 0, 0])
        x = torch.nn.functional.pad(x, (pads[1], pads[3], pads[0], pads[2]))
        return torch.nn.functional.conv2d(
            x, w, None, given.get("strides", 1), 0, given.get("dilations", 1),
            given.get("group", 1)).numpy()

    def model(self, step):
        """ONNX of the layer; `step` is the scale of its result."""
        x = helper.make_tensor_value_info("x", TensorProto.UINT8,
                                          self.sizes())
        if self.is_dynamic():
            nodes = [helper.make_node("MatMulInteger", ["x", "w"], ["y"])]
            constants, kind = {"w": self.depth_first()}, TensorProto.INT32
        else:
            node = helper.make_node(self.node.op_type, ["rx", "rw"], ["ry"],
                                    **attributes(self.node))
            nodes = [helper.make_node("DequantizeLinear", ["x", "one", "zx"],
                                      ["rx"]),
                     helper.make_node("DequantizeLinear", ["w", "one", "zw"],
                                      ["rw"]),
                     node,
                     helper.make_node("QuantizeLinear", ["ry", "step", "zy"],
                                      ["y"])]
            constants = {"w": self.weight, "one": np.float32(1),
                         "zx": np.uint8(0), "zw": np.int8(0),
                         "step": np.float32(step), "zy": np.uint8(128)}
            kind = TensorProto.UINT8
        y = helper.make_tensor_value_info("y", kind, [None] * len(self.sizes()))
        graph = helper.make_graph(
            nodes, "layer", [x], [y],
            [numpy_helper.from_array(np.ascontiguousarray(v), k)
             for k, v in constants.items()])
        return helper.make_model(graph, ir_version=8, opset_imports=[
            helper.make_opsetid("", OPSET)])


def layers_of(model):
    """The layers of an ONNX model, some of each kind, the largest first."""
    constants = {t.name: t for t in model.graph.initializer}
    makers = {o: node for node in model.graph.node for o in node.output}
    found = {}
    for node in model.graph.node:
        name = node.input[1] if len(node.input) > 1 else ""
        if node.op_type in ("MatMul", "Conv", "Gemm"):
            maker = makers.get(name)
            if maker is None or maker.op_type != "DequantizeLinear":
                continue
            by = makers.get(node.input[0])
            if by is None or by.op_type != "DequantizeLinear":
                continue
            name = maker.input[0]
        elif node.op_type not in ("MatMulInteger", "DynamicQuantizeLSTM"):
            continue
        if name in constants:
            weight = numpy_helper.to_array(constants[name])
            if weight.dtype == np.int8:
                layer = Layer(node, weight)
                found[layer.key()] = layer
    ordered = sorted(found.values(), key=lambda l: -l.weight.size)
    return ordered[::max(1, -(-len(ordered) // MOST))]


def wrong_share(layer, prepare):
    """The share of wrong numbers of what `prepare(model, inputs)` computes."""
    sums = layer.sums()
    step = np.float32(np.abs(sums).max() / 120)
    result = np.asarray(prepare(layer.model(step), {"x": layer.x})(), np.int64)
    if layer.is_dynamic():
        return float((result != sums).mean())
    wanted = np.clip(np.rint(sums / step) + 128, 0, 255)
    return float((np.abs(result - wanted) > 1).mean())


def is_exact(model, prepare):
    return all(wrong_share(layer, prepare) == 0 for layer in layers_of(model))
