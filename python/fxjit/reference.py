"""The values inside of a model as another runtime computes them: what `fxjit
check` and fxjit.check hold against this library.

    reference.py onnxruntime --model FILE.onnx [--input NAME=FILE.npy ...]
                 --output FOLDER
    reference.py torch --model FILE.pt2 [--weights FILE.safetensors] ...

Writes arrays to FOLDER and prints one line of JSON: {"version": TEXT,
"results": [FILE, ...], "nodes": {NAME: FILE, ...}}, or {"error": TEXT}. Names are
those of the exported graph's nodes, and of the ONNX model's values. What is no
array is left out.

    reference.py export --model FOLDER --output FILE [--input NAME=FILE.npy ...]

makes a .pt2 or .onnx file of the package that GraphModule::to_folder wrote.
"""

import argparse
import importlib
import json
import os
import re
import sys
import zipfile


class Missing(Exception):
    """What has to be there first; main prints it."""


def package(name):
    """The Python package of this name."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        wanted = error.name.partition(".")[0]
        raise Missing(f"the Python package {wanted} is missing ({sys.executable}"
                      f" -m pip install {wanted}, or --python)") from error


def assigned(names, inputs):
    """The inputs by the names of a model: by name, else in order."""
    if all(name in inputs for name in names):
        return {name: inputs[name] for name in names}
    if len(names) == len(inputs):
        return dict(zip(names, inputs.values()))
    raise Missing(f"the model has the inputs {', '.join(names)}, "
                  f"not {', '.join(inputs)}")


def import_containers(model):
    """The modules of the classes that hold arguments and results: torch knows
    such a class once it is imported."""
    with zipfile.ZipFile(model) as archive:
        for name in archive.namelist():
            if re.search(r"models/[^/]*\.json$", name):
                text = archive.read(name).decode()
                for module in set(re.findall(
                        r'\\"type\\": \\"([\w.]+)\.\w+\\"', text)):
                    package(module)


def load_program(torch, model, weights=None):
    """The exported program, with the weights of that file in place of its own."""
    import_containers(model)
    program = torch.export.load(model)
    if weights:
        found = package("safetensors.torch").load_file(weights)
        for name, own in program.state_dict.items():
            if name in found:
                own.data.copy_(found[name])
    return program


def program_arguments(torch, program, inputs):
    """args and kwargs, constants that were exported among them."""
    kinds = torch.export.graph_signature
    specs = [s.arg for s in program.graph_signature.input_specs
             if s.kind == kinds.InputKind.USER_INPUT]
    types = {node.name: node.meta["val"].dtype for node in program.graph.nodes
             if node.op == "placeholder" and "val" in node.meta
             and isinstance(node.meta["val"], torch.Tensor)}
    named = assigned([s.name for s in specs if s.name in types], inputs)
    leaves = [torch.from_numpy(named[s.name]).to(types[s.name])
              if s.name in types else getattr(s, "value", 1) for s in specs]
    return torch.utils._pytree.tree_unflatten(leaves, program.call_spec.in_spec)


def torch_values(model, inputs, weights=None):
    """Name and version, results, and the value of each node of a .pt2 file."""
    torch = package("torch")
    program = load_program(torch, model, weights)
    args, kwargs = program_arguments(torch, program, inputs)
    nodes = {}

    class Keeping(torch.fx.Interpreter):
        def run_node(self, node):
            value = super().run_node(node)
            if (node.op.startswith("call_") and
                    isinstance(value, torch.Tensor)):
                nodes[node.name] = _array(torch, value)
            return value

    module = program.module()
    with torch.no_grad():
        leaves = torch.utils._pytree.tree_leaves((args, kwargs))
        result = Keeping(module).run(*leaves, enable_io_processing=False)
    results = [_array(torch, leaf)
               for leaf in torch.utils._pytree.tree_leaves(result)
               if isinstance(leaf, torch.Tensor)]
    return f"PyTorch {torch.__version__}", results, nodes


def _array(torch, tensor):
    tensor = tensor.detach()
    if tensor.dtype in (torch.float16, torch.bfloat16):
        tensor = tensor.float()
    return tensor.clone().resolve_conj().resolve_neg().numpy()


def _varint(number):
    made = b""
    while number > 127:
        made += bytes([number & 127 | 128])
        number >>= 7
    return made + bytes([number])


def _message(field, content):
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _fields(content):
    """Number and content of the fields of a message that have a length."""
    def varint(at):
        number = shift = 0
        while True:
            byte = content[at]
            number |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return number, at

    at = 0
    while at < len(content):
        key, at = varint(at)
        kind = key & 7
        if kind == 0:
            _, at = varint(at)
        elif kind == 2:
            size, at = varint(at)
            yield key >> 3, content[at:at + size]
            at += size
        else:
            at += 8 if kind == 1 else 4


def _with_all_outputs(content):
    """The model with the values of all its nodes among the outputs: fields of a
    message that comes twice are joined."""
    names, outputs = [], set()
    for number, graph in _fields(content):
        if number != 7:  # ModelProto.graph
            continue
        for field, inner in _fields(graph):
            if field == 1:  # GraphProto.node
                names += [text for part, text in _fields(inner) if part == 2]
            elif field == 12:  # GraphProto.output
                outputs |= {text for part, text in _fields(inner) if part == 1}
    more = [name for name in names if name and name not in outputs]
    added = b"".join(_message(12, _message(1, name)) for name in more)
    return content + _message(7, added), [name.decode() for name in more]


def _beside(model, content, folder):
    """A file with this content, with the model's files of weights beside it."""
    origin = os.path.dirname(os.path.abspath(model))
    place = os.path.join(folder, "beside")
    os.makedirs(place, exist_ok=True)
    for name in os.listdir(origin):
        link = os.path.join(place, name)
        if name != os.path.basename(model) and not os.path.lexists(link):
            os.symlink(os.path.join(origin, name), link)
    path = os.path.join(place, os.path.basename(model))
    with open(path, "wb") as file:
        file.write(content)
    return path


def onnxruntime_values(model, inputs, folder):
    """The same of an .onnx file. The graph runs as it stands: nothing is
    fused, so that every value is there."""
    ort = package("onnxruntime")
    np = package("numpy")
    with open(model, "rb") as file:
        content, names = _with_all_outputs(file.read())
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = (
        ort.GraphOptimizationLevel.ORT_DISABLE_ALL)
    session = ort.InferenceSession(_beside(model, content, folder), options,
                                   providers=["CPUExecutionProvider"])
    values = assigned([i.name for i in session.get_inputs()], inputs)
    everything = session.run(None, values)
    made = dict(zip((o.name for o in session.get_outputs()), everything))
    inner = set(names)
    results = [value for name, value in made.items()
               if name not in inner and isinstance(value, np.ndarray)]
    nodes = {name: value for name, value in made.items()
             if isinstance(value, np.ndarray)}
    return f"ONNX Runtime {ort.__version__}", results, nodes


def export(model, inputs, path):
    """A .pt2 or .onnx file of a package of GraphModule::to_folder."""
    torch = package("torch")
    folder, name = os.path.split(os.path.abspath(model))
    sys.path.insert(0, folder)
    module = importlib.import_module(name).FxModule().eval()
    args = tuple(torch.from_numpy(value) for value in inputs.values())
    with torch.no_grad():
        program = torch.export.export(module, args)
        if path.endswith(".onnx"):
            package("onnxscript")
            torch.onnx.export(program, f=path, dynamo=True,
                              external_data=False, verbose=False)
        else:
            torch.export.save(program, path)


def arrays(pairs):
    np = package("numpy")
    files = dict(pair.split("=", 1) for pair in pairs)
    return {name: np.array(np.load(path), order="C")
            for name, path in files.items()}


def write(folder, version, results, nodes):
    np = package("numpy")

    def written(name, value):
        path = os.path.join(folder, f"{name}.npy")
        np.save(path, value)
        return path

    return {"version": version,
            "results": [written(f"result{i}", value)
                        for i, value in enumerate(results)],
            "nodes": {name: written(f"node{i}", value)
                      for i, (name, value) in enumerate(nodes.items())
                      if value.dtype.kind in "biufc"}}


def answer(options):
    inputs = arrays(options.input)
    if options.what == "export":
        export(options.model, inputs, options.output)
        return {}
    values = (torch_values(options.model, inputs, options.weights)
              if options.what == "torch" else
              onnxruntime_values(options.model, inputs, options.output))
    return write(options.output, *values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["onnxruntime", "torch", "export"])
    parser.add_argument("--model", required=True)
    parser.add_argument("--weights", default=None)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--output", required=True)
    try:
        said = answer(parser.parse_args())
    except Missing as missing:
        said = {"error": str(missing)}
    print(json.dumps(said), flush=True)
    sys.exit("error" in said)


if __name__ == "__main__":
    main()
