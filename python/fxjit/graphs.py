"""Graphs of torch.fx as graphs of fxjit."""

import logging

import torch
from torch.fx.node import _get_qualified_name, map_arg

from ._fxjit import GraphBuilder, has_function, may_alias

log = logging.getLogger("fxjit")
MAX_RANK = 8


def function_name(target):
    """As torch.fx prints it: "torch.ops.aten.add.Tensor", "_operator.getitem"."""
    if isinstance(target, torch._ops.OpOverload):
        return f"torch.ops.{target}"
    return _get_qualified_name(target)


def is_known(target):
    """Whether fxjit's table of ops has it."""
    return has_function(function_name(target))


def gives_views(target):
    """Whether results of a known op may be memory of its arguments."""
    return may_alias(function_name(target))


def hint(number):
    """A plain number, or that of the example for a symbolic one; None where there is none.
    Asking a symbolic number itself would make the graph hold for that number only."""
    return number if isinstance(number, int) else number.node.hint


def known_of(value):
    """What GraphBuilder wants to know of a node's value."""
    if isinstance(value, torch.Tensor) and value.layout == torch.strided:
        if value.dim() > MAX_RANK:
            raise NotImplementedError(f"tensors of {value.dim()} dims; there may be {MAX_RANK}")
        sizes, strides = [hint(n) for n in value.shape], [hint(n) for n in value.stride()]
        known = all(isinstance(n, int) for n in (*sizes, *strides))
        return (str(value.dtype), sizes, strides) if known else None
    if isinstance(value, (list, tuple)):
        return [known_of(item) for item in value]
    if isinstance(value, torch.SymInt):
        return value.node.hint
    return value if isinstance(value, (bool, int, float)) else None


def _is_note(node):
    # That a tensor has a dtype: the graph computes the same dtypes here.
    return (node.target is torch.ops.aten._assert_tensor_metadata.default
            and len(node.args) == 1 and not {"size", "stride"} & node.kwargs.keys())


class GraphReader:
    """Adds a graph's nodes to a builder. `attributes`: arrays for some placeholders; `copy`: the
    graph's own tensors are copied; `torch_results`: also of calls without tensors."""

    def __init__(self, name, attributes, copy=False, torch_results=False):
        self.builder = GraphBuilder(name, torch_results)
        self.attributes = attributes
        self.copy = copy
        self.in_python = []  # Names of the functions that stay with PyTorch.
        self._built = {}

    def read(self, graph):
        """The argument of the output node, in terms of the builder."""
        for node in graph.nodes:
            if node.op == "output":
                return self._argument(node.args[0])
            if not _is_note(node):
                self._built[node] = self._read_node(node)
        raise ValueError("a graph without an output")

    def _argument(self, argument):
        return map_arg(argument, self._built.__getitem__)

    def _read_node(self, node):
        if node.op == "placeholder":
            if node in self.attributes:
                return self.builder.attribute(node.name, self.attributes[node])
            return self.builder.placeholder(node.name, known_of(node.meta.get("val")),
                                            *node.args)
        if node.op == "get_attr":
            return self._read_attribute(node)
        if node.op == "call_method":
            return self._read_method(node)
        if node.op != "call_function":
            raise NotImplementedError(f"{node.op} nodes: {node.format_node()}")
        return self._read_call(node)

    def _read_attribute(self, node):
        value = node.graph.owning_module
        for part in node.target.split("."):
            value = getattr(value, part)
        if isinstance(value, torch.fx.GraphModule):
            return self._read_body(node, value)
        if not isinstance(value, torch.Tensor):
            raise NotImplementedError(f"modules as arguments: {node.format_node()}")
        value = value.detach()
        return self.builder.attribute(node.name, value.clone() if self.copy else value)

    def _read_body(self, node, graph_module):
        if not all(user.op == "call_function" and is_known(user.target) for user in node.users):
            raise NotImplementedError(f"graphs as arguments: {node.format_node()}")
        body = GraphReader(node.name, {}, self.copy)
        result = body.read(graph_module.graph)
        self.in_python += body.in_python
        return self.builder.body(node.name, body.builder, result)

    def _read_method(self, node):
        args, kwargs, place = self._call_of(node)
        built = self.builder.call_method(node.target, args, kwargs, **place)
        if built is not None:
            return built
        self.in_python.append(f"Tensor.{node.target}")
        return self.builder.call_python(f"python.Tensor.{node.target}",
                                        getattr(torch.Tensor, node.target), args, kwargs, **place)

    def _call_of(self, node):
        place = dict(text=(node.name, node.meta.get("stack_trace") or ""),
                     like=known_of(node.meta.get("val")))
        return tuple(self._argument(list(node.args))), dict(self._argument(dict(node.kwargs))), place

    def _read_call(self, node):
        name = function_name(node.target)
        args, kwargs, place = self._call_of(node)
        built = self.builder.call(name, args, kwargs, **place)
        if built is not None:
            return built
        self.in_python.append(name)
        return self.builder.call_python(f"python.{name}", node.target, args, kwargs, **place)
