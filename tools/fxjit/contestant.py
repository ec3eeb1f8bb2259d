"""One contestant: a runtime that answers one model on command.

    contestant.py NAME --model FILE [--input NAME=FILE.npy ...] --output FOLDER
                  [--state NAME=FILE.npy ...] [--threads N] [--cache FOLDER]
    contestant.py export --model FILE.pt2 [--weights FILE.safetensors]
                  --output FILE.onnx

NAME and its model: onnxruntime, openvino (.onnx), python (.pt2, by
fxjit.load), eager, inductor, torch_compile (fxjit's back end; .pt2, or
FILE.py:MODEL for what make(MODEL) of that file gives). --state: an input of an
.onnx whose new value, the output new.NAME, goes to the same memory.

Prints one line of JSON when the results of the first call are in FOLDER (0.npy,
1.npy, ...), then one for each line of standard input: "run SECONDS" gives the
time of each call in nanoseconds, "empty SECONDS" the same for a graph that does
nothing, called the same way, "end" ends. {"error": TEXT} says what is missing.
`export` writes the ONNX file of an exported program and says {}.
fxjit_peer.cpp speaks the same.
"""

import argparse
import gc
import importlib.util
import json
import os
import sys
import time

# An isolated Python (-I) does not look beside the script.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from reference import (Missing, assigned, load_program, package,
                       program_arguments)


def rss_anon_kib():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
    return 0


def has_state(output, state):
    return output.removeprefix("new.") in state


def empty_onnx():
    """An ONNX file with one Identity: what a call costs by itself."""
    def message(number, content):
        return bytes([number << 3 | 2, len(content)]) + content

    def tensor(name):  # One float: ValueInfoProto.
        sizes = message(2, message(1, b"\x08\x01"))
        return message(1, name) + message(2, message(1, b"\x08\x01" + sizes))

    node = message(1, b"x") + message(2, b"out") + message(4, b"Identity")
    graph = (message(1, node) + message(2, b"empty") + message(11, tensor(b"x"))
             + message(12, tensor(b"out")))
    return b"\x08\x08" + message(7, graph) + message(8, b"\x10\x0d")


class OnnxRuntime:
    """Inputs and outputs bound once; the call passes no arrays."""

    def __init__(self, threads, cache):
        self.ort, self.threads = package("onnxruntime"), threads
        self.version = f"ONNX Runtime {self.ort.__version__}"

    def prepare(self, model, inputs, state={}):
        options = self.ort.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = self.ort.InferenceSession(
            model, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        values = assigned([i.name for i in session.get_inputs()
                           if i.name not in state], inputs)
        for name, value in {**values, **state}.items():
            value = self.ort.OrtValue.ortvalue_from_numpy(value)
            binding.bind_ortvalue_input(name, value)
            if name in state:
                binding.bind_ortvalue_output(f"new.{name}", value)
        results = [r for r in session.get_outputs()
                   if not has_state(r.name, state)]
        bound = all(isinstance(size, int) for r in results for size in r.shape)
        if bound and all(r.type == "tensor(float)" for r in results):
            np = package("numpy")
            for result in results:
                binding.bind_ortvalue_output(
                    result.name, self.ort.OrtValue.ortvalue_from_numpy(
                        np.zeros(result.shape, np.float32)))
        else:  # Of sizes that the first call shows.
            for result in results:
                binding.bind_output(result.name)
            session.run_with_iobinding(binding)
            for result, value in zip(results, binding.get_outputs()):
                binding.bind_ortvalue_output(result.name, value)
        run = session.run_with_iobinding
        return lambda: run(binding), lambda: [
            value.numpy() for value in binding.get_outputs()]

    def load(self, model, inputs):
        self.call, self.answer = self.prepare(model, inputs, self.state)

    def empty_call(self):
        np = package("numpy")
        return self.prepare(empty_onnx(), {"x": np.zeros(1, np.float32)})[0]


class OpenVino:
    """Tensors set once; the call passes no arrays and copies none."""

    def __init__(self, threads, cache):
        self.ov, self.threads = package("openvino"), threads
        self.version = f"OpenVINO {self.ov.__version__.split('-')[0]}"

    def prepare(self, model, inputs, state={}):
        core = self.ov.Core()
        read = core.read_model(model)
        values = assigned([i.any_name for i in read.inputs
                           if i.any_name not in state], inputs) | state
        if any(i.partial_shape.is_dynamic for i in read.inputs):
            read.reshape({name: list(v.shape) for name, v in values.items()})
        compiled = core.compile_model(read, "CPU", {
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": str(self.threads),
        })
        request = compiled.create_infer_request()
        for name, value in values.items():
            request.set_tensor(name, self.ov.Tensor(value, shared_memory=True))
        if any(o.partial_shape.is_dynamic for o in compiled.outputs):
            request.infer()
        outs = []
        for place, output in enumerate(compiled.outputs):
            if has_state(output.any_name, state):
                request.set_output_tensor(place, request.get_tensor(
                    output.any_name.removeprefix("new.")))
                continue
            shape = request.get_output_tensor(place).shape
            outs.append(package("numpy").zeros(
                tuple(shape), output.element_type.to_dtype()))
            request.set_output_tensor(
                place, self.ov.Tensor(outs[-1], shared_memory=True))
        self.keep = getattr(self, "keep", []) + [compiled, request, values]
        infer = request.infer
        # Otherwise the outputs would be copied into new arrays.
        return lambda: infer(share_outputs=True), lambda: outs

    def load(self, model, inputs):
        self.call, self.answer = self.prepare(model, inputs, self.state)

    def empty_call(self):
        np = package("numpy")
        return self.prepare(empty_onnx(), {"x": np.zeros(1, np.float32)})[0]


class Torch:
    def __init__(self, threads, cache):
        package("numpy")
        self.torch = package("torch")
        self.torch.set_num_threads(threads)
        self.version = f"PyTorch {self.torch.__version__} eager"

    def compiled(self, module):
        return module

    def made(self, model, inputs):
        """The module of a file, and the arguments that it is called with."""
        if model.endswith(".pt2"):
            program = load_program(self.torch, model, self.weights)
            return program.module(), program_arguments(
                self.torch, program, inputs)
        path, _, name = model.partition(":")
        spec = importlib.util.spec_from_file_location("models", path)
        models = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(models)
        values = [self.torch.from_numpy(v) for v in inputs.values()]
        return models.make(name), (values, {})

    def load(self, model, inputs):
        module, (args, kwargs) = self.made(model, inputs)
        module = self.compiled(module)

        def call():
            self.last = module(*args, **kwargs)
        self.call = call
        self.answer = lambda: [
            (leaf.float() if leaf.is_floating_point() else leaf).numpy()
            for leaf in self.torch.utils._pytree.tree_leaves(self.last)
            if isinstance(leaf, self.torch.Tensor)]

    def empty_call(self):
        module = self.compiled(self.torch.nn.Identity())
        x = self.torch.zeros(1, 1)
        return lambda: module(x)


class Inductor(Torch):
    def __init__(self, threads, cache):
        if cache:
            os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        super().__init__(threads, cache)
        package("torch._inductor.config").freezing = True
        self.version = f"PyTorch {self.torch.__version__} Inductor, freezing"

    def compiled(self, module):
        return self.torch.compile(module, dynamic=False)


class TorchCompile(Torch):
    def __init__(self, threads, cache):
        if cache:
            os.environ["FXJIT_CACHE"] = cache
        super().__init__(threads, cache)
        self.version = (f"fxjit {package('fxjit').__version__} by torch.compile"
                        f" of PyTorch {self.torch.__version__}")

    def compiled(self, module):
        return self.torch.compile(module, backend="fxjit", dynamic=False)

    def own_ms(self):
        """Of the time to the first answer, what fxjit took: without Dynamo and
        AOT autograd."""
        graphs = package("fxjit.torch_backend").compiled_graphs()
        return sum(graph.compile_seconds for graph in graphs) * 1e3


class FxjitLoad:
    """The call passes the arrays and those that the results go to."""

    def __init__(self, threads, cache):
        if cache:
            os.environ["FXJIT_CACHE"] = cache
        self.fxjit, self.threads = package("fxjit"), threads
        self.version = f"fxjit {self.fxjit.__version__} from Python"

    def load(self, model, inputs):
        loaded = self.fxjit.load(model, weights=self.weights or "",
                                 threads=self.threads)
        values = list(assigned([i.name for i in loaded.inputs],
                               inputs).values())
        first = loaded(*values)
        outs = list(first) if isinstance(first, (list, tuple)) else [first]
        self.call = lambda: loaded(*values, out=outs)
        self.answer = lambda: outs


CONTESTANTS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino,
               "python": FxjitLoad, "torch_compile": TorchCompile,
               "inductor": Inductor, "eager": Torch}


def time_calls(call, seconds):
    clock, times = time.perf_counter_ns, []
    end = clock() + int(seconds * 1e9)
    while True:
        start = clock()
        call()
        stop = clock()
        times.append(stop - start)
        if stop >= end:
            return {"ns": times}


def start(peer, options, inputs):
    np = package("numpy")
    anon_before = rss_anon_kib()
    begin = time.perf_counter()
    peer.load(options.model, inputs)
    loaded = time.perf_counter()
    peer.call()
    done = time.perf_counter()
    for place, result in enumerate(peer.answer()):
        np.save(os.path.join(options.output, f"{place}.npy"), result)
    own = {"own_ms": peer.own_ms()} if isinstance(peer, TorchCompile) else {}
    time_calls(peer.call, 0.05)
    return {**own, "version": peer.version, "load_ms": (loaded - begin) * 1e3,
            "compile_ms": 0, "first_ms": (done - loaded) * 1e3,
            "anon_before_kib": anon_before, "anon_kib": rss_anon_kib()}


def say(line):
    print(json.dumps(line), flush=True)


def serve(peer, options, inputs):
    say(start(peer, options, inputs))
    empty = None
    for line in sys.stdin:
        command, *rest = line.split()
        if command == "end":
            return
        if command == "empty":
            empty = empty or peer.empty_call()
            say(time_calls(empty, float(rest[0])))
        else:
            say(time_calls(peer.call, float(rest[0])))


def arrays(pairs):
    np = package("numpy")
    files = dict(pair.split("=", 1) for pair in pairs)
    return {name: np.array(np.load(path), order="C")
            for name, path in files.items()}


def run(options):
    peer = CONTESTANTS[options.name](options.threads, options.cache)
    peer.weights = options.weights
    peer.state = arrays(options.state)
    inputs = arrays(options.input)
    gc.disable()
    if isinstance(peer, Torch):
        with peer.torch.inference_mode():
            serve(peer, options, inputs)
    else:
        serve(peer, options, inputs)


def export(options):
    torch = package("torch")
    package("onnxscript")
    program = load_program(torch, options.model, options.weights)
    torch.onnx.export(program, f=options.output, dynamo=True,
                      external_data=False, verbose=False)
    say({})


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=[*CONTESTANTS, "export"])
    parser.add_argument("--model", required=True)
    parser.add_argument("--weights", default=None)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--state", action="append", default=[])
    parser.add_argument("--output", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cache", default="")
    return parser.parse_args()


def main():
    options = parse()
    try:
        (export if options.name == "export" else run)(options)
    except Missing as missing:
        say({"error": str(missing)})
        sys.exit(1)


if __name__ == "__main__":
    main()
