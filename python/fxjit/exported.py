"""Modules of PyTorch by way of torch.export."""

import os
import tempfile


def compile(module, args=(), kwargs=None, *, dynamic_shapes=None, **options):
    """Exports a torch.nn.Module for these example arguments, and loads the program.

    dynamic_shapes: of torch.export.export; sizes that may change from call to call.
    options: those of fxjit.load.

    The weights are copied: later changes of the module's do not reach the result. Raises what
    torch.export raises for modules that it does not take.
    """
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
