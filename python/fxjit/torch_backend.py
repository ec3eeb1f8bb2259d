"""torch.compile(module, backend="fxjit"): PyTorch finds it by an entry point."""

import contextlib
import functools
import weakref

import torch
from torch._functorch.aot_autograd import aot_module_simplified
from torch._subclasses.fake_impls import op_implementations_dict
from torch.export import exported_program

from . import decompositions
from ._fxjit import check_options, forget_shared_weights
from .compiled_graph import CompiledGraph
from .graphs import gives_views, is_known, log

_compiled = weakref.WeakSet()


def backend(graph_module, example_inputs, *, options=None, **others):
    """What torch.compile calls with each graph that Dynamo has traced.

    options: those of fxjit.load; threads are torch.get_num_threads() unless given.
    discard=True gives the memory of the original weights back: a file holds them. Graphs that
    record gradients run in PyTorch.
    """
    if others:
        raise TypeError(f"fxjit takes options={{...}}, not {', '.join(others)}")
    options = dict(options or {})
    discards = options.pop("discard", False)
    if not isinstance(discards, bool):
        raise TypeError(f"discard: expected True or False, got {discards!r}")
    check_options(**options)
    if _records_gradients(graph_module, example_inputs):
        log.warning("gradients are recorded, so PyTorch runs this graph: call under "
                    "torch.no_grad() to have it compiled")
        return graph_module.forward
    compiler = functools.partial(_compile, options=options, discards=discards)
    with _composites_kept():
        return aot_module_simplified(
            graph_module, example_inputs, fw_compiler=compiler, inference_compiler=compiler,
            decompositions=_decompositions(), keep_inference_input_mutations=True)


def refresh(module=None):
    """As fxjit.refresh."""
    forget_shared_weights()
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
    # Attention, norms, convolutions and the like, which autograd would take apart. Of those that
    # may give views, PyTorch has to see the parts: it replaces writes by results, and a whole op
    # that claims fresh memory would miss what is written to its argument.
    kept = {op: exported_program._special_op_to_preserve_cia
            for op in exported_program._collect_all_valid_cia_ops()
            if is_known(op) and not gives_views(op)}
    return {**kept, torch.ops.aten.einsum.default: _einsum}


@functools.cache
def _made_tables():
    """What PyTorch has by dispatch key, and for fake tensors, of each op that is kept whole."""
    known = {op: rule for op, rule in op_implementations_dict.items() if op in _kept_whole()}
    with exported_program._override_composite_implicit_decomp(_kept_whole()):
        tables = {op: (dict(op.py_kernels), op_implementations_dict[op]) for op in _kept_whole()}
    op_implementations_dict.update(known)  # PyTorch forgets its own.
    return tables


@contextlib.contextmanager
def _composites_kept():
    """PyTorch's override of rules, which takes tens of milliseconds to make its tables, with
    tables that are made once."""
    tables = _made_tables()
    kernels = {op: dict(op.py_kernels) for op in tables}
    added = [op for op in tables if op not in op_implementations_dict]
    for op, (made, fake) in tables.items():
        op.py_kernels.update(made)
        op._dispatch_cache.clear()
        op_implementations_dict.setdefault(op, fake)
    try:
        yield
    finally:
        for op, before in kernels.items():
            op.py_kernels.clear()
            op.py_kernels.update(before)
            op._dispatch_cache.clear()
        for op in added:
            op_implementations_dict.pop(op, None)


def _einsum(equation, operands, **kwargs):
    if len(operands) > 1:  # A single one may be transposed, which is a view.
        return exported_program._special_op_to_preserve_cia()
    return torch.ops.aten.einsum.default._op_dk(
        torch._C.DispatchKey.CompositeImplicitAutograd, equation, operands, **kwargs)


@functools.cache
def _decompositions():
    table = {**torch._decomp.core_aten_decompositions(), **decompositions.table()}
    return {op: rule for op, rule in table.items()
            if isinstance(op, torch._ops.OpOverload) and not is_known(op)}


def _compile(graph_module, example_inputs, *, options, discards):
    context = torch._guards.TracingContext.get()
    made = CompiledGraph(graph_module, context.fw_metadata.static_input_indices, options, discards)
    _compiled.add(made)
    return made
