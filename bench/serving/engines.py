"""The models of the benchmark, and ONNX Runtime and PyTorch as engines of fxjit's server."""

import importlib.util
import pathlib

import numpy as np
from fxjit.serving.datatypes import Tensor
from fxjit.serving.engine import FxjitEngine

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Inputs, outputs, and sizes of the first inputs that fit together.
MODELS = {
    "minilm": ((Tensor("ids", "INT64", ("texts", "tokens"), (1024, 512)),),
               (Tensor("embeddings", "FP32", ("texts", 384)),
                Tensor("similarity", "FP32", ("texts", "texts"))), {"ids": (1, 16)}),
    "resnet50": ((Tensor("x", "FP32", ("images", 3, 224, 224), (64, 3, 224, 224)),),
                 (Tensor("y", "FP32", ("images", 1000)),), {"x": (1, 3, 224, 224)})}


class Peer:
    """Names, datatypes and sizes as the server asks for them."""

    def __init__(self, model):
        self.inputs, self.outputs, self._example = MODELS[model]

    def example(self):
        return self._example

    def compiled_size(self):
        return 0, 0


class OnnxRuntime(Peer):
    def __init__(self, model, folder, threads):
        import onnxruntime
        super().__init__(model)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self._session = onnxruntime.InferenceSession(
            folder / "model.onnx", options, providers=["CPUExecutionProvider"])
        self._names = [one.name for one in self._session.get_inputs()]

    def run(self, arrays):
        return self._session.run(None, dict(zip(self._names, arrays, strict=True)))


class PyTorch(Peer):
    """Eager, as torch.export gives the program back."""

    def __init__(self, model, folder, threads):
        import torch
        super().__init__(model)
        torch.set_num_threads(threads)
        spec = importlib.util.spec_from_file_location("contestant",
                                                      ROOT / "tools/fxjit/contestant.py")
        contestant = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(contestant)
        program = contestant.load_program(torch, folder / "model.pt2")
        self._torch, self._module = torch, program.module()

    def run(self, arrays):
        with self._torch.inference_mode():
            given = [self._torch.from_numpy(np.require(one, requirements="W")) for one in arrays]
            result = self._module(*given)
        leaves = result.values() if isinstance(result, dict) else [result]
        return [one.numpy() for one in leaves]


def fxjit(_model, folder, threads):
    return FxjitEngine(folder / "model.pt2", {"threads": threads})


ENGINES = {"fxjit": fxjit, "onnxruntime": OnnxRuntime, "pytorch": PyTorch}
