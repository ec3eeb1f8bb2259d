"""Places of a written input's own storage: what as_strided reads and writes beside its elements."""

import operator

import torch

_aten = torch.ops.aten
# What gives an input, part of which was written, and the view of that part.
_PARTS = {_aten.copy.default: None,
          _aten.select_scatter.default: _aten.select.int,
          _aten.slice_scatter.default: _aten.slice.Tensor,
          _aten.diagonal_scatter.default: _aten.diagonal.default,
          _aten.as_strided_scatter.default: _aten.as_strided.default}


def read_where_written(graph_module):
    """Makes as_strided of a written input read and write the input. AOT Autograd has it read the
    value that is written at the end of the graph, which has not what lies beside the input's
    elements in its storage, and writes that value's elements alone; so what makes the value is
    written into the input before."""
    graph = graph_module.graph
    writes = {node.args[0]: node for node in graph.nodes
              if node.target is _aten.copy_.default and node.args[0].op == "placeholder"}
    reads = [(place, *_views_of(place.args[0]))
             for place in graph.find_nodes(op="call_function", target=_aten.as_strided.default)]
    values = {}
    through = graph.find_nodes(op="call_function", target=_aten.as_strided_scatter.default)
    for value in (*(value for _, _, value in reads), *through):
        made = _Value(value, writes)
        if made.written and not made.is_read_behind():
            values[value] = made
    if not values:
        return
    for value, made in values.items():
        values[value] = made.write(graph)
    for place, views, value in reads:
        if value in values:
            with graph.inserting_before(place):
                place.args = (_replayed(graph, views, value, values[value]), *place.args[1:])
    graph_module.recompile()


class _Value:
    """What an input, or a view of it, holds by some time, and by which writes."""

    def __init__(self, value, writes):
        self._value = value
        self._first, self._parts = _parts_of(value)
        self.written = self._first if self._first in writes else None
        if not self.written:  # It may be what the input holds in the end.
            self._first, self._parts = value, []
            self.written = {write.args[1]: node for node, write in writes.items()}.get(value)
        self._write = writes.get(self.written)

    def write(self, graph):
        """Adds the writes behind the value, and returns the node of the place that holds it."""
        places = {self._first: self.written}
        with graph.inserting_before(self._value.next):
            if self._first is not self.written:
                graph.call_function(_aten.copy_.default, (self.written, self._first))
            for part in self._parts:
                places[part] = self._write_part(graph, part, places)
        return places[self._value]

    @staticmethod
    def _write_part(graph, part, places):
        views, base = _views_of(part.args[0])
        whole = _replayed(graph, views, base, places[base])
        view = _PARTS[part.target]
        place = graph.call_function(view, (whole, *part.args[2:]), part.kwargs) if view else whole
        graph.call_function(_aten.copy_.default, (place, part.args[1]))
        return whole

    def is_read_behind(self):
        """Whether what the input held before the value is read once the value is known."""
        held = {self.written}
        for node in self.written.graph.nodes:
            if node.op != "call_function" or not held.intersection(node.all_input_nodes):
                continue
            if getattr(node.target, "is_view", False) or node.target is operator.getitem:
                held.add(node)
            elif node is not self._write and not _is_size(node) and self._value < node:
                return True
        return False


def _parts_of(value):
    """(the first value, nodes of _PARTS that lead from it to this one): each writes into what the
    one before gives, or into views of it."""
    parts = []
    while value.op == "call_function" and value.target in _PARTS:
        parts.insert(0, value)
        _, value = _views_of(value.args[0])
    return value, parts


def _views_of(node):
    """(the views that lead from a value to the node, the value)."""
    views = []
    while node.op == "call_function" and (node.target is operator.getitem
                                          or getattr(node.target, "is_view", False)):
        views.insert(0, node)
        node = node.args[0]
    return views, node


def _is_size(node):
    return not isinstance(node.meta.get("val"), torch.Tensor)


def _replayed(graph, views, value, place):
    """The views, of the place in place of the value."""
    copies = {value: place}
    for view in views:
        copies[view] = graph.node_copy(view, lambda n: copies.get(n, n))
    return copies[views[-1]] if views else place
