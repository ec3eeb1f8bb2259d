"""One contestant, answering one workload on command.

    contestant.py NAME WORKLOAD DATA_FOLDER MODEL_FOLDER THREADS CACHE OUTPUT

Prints one line of JSON when the first answer is in OUTPUT, then one for each
line of standard input: "run SECONDS" gives the time of each call in
nanoseconds, "empty SECONDS" the same for a graph that does nothing, called the
same way. fxjit_peer.cpp speaks the same.
"""

import gc
import json
import os
import sys
import time

import numpy as np


def rss_anon_kib():
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
    return 0


def private_copy(array):
    return np.array(array, order="C")


class OnnxRuntime:
    """Inputs and outputs bound once; the call passes no arrays."""

    def __init__(self, threads, cache):
        import onnxruntime
        self.ort, self.threads = onnxruntime, threads
        self.version = f"ONNX Runtime {onnxruntime.__version__}"

    def prepare(self, path, inputs):
        options = self.ort.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = self.ort.InferenceSession(
            path, options, providers=["CPUExecutionProvider"])
        binding = session.io_binding()
        for name, value in inputs.items():
            binding.bind_ortvalue_input(
                name, self.ort.OrtValue.ortvalue_from_numpy(value))
        result = session.get_outputs()[0]
        out = self.ort.OrtValue.ortvalue_from_numpy(
            np.zeros(result.shape, np.float32))
        binding.bind_ortvalue_output(result.name, out)
        run = session.run_with_iobinding
        return lambda: run(binding), out.numpy

    def load(self, data, workload, model_folder, inputs):
        self.call, self.answer = self.prepare(f"{data}/model.onnx", inputs)

    def empty_call(self, folder):
        inputs = {"x": np.zeros((1, 1), np.float32)}
        return self.prepare(f"{folder}/empty.onnx", inputs)[0]


class OpenVino:
    """Tensors set once; the call passes no arrays and copies none."""

    def __init__(self, threads, cache):
        import openvino
        self.ov, self.threads = openvino, threads
        self.version = f"OpenVINO {openvino.__version__.split('-')[0]}"

    def prepare(self, path, inputs):
        compiled = self.ov.Core().compile_model(path, "CPU", {
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
            "INFERENCE_NUM_THREADS": str(self.threads),
        })
        request = compiled.create_infer_request()
        for name, value in inputs.items():
            request.set_tensor(name, self.ov.Tensor(value, shared_memory=True))
        out = np.zeros(tuple(compiled.output(0).shape), np.float32)
        request.set_output_tensor(0, self.ov.Tensor(out, shared_memory=True))
        self.keep = getattr(self, "keep", []) + [compiled, request, inputs]
        infer = request.infer
        # Otherwise the output would be copied into a new array.
        return lambda: infer(share_outputs=True), lambda: out

    def load(self, data, workload, model_folder, inputs):
        self.call, self.answer = self.prepare(f"{data}/model.onnx", inputs)

    def empty_call(self, folder):
        inputs = {"x": np.zeros((1, 1), np.float32)}
        return self.prepare(f"{folder}/empty.onnx", inputs)[0]


class Torch:
    def __init__(self, threads, cache):
        import torch
        self.torch = torch
        torch.set_num_threads(threads)
        self.version = f"PyTorch {torch.__version__} eager"

    def compiled(self, module):
        return module

    def load(self, data, workload, model_folder, inputs):
        from workloads import WORKLOADS
        work = next(w for w in WORKLOADS if w.name == workload)
        module = self.compiled(work.module(model_folder))
        values = [self.torch.from_numpy(v) for v in inputs.values()]

        def call():
            self.last = module(*values)
        self.call = call
        self.answer = lambda: self.last.numpy()

    def empty_call(self, folder):
        module = self.compiled(self.torch.nn.Identity())
        x = self.torch.zeros(1, 1)
        return lambda: module(x)


class Inductor(Torch):
    def __init__(self, threads, cache):
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache
        super().__init__(threads, cache)
        import torch._inductor.config
        torch._inductor.config.freezing = True
        self.version = f"PyTorch {self.torch.__version__} Inductor, freezing"

    def compiled(self, module):
        return self.torch.compile(module, dynamic=False)


CONTESTANTS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino,
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


def start(peer, arguments, inputs):
    _, workload, data, model_folder, _, _, output = arguments
    anon_before = rss_anon_kib()
    begin = time.perf_counter()
    peer.load(data, workload, model_folder, inputs)
    loaded = time.perf_counter()
    peer.call()
    done = time.perf_counter()
    np.asarray(peer.answer(), np.float32).tofile(output)
    time_calls(peer.call, 0.05)
    return {"version": peer.version, "load_ms": (loaded - begin) * 1e3,
            "compile_ms": 0, "first_ms": (done - loaded) * 1e3,
            "anon_before_kib": anon_before, "anon_kib": rss_anon_kib()}


def say(line):
    print(json.dumps(line), flush=True)


def main():
    arguments = sys.argv[1:]
    name, _, data, _, threads, cache, _ = arguments
    peer = CONTESTANTS[name](int(threads), cache)
    inputs = {k: private_copy(v)
              for k, v in np.load(f"{data}/inputs.npz").items()}
    gc.disable()
    if isinstance(peer, Torch):
        with peer.torch.inference_mode():
            serve(peer, arguments, inputs)
    else:
        serve(peer, arguments, inputs)


def serve(peer, arguments, inputs):
    say(start(peer, arguments, inputs))
    empty = None
    for line in sys.stdin:
        command, *rest = line.split()
        if command == "end":
            return
        if command == "empty":
            empty = empty or peer.empty_call(arguments[2])
            say(time_calls(empty, float(rest[0])))
        else:
            say(time_calls(peer.call, float(rest[0])))


if __name__ == "__main__":
    main()
