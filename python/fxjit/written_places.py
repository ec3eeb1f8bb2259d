"""as_strided of an input that the same graph writes: places in the input's own storage."""

import operator

import torch

_aten = torch.ops.aten
# What stands for an input, part of which was written.
_PARTLY_WRITTEN = {_aten.copy.default, _aten.select_scatter.default, _aten.slice_scatter.default,
                   _aten.diagonal_scatter.default, _aten.as_strided_scatter.default}


def read_where_written(graph_module):
    """Makes as_strided of a written input read the input. AOT Autograd has it read the value that
    is written at the end of the graph, which has not what lies beside the input's elements in its
    storage; so the value is written before."""
    graph = graph_module.graph
    writes = {node.args[0]: node for node in graph.nodes
              if node.target is _aten.copy_.default and node.args[0].op == "placeholder"}
    places = []
    for place in graph.find_nodes(op="call_function", target=_aten.as_strided.default):
        views, value = _views_of(place.args[0])
        written = _input_of(value, writes)
        if written and not _is_read_behind(value, written, writes[written]):
            places.append((place, views, value, written))
    if not places:
        return
    for value, written in {value: written for _, _, value, written in places}.items():
        with graph.inserting_after(value):
            graph.call_function(_aten.copy_.default, (written, value))
    for place, views, value, written in places:
        with graph.inserting_before(place):
            place.args = (_replayed(graph, views, value, written), *place.args[1:])
    graph_module.recompile()


def _views_of(node):
    """(the views that lead from a value to the node, the value)."""
    views = []
    while node.op == "call_function" and (node.target is operator.getitem
                                          or getattr(node.target, "is_view", False)):
        views.insert(0, node)
        node = node.args[0]
    return views, node


def _input_of(value, writes):
    """The input of which this is what it holds by then; None for other values."""
    for written, write in writes.items():
        if write.args[1] is value:
            return written
    while value.op == "call_function" and value.target in _PARTLY_WRITTEN:
        _, value = _views_of(value.args[0])
        if value in writes:
            return value
    return None


def _is_read_behind(value, written, write):
    """Whether what the input held before the value is read once the value is known."""
    held = {written}
    for node in written.graph.nodes:
        if node.op != "call_function" or not held.intersection(node.all_input_nodes):
            continue
        if getattr(node.target, "is_view", False) or node.target is operator.getitem:
            held.add(node)
        elif node is not write and not _is_size(node) and value < node:
            return True
    return False


def _is_size(node):
    return not isinstance(node.meta.get("val"), torch.Tensor)


def _replayed(graph, views, value, written):
    """The views, of the input in place of the value."""
    copies = {value: written}
    for view in views:
        copies[view] = graph.node_copy(view, lambda n: copies.get(n, n))
    return copies[views[-1]] if views else written
