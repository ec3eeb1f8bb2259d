"""Modules of PyTorch by way of torch.export."""

import os
import tempfile


def compile(module, args=(), kwargs=None, *, dynamic_shapes=None, **options):
    """As fxjit.compile."""
    import torch

    from . import load

    if module.training:
        raise ValueError(f"{type(module).__name__} is in training mode: call .eval() first")
    with torch.no_grad():
        program = _without_vmap(
            torch.export.export(module, tuple(args), kwargs, dynamic_shapes=dynamic_shapes))
    with tempfile.TemporaryDirectory(prefix="fxjit-") as folder:
        path = os.path.join(folder, f"{type(module).__name__}.pt2")
        torch.export.save(program, path)
        return load(path, **options)  # Keeps the file mapped after it is removed.


def _without_vmap(program):
    """torch.export records what happens inside torch.vmap for one slice, between calls that add and
    remove the mapped dim. Decomposing replaces these by batched functions; what else is taken apart
    there are composites that may give views, so that writes reach them (see torch_backend)."""
    import torch

    from .graphs import gives_views, is_known

    modules = [m for m in program.graph_module.modules() if hasattr(m, "graph")]
    if any(getattr(node.target, "__module__", None) == "torch._functorch.predispatch"
           for module in modules for node in module.graph.nodes):
        rules = torch.export.default_decompositions()
        return program.run_decompositions(
            {op: rule for op, rule in rules.items() if is_known(op) and gives_views(op)})
    return program
