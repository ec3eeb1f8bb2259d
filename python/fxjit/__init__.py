"""PyTorch programs, compiled for the CPU.

    import fxjit
    fast = torch.compile(module, backend="fxjit")  # Or, without Dynamo:
    fast = fxjit.compile(module, (x,))             # by torch.export,
    fast = fxjit.load("model.pt2")                 # from a file of torch.export.save.
    y = fast(x)                                    # torch tensors, NumPy arrays, DLPack
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from ._fxjit import (
    InternalError,
    MissingFunctions,
    Model,
    UserError,
    __version__,
    version_text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import torch

    from .checking import Check
    from .explanation import Explanation

__all__ = ["InternalError", "MissingFunctions", "Model", "UserError", "__version__", "check",
           "compile", "explain", "from_fx", "load", "refresh", "to_fx", "version_text"]


def load(path: str | os.PathLike[str], *, weights: str | os.PathLike[str] = "",
         dynamic_shapes: Any = None, **options: Any) -> Model:
    """Loads a program of torch.export.save (.pt2), an ONNX model (.onnx) or a file of fx::save.

    path: the file. Weights stay mapped from it until they are packed.
    weights: a .safetensors file whose tensors replace those of the program, by name.
    dynamic_shapes: names and ranges of sizes that change from call to call, as torch.export.export
        takes them, with texts in place of Dims where no range is known. A .pt2 file has those it
        was exported with, an ONNX model its names of dims; those given here replace them.
    options: threads (0: all CPUs), new_shape ("wait", "behind": answer by the interpreter
        while a thread compiles), narrow_weights ("rounded", "exact", "never"), convolution
        ("automatic", "direct"), strict_sums (False), dot_products (True), tile_products (True),
        memory_cap (bytes of compiled programs that are kept), loop_limit (iterations of a loop; 0:
        as many as it takes), cache_folder (text; "": none).

    Raises UserError where the file is missing, damaged or of another version, or holds
    functions that fxjit lacks (MissingFunctions, which names all); TypeError and ValueError for bad options. Where
    PyTorch is imported, a program with such functions is taken apart by its rules first, and what
    remains of them stays with PyTorch, call by call.
    """
    path, weights = os.fspath(path), os.fspath(weights)
    model = _loaded(path, weights, options)
    if dynamic_shapes is not None:
        from . import declared

        declared.declare(model, dynamic_shapes)
    return model


def _loaded(path: str, weights: str, options: dict[str, Any]) -> Model:
    try:
        return Model(path, weights, options)
    except MissingFunctions:
        if weights or "torch" not in sys.modules:
            raise
        from . import exported

        model = exported.load_in_known_functions(path, options)
        if model is None:
            raise
        return model


def compile(module: torch.nn.Module, args: Sequence[Any] = (),
            kwargs: Mapping[str, Any] | None = None, *, dynamic_shapes: Any = None,
            **options: Any) -> Model:
    """Exports a torch.nn.Module by torch.export for these example arguments, and loads the
    program.

    dynamic_shapes: of torch.export.export; sizes that may change from call to call.
    options: those of load.

    The weights are copied: later changes of the module's do not reach the result. Raises what
    torch.export raises for modules that it does not take, ValueError in training mode.
    """
    from . import exported

    return exported.compile(module, args, kwargs, dynamic_shapes=dynamic_shapes, **options)


def explain(model: Any, *args: Any, **kwargs: Any) -> Explanation:
    """Compiles a torch.nn.Module or function by torch.compile for a call with these arguments,
    and says what came of it: graphs, graph breaks with reasons and lines, the time of each step,
    what stayed with PyTorch. The result prints as text and has all of it as fields."""
    from . import explanation

    return explanation.explain(model, *args, **kwargs)


def check(model: Any, inputs: Sequence[Any] = (), *, against: str = "interpreter",
          tolerance: float | None = None, reduce: bool = True, **options: Any) -> Check:
    """Runs a model compiled and by the interpreter, or another runtime, for these arguments, and
    says which node, pass and step a wrong number comes from. The result prints as text, has all of
    it as fields, and writes the smallest model that still shows it (`save`).

    model: a Model, the path of a file, or a torch.nn.Module, which is exported for the inputs.
    against: "interpreter", "torch" (for .pt2 files and modules) or "onnxruntime" (for .onnx files).
    tolerance: how far numbers may differ, relative to the greatest of a tensor; None: each number
        as far as rounding may carry it.
    reduce: whether to search for the smallest model.
    options: those of load.
    """
    from . import checking

    return checking.check(model, inputs, against=against, tolerance=tolerance, reduce=reduce,
                          **options)


def from_fx(graph_module: torch.fx.GraphModule, *, dynamic_shapes: Any = None,
            **options: Any) -> Model:
    """A Model of a torch.fx.GraphModule, which is called with the graph's placeholders.

    dynamic_shapes, options: those of load. The weights are copied. Functions that fxjit lacks stay with PyTorch,
    one log line names them. Raises NotImplementedError for modules that torch.fx cannot trace.
    """
    from . import torch_fx

    model = torch_fx.from_fx(graph_module, **options)
    if dynamic_shapes is not None:
        from . import declared

        declared.declare(model, dynamic_shapes)
    return model


def to_fx(model: Model) -> torch.fx.GraphModule:
    """The model's graph as a torch.fx.GraphModule with weights of its own."""
    from . import torch_fx

    return torch_fx.to_fx(model)


def refresh(module: torch.nn.Module | None = None) -> None:
    """Makes what torch.compile made of `module` (None: of all) take its weights anew.

    Needed only after a change of weights that calls do not see: one that PyTorch does not count
    (by .data or through NumPy) and that leaves the 8 bytes in a weight's middle as they were.
    """
    from . import torch_backend

    torch_backend.refresh(module)
