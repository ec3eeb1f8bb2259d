"""torch.fx's graph modules as models, and models as torch.fx's graph modules."""

import importlib.util
import pathlib
import sys
import tempfile

import torch

from .graphs import GraphReader, log


class _Flattener(torch.fx.Tracer):
    # Layers become the functions that they call.
    def is_leaf_module(self, module, path):
        return False


def _flat(graph_module):
    called = {node.target for node in graph_module.graph.nodes if node.op == "call_module"}
    if not called:
        return graph_module
    try:
        return torch.fx.GraphModule(graph_module, _Flattener().trace(graph_module))
    except (torch.fx.proxy.TraceError, TypeError) as error:
        raise NotImplementedError(
            f"one of the modules {', '.join(sorted(called))} cannot be traced: {error}") from error


def from_fx(graph_module, **options):
    """As fxjit.from_fx."""
    flat = _flat(graph_module)
    reader = GraphReader("torch.fx", {}, copy=True)
    with torch.no_grad():
        result = reader.read(flat.graph)
    if reader.in_python:
        log.warning("calls that stay with PyTorch: %s",
                    ", ".join(sorted(set(reader.in_python))))
    return reader.builder.compile(result, **options)


def to_fx(model):
    """As fxjit.to_fx."""
    with tempfile.TemporaryDirectory(prefix="fxjit-") as folder:
        package = pathlib.Path(folder) / "module"
        model.to_folder(str(package), "FxModule")
        spec = importlib.util.spec_from_file_location(
            "fxjit_exported_module", package / "__init__.py",
            submodule_search_locations=[str(package)])
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = loaded
        try:
            spec.loader.exec_module(loaded)
            module = loaded.FxModule()
        finally:
            for name in [n for n in sys.modules if n.split(".")[0] == spec.name]:
                del sys.modules[name]
    return torch.fx.symbolic_trace(module.eval())
