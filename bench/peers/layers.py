"""Measures single layers of images beside ONNX Runtime and, where it is
installed, OpenVINO: f32, one thread, planes in and out.

All contestants are called from this process by turns, so that what else the
machine does meets all of them; a time is the 10th percentile of all calls, and
results are compared with PyTorch in double precision first. Prints a table in
Markdown.
"""

import argparse
import time

import fxjit
import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

ROUNDS, SECONDS = 5, 0.05
TOLERANCE = 1e-5


def depthwise(channels, window, stride=1, results=1):
    return nn.Conv2d(channels, channels * results, window, stride, window // 2,
                     groups=channels)


def block(window, act):
    return [nn.Conv2d(64, 256, 1), act(), depthwise(256, window), act(),
            nn.Conv2d(256, 64, 1)]


# Name, modules, channels, height and width.
LAYERS = [
    ("depthwise 3x3", [depthwise(256, 3)], 256, 56),
    ("depthwise 3x3, SiLU", [depthwise(256, 3), nn.SiLU()], 256, 56),
    ("depthwise 3x3 stride 2, SiLU", [depthwise(128, 3, 2), nn.SiLU()],
     128, 128),
    ("depthwise 3x3, SiLU", [depthwise(128, 3), nn.SiLU()], 128, 128),
    ("depthwise 3x3", [depthwise(728, 3)], 728, 19),
    ("depthwise 3x3", [depthwise(384, 3)], 384, 14),
    ("depthwise 3x3", [depthwise(960, 3)], 960, 7),
    ("depthwise 5x5 stride 2", [depthwise(96, 5, 2)], 96, 56),
    ("depthwise 7x7", [depthwise(96, 7)], 96, 56),
    ("depthwise 7x7 stride 2, 2 results a channel", [depthwise(48, 7, 2, 2)],
     48, 64),
    ("1x1, depthwise 3x3, 1x1, SiLU", block(3, nn.SiLU), 64, 64),
    ("1x1, depthwise 3x3, 1x1, ReLU", block(3, nn.ReLU), 64, 64),
    ("1x1, depthwise 5x5, 1x1, hardswish", block(5, nn.Hardswish), 64, 64),
    ("max pool 3x3 stride 2", [nn.MaxPool2d(3, 2, 1)], 64, 112),
    ("average pool 3x3", [nn.AvgPool2d(3, 1, 1)], 64, 56),
    ("conv 3x3 stride 2, ReLU", [nn.Conv2d(128, 128, 3, 2, 1), nn.ReLU()],
     128, 56),
    ("conv 3x3 dilated by 2, ReLU",
     [nn.Conv2d(64, 64, 3, 1, 2, dilation=2), nn.ReLU()], 64, 56),
    ("conv 5x5, ReLU", [nn.Conv2d(64, 64, 5, 1, 2), nn.ReLU()], 64, 28),
    ("conv 3x3, few channels", [nn.Conv2d(3, 3, 3, 1, 1)], 3, 512),
    ("conv 3x3 stride 2, first, SiLU", [nn.Conv2d(3, 32, 3, 2, 1), nn.SiLU()],
     3, 224),
    ("conv 60x1", [nn.Conv2d(1, 32, (60, 1))], 1, 128),
    ("conv 60x1", [nn.Conv2d(32, 32, (60, 1))], 32, 128),
    ("conv 1x1, ReLU", [nn.Conv2d(256, 256, 1), nn.ReLU()], 256, 28),
    ("bilinear x2", [nn.Upsample(scale_factor=2, mode="bilinear")], 64, 56),
    ("nearest x2", [nn.Upsample(scale_factor=2)], 64, 56),
    ("softmax", [nn.Softmax(-1)], 12, 128),
]


def pair(x):
    return [x, x] if isinstance(x, int) else list(x)


def pool(module, **more):
    padding = pair(module.padding)
    return dict(kernel_shape=pair(module.kernel_size),
                strides=pair(module.stride), pads=padding * 2, **more)


class Graph:
    """The ONNX nodes of some modules, one after the other."""

    def __init__(self, modules):
        self.nodes, self.weights, self.value = [], [], "x"
        for module in modules:
            getattr(self, type(module).__name__)(module)

    def add(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name],
                                           **attributes))
        self.value = name

    def constant(self, array):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def Conv2d(self, m):
        numbers = [self.constant(p.detach().numpy())
                   for p in (m.weight, m.bias)]
        self.add("Conv", self.value, *numbers, group=m.groups,
                 strides=pair(m.stride), pads=pair(m.padding) * 2,
                 dilations=pair(m.dilation), kernel_shape=pair(m.kernel_size))

    def ReLU(self, m):
        self.add("Relu", self.value)

    def SiLU(self, m):
        x = self.value
        self.add("Sigmoid", x)
        self.add("Mul", x, self.value)

    def Hardswish(self, m):
        self.add("HardSwish", self.value)

    def MaxPool2d(self, m):
        self.add("MaxPool", self.value, **pool(m))

    def AvgPool2d(self, m):
        self.add("AveragePool", self.value, **pool(m, count_include_pad=1))

    def Softmax(self, m):
        self.add("Softmax", self.value, axis=m.dim)

    def Upsample(self, m):
        factor = float(m.scale_factor)
        scales = self.constant(np.array([1, 1, factor, factor], np.float32))
        is_linear = m.mode == "bilinear"
        self.add("Resize", self.value, "", scales,
                 mode="linear" if is_linear else "nearest",
                 coordinate_transformation_mode="half_pixel" if is_linear
                 else "asymmetric", nearest_mode="floor")

    def model(self, shape):
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        y = helper.make_tensor_value_info(self.value, TensorProto.FLOAT,
                                          [None] * 4)
        graph = helper.make_graph(self.nodes, "layer", [x], [y], self.weights)
        made = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)])
        made.ir_version = 8
        onnx.checker.check_model(made)
        return made.SerializeToString()


def by_onnxruntime(model, x, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"])
    feed = {"x": x.numpy()}
    return lambda: session.run(None, feed)[0]


def by_openvino(model, x, threads):
    import openvino
    compiled = openvino.Core().compile_model(
        openvino.Core().read_model(model), "CPU",
        {"INFERENCE_NUM_THREADS": str(threads),
         "INFERENCE_PRECISION_HINT": "f32"})
    request, feed = compiled.create_infer_request(), [x.numpy()]
    return lambda: request.infer(feed, share_inputs=True,
                                 share_outputs=True)[0]


def by_fxjit(module, x, threads):
    compiled = fxjit.compile(module, (x,), threads=threads)
    return lambda: compiled(x)


def contestants(module, model, x, threads=1):
    """Calls by name; `model` is the module as an ONNX file's bytes."""
    calls = {"fxjit": by_fxjit(module, x, threads),
             "ONNX Runtime": by_onnxruntime(model, x, threads)}
    try:
        calls["OpenVINO"] = by_openvino(model, x, threads)
    except ModuleNotFoundError:
        pass
    return calls


def check(name, result, wanted):
    error = np.abs(np.asarray(result, np.float64) - wanted).max()
    if error > TOLERANCE * np.abs(wanted).max():
        raise SystemExit(f"{name}: wrong by {error}")


def measure(calls, rounds=ROUNDS, seconds=SECONDS):
    """Microseconds by contestant."""
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            call()
            end = time.perf_counter() + seconds
            while time.perf_counter() < end:
                begin = time.perf_counter()
                call()
                times[name].append(time.perf_counter() - begin)
    return {name: 1e6 * float(np.percentile(each, 10))
            for name, each in times.items()}


def better_peer_over_fxjit(times):
    peers = [t for peer, t in times.items() if peer != "fxjit"]
    return min(peers) / times["fxjit"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of names of layers")
    words = parser.parse_args().words
    torch.manual_seed(0)
    torch.set_num_threads(1)
    head = None
    for name, modules, channels, size in LAYERS:
        if words and not any(word in name for word in words):
            continue
        x = torch.randn(1, channels, size, size)
        with torch.no_grad():
            wanted = nn.Sequential(*modules).double()(x.double()).numpy()
            nn.Sequential(*modules).float()
        calls = contestants(nn.Sequential(*modules).eval(),
                            Graph(modules).model(list(x.shape)), x)
        for peer, call in calls.items():
            check(f"{name}, {peer}", call(), wanted)
        times = measure(calls)
        if head is None:
            head = list(times)
            print("| layer |", " | ".join(f"{peer}, us" for peer in head),
                  "| better peer over fxjit |")
            print("|" + "---|" * (len(head) + 2))
        ratio = better_peer_over_fxjit(times)
        print(f"| {name}, {channels} channels, {size} x {size} |",
              " | ".join(f"{times[peer]:.0f}" for peer in head),
              f"| {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
