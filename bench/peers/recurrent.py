"""Recurrent layers as workloads, and the graph with ONNX's own operator of those
that PyTorch's exporter would unroll."""

import numpy as np
import torch
from torch import nn


class Layers(nn.Module):
    """The outputs of nn.LSTM, nn.GRU or nn.RNN for inputs [L, N, inputs]."""

    def __init__(self, kind, inputs, hidden, **options):
        super().__init__()
        self.layers = getattr(nn, kind)(inputs, hidden, **options)

    def forward(self, x):
        return self.layers(x)[0]


class Step(nn.Module):
    """One step of an LSTM: the states behind it, one under the other."""

    def __init__(self, inputs, hidden):
        super().__init__()
        self.layers = nn.LSTM(inputs, hidden)

    def forward(self, x, h, c):
        _, states = self.layers(x, (h, c))
        return torch.cat(states)


def rnn_model(module, inputs, opset):
    """One layer of nn.RNN with tanh as the operator RNN."""
    from onnx import TensorProto, helper, numpy_helper
    weights = {name: value.numpy()
               for name, value in module.layers.state_dict().items()}
    (x,) = inputs.values()
    bias = [weights[f"bias_{which}_l0"] for which in ("ih", "hh")]
    constants = {"W": weights["weight_ih_l0"][None],
                 "R": weights["weight_hh_l0"][None],
                 "B": np.concatenate(bias)[None],
                 "side": np.array([1], np.int64)}
    hidden = constants["R"].shape[-1]
    nodes = [helper.make_node("RNN", ["x", "W", "R", "B"], ["y"],
                              hidden_size=hidden),
             helper.make_node("Squeeze", ["y", "side"], ["out"])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)
              for name, sizes in (("x", x.shape),
                                  ("out", (*x.shape[:2], hidden)))]
    graph = helper.make_graph(
        nodes, "rnn", values[:1], values[1:],
        [numpy_helper.from_array(v, k) for k, v in constants.items()])
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
