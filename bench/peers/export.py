"""Writes each workload's model, weights, inputs and reference answer to files.

    export.py MODEL_FOLDER OUT_FOLDER

For each workload OUT_FOLDER/NAME/ gets model.onnx (fixed sizes),
weights.safetensors, inputs.safetensors and inputs.npz, and reference.npy, the
answer computed in double precision, and empty.onnx.
"""

import pathlib
import sys
import warnings

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from safetensors.torch import save_file

from workloads import WORKLOADS

OPSET = 20



def export(workload, model_folder, folder):
    folder.mkdir(parents=True, exist_ok=True)
    inputs = workload.inputs()
    module = workload.module(model_folder)
    values = tuple(inputs.values())
    torch.onnx.export(module, values, str(folder / "model.onnx"),
                      input_names=list(inputs), output_names=["out"],
                      opset_version=OPSET, dynamo=True, external_data=False,
                      verbose=False)
    save_file({k: v.contiguous() for k, v in inputs.items()},
              str(folder / "inputs.safetensors"))
    np.savez(folder / "inputs.npz", **{k: v.numpy() for k, v in inputs.items()})
    if not workload.name.startswith("minilm"):
        weights = {k: v.contiguous() for k, v in module.state_dict().items()}
        save_file(weights, str(folder / "weights.safetensors"))
    doubles = [v.double() if v.is_floating_point() else v for v in values]
    with torch.no_grad():
        reference = module.double()(*doubles)
    np.save(folder / "reference.npy", reference.numpy())
    export_empty(folder)


def export_empty(folder):
    """A graph that does nothing: what a call costs by itself."""
    tensor = lambda name: helper.make_tensor_value_info(
        name, TensorProto.FLOAT, [1, 1])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["out"])],
                              "empty", [tensor("x")], [tensor("out")])
    opsets = [helper.make_opsetid("", OPSET)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=10),
              str(folder / "empty.onnx"))


def main():
    model_folder, out = sys.argv[1], pathlib.Path(sys.argv[2])
    warnings.filterwarnings("ignore")
    for workload in WORKLOADS:
        export(workload, model_folder, out / workload.name)
        print("exported", workload.name, flush=True)


if __name__ == "__main__":
    main()
