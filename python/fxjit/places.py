"""The memory layout of a graph's results, where PyTorch's results are laid out in another way than
fxjit's."""

import operator

import torch

from .graphs import hint

_aten = torch.ops.aten
# PyTorch's rules for their results say that these are contiguous, and the functions keep orders; or
# the other way round.
_OTHER_ORDER = {_aten.roll.default, _aten.channel_shuffle.default,
                _aten.native_channel_shuffle.default, _aten.reflection_pad3d.default,
                _aten.replication_pad3d.default,
                _aten.pow.Scalar, _aten.float_power.Scalar, _aten.isin.Tensor_Scalar,
                _aten.log_sigmoid.default, _aten.log_sigmoid_forward.default, _aten.rrelu.default}
# The rules keep the order of any input, the functions that of memory formats alone.
_BATCH_NORMS = {_aten.batch_norm.default, _aten._native_batch_norm_legit_no_training.default}
# They copy the whole storage of their first argument, with what lies between and before its
# elements, so that results lie in the copy as the argument does.
_WHOLE_STORAGE = {_aten.copy.default, _aten.select_scatter.default, _aten.slice_scatter.default,
                  _aten.diagonal_scatter.default, _aten.as_strided_scatter.default}


class Places:
    """The layouts of the results of a graph that AOT Autograd made. AOT Autograd takes strides and
    offset of some results to make views of the caller's tensors, so these must be PyTorch's."""

    def __init__(self, graph_module):
        results = graph_module.graph.output_node().args[0]
        unknown = _behind(_has_other_order, graph_module.graph)
        self._orders = [_order(n.meta.get("val"))
                        if isinstance(n, torch.fx.Node) and n not in unknown else None
                        for n in results]
        copies = [i for i, n in enumerate(results) if _is_in_copy(n)]
        self._replayed = _replayed(graph_module, copies) if copies else None

    def views(self, args):
        """Views of the arguments whose layout the results must have, as pairs (number of the
        result, view)."""
        return self._replayed(*args) if self._replayed else ()

    def laid(self, results, views):
        """The results; those that are laid out in another way are copied."""
        laid = [r if order is None else _in_order(r, order)
                for r, order in zip(results, self._orders, strict=True)]
        for i, view in views:
            laid[i] = _placed(laid[i], view)
        return laid


def _behind(is_one, graph):
    """The nodes for which `is_one` is true, and all nodes that are computed from them."""
    found = set()
    for node in graph.nodes:
        if is_one(node) or any(n in found for n in node.all_input_nodes):
            found.add(node)
    return found


def _has_other_order(node):
    if node.target in _BATCH_NORMS:
        order = _order(node.args[0].meta.get("val"))
        last = order and sorted(order, key=lambda d: (d == 1, d))
        return order is not None and order not in (sorted(order), last)
    return (node.target in _OTHER_ORDER
            and not all(_is_contiguous(n.meta.get("val")) for n in node.all_input_nodes))


def _is_contiguous(value):
    order = _order(value)
    few = isinstance(value, torch.Tensor) and value.dim() < 2
    return few or (order is not None and order == sorted(order))


def _is_in_copy(node):
    """Whether it is a view of the copy of a placeholder's storage."""
    copied = False
    while isinstance(node, torch.fx.Node) and node.op == "call_function":
        copies = node.target in _WHOLE_STORAGE
        if not (copies or node.target is operator.getitem
                or getattr(node.target, "is_view", False)):
            return False
        copied = copied or copies
        node = node.args[0]
    return copied and isinstance(node, torch.fx.Node) and node.op == "placeholder"


def _replayed(graph_module, numbers):
    """The graph of the results with these numbers as views of the placeholders alone."""
    graph = torch.fx.Graph()
    results = graph_module.graph.output_node().args[0]
    copies = {node: graph.node_copy(node)
              for node in graph_module.graph.find_nodes(op="placeholder")}

    def copied(node):
        if node not in copies:
            copies[node] = (copied(node.args[0]) if node.target in _WHOLE_STORAGE
                            else graph.node_copy(node, copied))
        return copies[node]
    graph.output([(i, copied(results[i])) for i in numbers])
    return torch.fx.GraphModule(graph_module, graph)


def _placed(tensor, view):
    """The tensor, placed in its storage as the view is in another."""
    if (tensor.stride() == view.stride() and tensor.storage_offset() == view.storage_offset()
            or torch._debug_has_internal_overlap(view) == 1):  # Copies of these are contiguous.
        return tensor
    reach = sum((n - 1) * s for n, s in zip(view.size(), view.stride(), strict=True)) + 1
    whole = torch.empty(view.storage_offset() + max(reach, 0), dtype=tensor.dtype)
    return whole.as_strided(view.size(), view.stride(), view.storage_offset()).copy_(tensor)


def _in_order(tensor, order):
    """The tensor with its dims in that order of memory, as PyTorch's own result has them."""
    strides = tensor.stride()
    expected = 1
    fits = True
    for d in reversed(order):
        if tensor.size(d) != 1 and strides[d] != expected:
            fits = False
        expected *= tensor.size(d)
    if fits:
        return tensor
    full = order + [d for d in range(tensor.dim()) if d not in order]
    copy = torch.empty([tensor.size(d) for d in full], dtype=tensor.dtype)
    copy = copy.permute([full.index(d) for d in range(tensor.dim())])
    return copy.copy_(tensor)


def _order(value):
    """Dims from the largest stride to the smallest, for tensors without gaps; None for others."""
    if not isinstance(value, torch.Tensor) or value.dim() < 2:
        return None
    sizes, strides = [hint(n) for n in value.shape], [hint(n) for n in value.stride()]
    if None in sizes or None in strides:
        return None
    order = sorted((d for d in range(value.dim()) if sizes[d] != 1), key=lambda d: -strides[d])
    expected = 1
    for d in reversed(order):
        if strides[d] != expected:
            return None
        expected *= sizes[d]
    return order
