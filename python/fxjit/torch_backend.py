"""torch.compile(module, backend="fxjit"): PyTorch finds it by an entry point."""

import contextlib
import functools
import threading
import weakref

import torch
from torch._functorch.aot_autograd import aot_module_simplified
from torch.export import exported_program

from ._fxjit import WeightCheck, check_options
from .graphs import GraphReader, hint, is_known, log

_compiled = weakref.WeakSet()


def backend(graph_module, example_inputs, *, options=None, **others):
    """What torch.compile calls with each graph that Dynamo has traced.

    options: those of fxjit.load; threads are torch.get_num_threads() unless given. Graphs that
    record gradients run in PyTorch.
    """
    if others:
        raise TypeError(f"fxjit takes options={{...}}, not {', '.join(others)}")
    options = dict(options or {})
    check_options(**options)
    if _records_gradients(graph_module, example_inputs):
        log.warning("gradients are recorded, so PyTorch runs this graph: call under "
                    "torch.no_grad() to have it compiled")
        return graph_module.forward
    compiler = functools.partial(_compile, options=options)
    with exported_program._override_composite_implicit_decomp(_kept_whole()):
        return aot_module_simplified(
            graph_module, example_inputs, fw_compiler=compiler, inference_compiler=compiler,
            decompositions=_decompositions(), keep_inference_input_mutations=True)


def refresh(module=None):
    """As fxjit.refresh."""
    held = None
    if module is not None:
        held = {id(t) for t in (*module.parameters(), *module.buffers())}
    for compiled in compiled_graphs():
        compiled.refresh(held)


def compiled_graphs():
    """The CompiledGraphs that live, in no order."""
    return list(_compiled)


@contextlib.contextmanager
def recorded(calls):
    """Inside, (CompiledGraph, inputs) of each call of a compiled graph are appended."""
    CompiledGraph.recorder = calls.append
    try:
        yield
    finally:
        CompiledGraph.recorder = None


def _records_gradients(graph_module, example_inputs):
    if not torch.is_grad_enabled():
        return False
    tensors = [t for t in example_inputs if isinstance(t, torch.Tensor)]
    return any(t.requires_grad for t in (*tensors, *graph_module.parameters()))


@functools.cache
def _kept_whole():
    # Attention, norms, convolutions and the like, which autograd would take apart.
    return {op: exported_program._special_op_to_preserve_cia
            for op in exported_program._collect_all_valid_cia_ops() if is_known(op)}


@functools.cache
def _decompositions():
    table = torch._decomp.core_aten_decompositions()
    return {op: rule for op, rule in table.items()
            if isinstance(op, torch._ops.OpOverload) and not is_known(op)}


def _compile(graph_module, example_inputs, *, options):
    context = torch._guards.TracingContext.get()
    return CompiledGraph(graph_module, context.fw_metadata.static_input_indices, options)


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


class CompiledGraph:
    """A graph of ATen ops with its weights, bound at the first call and when they change."""

    _boxed_call = True
    recorder = None

    def __init__(self, graph_module, static_indices, options):
        self._graph_module = graph_module
        self._options = options
        placeholders = graph_module.graph.find_nodes(op="placeholder")
        self._weights = [i for i in static_indices if not _is_written(placeholders[i])]
        weights = set(self._weights)
        self._inputs = [i for i in range(len(placeholders)) if i not in weights]
        result = graph_module.graph.output_node().args[0]
        self._orders = [_order(n.meta.get("val")) if isinstance(n, torch.fx.Node) else None
                        for n in result]
        self.in_python = []  # Functions that stay with PyTorch, once bound.
        self._lock = threading.Lock()
        self._bound = None  # (WeightCheck, Model)
        _compiled.add(self)

    def __call__(self, args):
        bound = self._bound
        if bound is None or bound[0].changed(args):
            bound = self._bind(args)
        inputs = [args[i] for i in self._inputs]
        args.clear()
        if self.recorder:
            self.recorder((self, inputs))
        results = bound[1](*inputs)
        return [r if order is None else _in_order(r, order)
                for r, order in zip(results, self._orders, strict=True)]

    @property
    def model(self):
        """The fxjit.Model of the last call; None before the first."""
        return self._bound and self._bound[1]

    def refresh(self, held):
        with self._lock:
            if self._bound and (held is None or held & self._ids):
                self._bound = None

    def _bind(self, args):
        with self._lock:
            bound = self._bound
            if bound is not None and not bound[0].changed(args):
                return bound  # Another thread was first.
            self._bound = None  # Frees what was packed before the new weights are.
            placeholders = self._graph_module.graph.find_nodes(op="placeholder")
            attributes = {placeholders[i]: args[i] for i in self._weights}
            reader = GraphReader("torch.compile", attributes)
            result = reader.read(self._graph_module.graph)
            self.in_python = sorted(set(reader.in_python))
            if self.in_python:
                log.warning("in PyTorch, since fxjit lacks them: %s",
                            ", ".join(self.in_python))
            options = {"threads": torch.get_num_threads(), **self._options}
            model = reader.builder.compile(list(result), **options)
            self._ids = {id(args[i]) for i in self._weights}
            self._bound = bound = (WeightCheck(self._weights, args), model)
            return bound


def _is_written(placeholder):
    return any(user.args and user.args[0] is placeholder
               and isinstance(user.target, torch._ops.OpOverload)
               and user.target._schema.is_mutable for user in placeholder.users)


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
