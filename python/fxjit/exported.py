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
        program = torch.export.export(module, tuple(args), kwargs, dynamic_shapes=dynamic_shapes)
    with tempfile.TemporaryDirectory(prefix="fxjit-") as folder:
        path = os.path.join(folder, f"{type(module).__name__}.pt2")
        torch.export.save(program, path)
        return load(path, **options)  # Keeps the file mapped after it is removed.
