"""Modules of PyTorch by way of torch.export."""

import collections
import os
import tempfile


def compile(module, args=(), kwargs=None, *, dynamic_shapes=None, **options):
    """As fxjit.compile."""
    import torch

    if module.training:
        raise ValueError(f"{type(module).__name__} is in training mode: call .eval() first")
    with torch.no_grad():
        args, kwargs = _apart((tuple(args), kwargs))
        program = _in_known_functions(
            torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes))
    return _loaded(program, f"{type(module).__name__}.pt2", options)


def load_in_known_functions(path, options):
    """A Model of a .pt2 file whose functions PyTorch's rules replace; None where they replace none.
    """
    import torch

    if not path.endswith(".pt2"):
        return None
    program = torch.export.load(path)
    known = _in_known_functions(program)
    return None if known is program else _loaded(known, os.path.basename(path), options)


def _loaded(program, name, options):
    import torch

    from ._fxjit import Model

    signature = program.module_call_graph[0].signature
    signature.out_spec = _in_known_containers(signature.out_spec)
    with tempfile.TemporaryDirectory(prefix="fxjit-") as folder:
        path = os.path.join(folder, name)
        torch.export.save(program, path)
        return Model(path, "", options)  # Keeps the file mapped after it is removed.


def _in_known_containers(spec):
    """The tree of a result with tuples for named ones of classes that files cannot name."""
    from torch.utils import _pytree

    try:
        _pytree.treespec_dumps(spec)
        return spec
    except NotImplementedError:  # What it raises for such classes.
        pass
    children = [_in_known_containers(child) for child in spec.children()]
    if spec.type is collections.namedtuple or issubclass(spec.type, tuple):
        return _pytree.treespec_tuple(children)
    return _pytree.TreeSpec(spec.type, spec.context, children)


def _apart(examples):
    """The examples with memory of their own: those that share it would be one input, though later
    calls may have several."""
    import torch
    from torch.utils import _pytree

    storages = set()

    def own(leaf):
        if not isinstance(leaf, torch.Tensor) or leaf.layout != torch.strided:
            return leaf
        storage = leaf.untyped_storage()._cdata
        if storage not in storages:
            storages.add(storage)
            return leaf
        copy = torch.empty_strided(leaf.size(), leaf.stride(), dtype=leaf.dtype,
                                   requires_grad=leaf.requires_grad)
        return copy.copy_(leaf) if 0 not in leaf.stride() else copy

    return _pytree.tree_map(own, examples)


def _in_known_functions(program):
    """The program in functions that fxjit has, as far as PyTorch has rules that make it so: these
    replace writes by results, too. torch.export also records what happens inside torch.vmap for one
    slice, between calls that add and remove the mapped dim; the rules make batched functions of
    these. What else is taken apart are composites that may give views, so that writes reach them
    (see torch_backend)."""
    import torch

    from . import decompositions
    from .graphs import gives_views, is_known

    targets = {node.target for module in program.graph_module.modules() if hasattr(module, "graph")
               for node in module.graph.nodes if node.op == "call_function"}
    has_vmap = any(getattr(target, "__module__", None) == "torch._functorch.predispatch"
                   for target in targets)
    lacking = any(isinstance(target, torch._ops.OpOverload) and not is_known(target)
                  for target in targets)
    if not has_vmap and not lacking:
        return program
    rules = {**torch.export.default_decompositions(), **decompositions.table(),
             **decompositions.OF_PROGRAMS}
    return program.run_decompositions(
        {op: rule for op, rule in rules.items()
         if gives_views(op) or (lacking and not is_known(op))})
