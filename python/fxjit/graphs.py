"""Builds graphs of fxjit from graphs of torch.fx, node by node."""

import itertools
import logging
import operator

import torch
from torch.fx.node import _get_qualified_name, map_arg

from ._fxjit import BuiltNode, GraphBuilder, has_function, may_alias
from .discarded import is_in_file

log = logging.getLogger("fxjit")
MAX_RANK = 8


def function_name(target):
    """As torch.fx prints it: "torch.ops.aten.add.Tensor", "_operator.getitem"."""
    if isinstance(target, torch._ops.OpOverload):
        return f"torch.ops.{target}"
    return _get_qualified_name(target)


def is_known(target):
    """Whether fxjit's table of ops has the function."""
    return has_function(function_name(target))


def gives_views(target):
    """Whether results of a known op may share memory with its arguments."""
    return may_alias(function_name(target))


def in_pairs(graph_module):
    """Splits sums and products of several sizes into calls with two numbers. AOT Autograd writes
    one call with all of them, but Python's functions take two numbers, and torch.fx's code passes
    the first two only."""
    graph = graph_module.graph
    for node in graph.nodes:
        while node.target in (operator.add, operator.mul) and len(node.args) > 2:
            with graph.inserting_before(node):
                pair = graph.call_function(node.target, node.args[:2])
            node.args = (pair, *node.args[2:])
    graph_module.recompile()


def hint(number):
    """The number itself or, for a symbolic one, its value in the example; None if there is none.
    The symbolic number is not asked itself, because the graph would then hold for that value
    only."""
    return number if isinstance(number, int) else number.node.hint


def known_of(value):
    """What GraphBuilder wants to know of a node's value: dtype, sizes and strides of a tensor, or a
    number."""
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


def sizes_of(value):
    """The names of an input's sizes: for each dim of a tensor, or for a number, None or (name, 0,
    None). PyTorch has checked its ranges before a call comes here."""
    if isinstance(value, torch.Tensor):
        return [_name_of(size) for size in value.shape]
    return [_name_of(value)] if isinstance(value, torch.SymInt) else None


def _name_of(size):
    if not isinstance(size, torch.SymInt):
        return None
    name = str(size.node.expr)
    return None if name.lstrip("-").isdigit() else (name, 0, None)


def _is_body(node):
    """Whether only control flow that fxjit knows has the graph."""
    return all(user.op == "call_function" and is_known(user.target) for user in node.users)


def _is_note(node):
    # That a tensor has a dtype: the graph computes the same dtypes here.
    return (node.target is torch.ops.aten._assert_tensor_metadata.default
            and len(node.args) == 1 and not {"size", "stride"} & node.kwargs.keys())


# What arguments of a call may be beside containers, slices and numbers of 64 bits; all else is
# held by a Python function: complex numbers, operators, classes.
_PLAIN = (type(None), bool, float, str, torch.Tensor, torch.dtype, torch.device, torch.layout,
          torch.memory_format, type(Ellipsis), BuiltNode)
_numbers = itertools.count(1)


def _is_held(leaf):
    if isinstance(leaf, int):
        return not -2**63 <= leaf < 2**63
    return not isinstance(leaf, _PLAIN)


def _map_leaves(function, tree):
    if isinstance(tree, (list, tuple)):
        items = [_map_leaves(function, item) for item in tree]
        return items if isinstance(tree, list) else tuple(items)
    if isinstance(tree, dict):
        return {key: _map_leaves(function, item) for key, item in tree.items()}
    if isinstance(tree, slice):
        return slice(*(_map_leaves(function, item)
                       for item in (tree.start, tree.stop, tree.step)))
    return function(tree)


def _leaves(tree):
    found = []
    _map_leaves(found.append, tree)
    return found


def _holding(function, args, kwargs):
    """The same call as (function, args, kwargs) for a function that holds the arguments that only
    Python knows, and is given all others in a list."""
    leaves = _leaves((args, kwargs))

    def call(given):
        given = iter(given)
        filled = [leaf if _is_held(leaf) else next(given) for leaf in leaves]
        rest = iter(filled)
        args_now, kwargs_now = _map_leaves(lambda _: next(rest), (args, kwargs))
        return function(*args_now, **kwargs_now)

    return call, ([leaf for leaf in leaves if not _is_held(leaf)],), {}


class GraphReader:
    """Adds a graph's nodes to a builder. `attributes`: arrays for some placeholders; `copy`: the
    graph's own tensors are copied."""

    def __init__(self, name, attributes, copy=False):
        self.builder = GraphBuilder(name)
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
                weight = self.attributes[node]
                return self.builder.attribute(node.name, weight, is_in_file(weight))
            value = node.meta.get("val")
            return self.builder.placeholder(node.name, known_of(value), sizes_of(value),
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
        if isinstance(value, torch.fx.GraphModule) and _is_body(node):
            return self._read_body(node, value)
        if not isinstance(value, torch.Tensor):
            return value  # Calls that it is an argument of hold it.
        value = value.detach()
        return self.builder.attribute(node.name, value.clone() if self.copy else value)

    def _read_body(self, node, graph_module):
        body = GraphReader(node.name, {}, self.copy)
        result = body.read(graph_module.graph)
        self.in_python += body.in_python
        return self.builder.body(node.name, body.builder, result)

    def _read_method(self, node):
        args, kwargs, place = self._call_of(node)
        built = self._in_table(self.builder.call_method, node, node.target, args, kwargs, place)
        if built is not None:
            return built
        return self._call_python(f"Tensor.{node.target}", getattr(torch.Tensor, node.target),
                                 args, kwargs, place)

    def _in_table(self, call, node, name, args, kwargs, place):
        if any(map(_is_held, _leaves((args, kwargs)))):
            taken = self._with_tensors(node, args, kwargs)
            if taken is None:
                return None
            args, kwargs = taken
        return call(name, args, kwargs, **place)

    def _with_tensors(self, node, args, kwargs):
        """The arguments with tensors in place of complex numbers, which the table of ops takes
        instead: in the type of the result they are the same. None where others are held."""
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor) or not value.is_complex():
            return None
        count = 0

        def tensor_of(leaf):
            nonlocal count
            if type(leaf) is not complex:
                return leaf
            count += 1
            return self.builder.attribute(f"{node.name}_number_{count}",
                                          torch.tensor(leaf, dtype=value.dtype))
        args, kwargs = _map_leaves(tensor_of, (args, kwargs))
        return None if any(map(_is_held, _leaves((args, kwargs)))) else (args, kwargs)

    def _call_python(self, name, function, args, kwargs, place):
        """A call that stays with PyTorch. Arguments that only Python knows stay in the function."""
        self.in_python.append(name)
        title = f"python.{name}"
        if any(map(_is_held, _leaves((args, kwargs)))):
            function, args, kwargs = _holding(function, args, kwargs)
            title = f"{title}#{next(_numbers)}"  # A function of this call's.
        return self.builder.call_python(title, function, args, kwargs, **place)

    def _call_of(self, node):
        place = dict(text=(node.name, node.meta.get("stack_trace") or ""),
                     like=known_of(node.meta.get("val")))
        return tuple(self._argument(list(node.args))), dict(self._argument(dict(node.kwargs))), place

    def _read_call(self, node):
        name = function_name(node.target)
        args, kwargs, place = self._call_of(node)
        built = self._in_table(self.builder.call, node, name, args, kwargs, place)
        if built is not None:
            return built
        return self._call_python(name, node.target, args, kwargs, place)
