"""PyTorch programs, compiled for the CPU.

    import fxjit
    model = fxjit.load("model.pt2")     # of torch.export.save
    y = model(x)                        # torch tensors, NumPy arrays, DLPack

    model = fxjit.compile(module, (x,)) # the same from a torch.nn.Module
"""

import os

from ._fxjit import InternalError, Model, UserError, __version__, version_text
from ._fxjit import load as _load
from .exported import compile

__all__ = ["InternalError", "Model", "UserError", "__version__", "compile", "load",
           "version_text"]


def load(path, *, weights="", **options):
    """Loads a program of torch.export.save (.pt2) or a file of fx::save.

    path: the file. Weights stay mapped from it until they are packed.
    weights: a .safetensors file whose tensors replace those of the program, by name.
    options: threads (0: all CPUs), new_shape ("wait", "behind": answer by the interpreter
        while a thread compiles), narrow_weights ("rounded", "exact", "never"), convolution
        ("automatic", "direct"), strict_sums (False), cache_folder (text; "": none).

    Raises UserError where the file is missing, damaged or of another version, or holds
    functions that fxjit lacks (all are named); TypeError and ValueError for bad options.
    """
    return _load(os.fspath(path), os.fspath(weights), **options)
