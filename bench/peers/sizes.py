"""Measures what an input of new sizes costs, beside ONNX Runtime and OpenVINO.

Each contestant is a process of its own that has a model with named sizes, one
thread. For each tuple of sizes, drawn at random, the processes take turns: the
first call of these sizes, then the fastest of three more. What the first one took
beyond that is its extra. Answers are compared with those of the first contestant.
Prints a table in Markdown. "Kinds" are the programs with named sizes that the
calls have needed (`Report.kinds`).
"""

import argparse
import functools
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "tests" / "import")]
from make_models import define_torchvision  # noqa: E402
CONTESTANTS = ["fxjit.load", "torch.compile", "ONNX Runtime", "OpenVINO"]
WARM_CALLS = 3
TOLERANCE = 1e-3


def bert():
    from transformers import BertConfig, BertModel
    return BertModel(BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12,
        intermediate_size=1536), add_pooling_layer=False)


def whisper_encoder():
    from transformers import WhisperConfig, WhisperModel
    return WhisperModel(WhisperConfig(
        d_model=384, encoder_layers=4, decoder_layers=1,
        encoder_attention_heads=6, decoder_attention_heads=6,
        encoder_ffn_dim=1536, decoder_ffn_dim=1536)).encoder


def whisper_decoder():
    from transformers import WhisperConfig, WhisperModel
    return WhisperModel(WhisperConfig(
        d_model=384, encoder_layers=1, decoder_layers=4,
        encoder_attention_heads=6, decoder_attention_heads=6,
        decoder_ffn_dim=1536, use_cache=False)).decoder


def unet():
    import torch
    from torch import nn

    def block(before, after):
        return nn.Sequential(nn.Conv2d(before, after, 3, padding=1),
                             nn.BatchNorm2d(after), nn.ReLU(),
                             nn.Conv2d(after, after, 3, padding=1),
                             nn.BatchNorm2d(after), nn.ReLU())

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            wide = [16, 32, 64, 128]
            self.down = nn.ModuleList(
                block(a, b) for a, b in zip([3, *wide], wide))
            self.up = nn.ModuleList(
                nn.ConvTranspose2d(b, a, 2, stride=2)
                for a, b in zip(wide, wide[1:]))
            self.joined = nn.ModuleList(block(2 * a, a) for a in wide[:-1])
            self.last = nn.Conv2d(wide[0], 2, 1)

        def forward(self, x):
            levels = []
            for down in self.down:
                levels.append(down(
                    nn.functional.max_pool2d(levels[-1], 2) if levels else x))
            x = levels.pop()
            for up, joined in reversed(list(zip(self.up, self.joined))):
                x = joined(torch.cat([levels.pop(), up(x)], 1))
            return self.last(x)

    return UNet()


def torchvision_model(name):
    def make():
        import torchvision
        return getattr(torchvision.models, name)()
    return make


def tokens(batch, length):
    import torch
    return {"input_ids": torch.randint(0, 30000, (batch, length)),
            "attention_mask": torch.ones(batch, length, dtype=torch.int64)}


def sounds(batch):
    import torch
    return {"input_features": torch.randn(batch, 80, 3000)}


def words(length):
    import torch
    return {"input_ids": torch.randint(0, 50000, (1, length)),
            "encoder_hidden_states": torch.randn(1, 1500, 384)}


def images(height, width):
    import torch
    return {"x": torch.randn(1, 3, 32 * height, 32 * width)}


# Model, inputs of given sizes, the least and the greatest of each size, and the
# dims of the inputs that have their names.
WORKLOADS = {
    "bert": (bert, tokens, [(1, 16), (8, 135)],
             {"input_ids": {0: "batch", 1: "length"},
              "attention_mask": {0: "batch", 1: "length"}}),
    "whisper_encoder": (whisper_encoder, sounds, [(1, 8)],
                        {"input_features": {0: "batch"}}),
    "whisper_decoder": (whisper_decoder, words, [(2, 51)],
                        {"input_ids": {1: "length"},
                         "encoder_hidden_states": {}}),
    "unet": (unet, images, [(4, 12), (4, 12)],
             {"x": {2: "height", 3: "width"}}),
    "mobilenet_v3": (torchvision_model("mobilenet_v3_small"), images,
                     [(4, 12), (4, 12)], {"x": {2: "height", 3: "width"}}),
    "resnet50": (torchvision_model("resnet50"), images, [(4, 12), (4, 12)],
                 {"x": {2: "height", 3: "width"}}),
}


def tensor_of(result):
    while not hasattr(result, "shape"):
        result = next(iter(result.values())) if hasattr(
            result, "values") else result[0]
    return result


@functools.cache
def define_once():
    define_torchvision()  # transformers imports torchvision as well.


def module_of(workload):
    import torch
    from torch import nn

    class FirstResult(nn.Module):
        def __init__(self, model, names):
            super().__init__()
            self.model, self.names = model, names

        def forward(self, *values):
            given = dict(zip(self.names, values))
            return tensor_of(self.model(**given))

    make, inputs_of, ranges, _ = WORKLOADS[workload]
    define_once()
    torch.manual_seed(0)
    names = list(inputs_of(*[low for low, _ in ranges]))
    return FirstResult(make(), names).eval()


def export(workload, folder):
    import torch
    _, inputs_of, ranges, dims = WORKLOADS[workload]
    module = module_of(workload)
    inputs = inputs_of(*[max(low, 3) for low, _ in ranges])
    auto = tuple({dim: torch.export.Dim.AUTO for dim in dims[name]}
                 for name in inputs)
    program = torch.export.export(module, tuple(inputs.values()),
                                  dynamic_shapes=(auto,))
    torch.export.save(program, folder / "model.pt2")
    torch.onnx.export(module, tuple(inputs.values()),
                      str(folder / "model.onnx"), input_names=list(inputs),
                      dynamic_shapes=(tuple(dims[name] for name in inputs),),
                      opset_version=20, dynamo=True, external_data=False,
                      verbose=False)


class Call:
    """A model to call, and the number of its kinds."""

    def __init__(self, run, kinds):
        self.run, self.kinds = run, kinds

    def __call__(self, inputs):
        return self.run(inputs)


def by_load(workload, folder):
    import fxjit
    model = fxjit.load(str(folder / "model.pt2"), threads=1)
    return Call(lambda inputs: model(*inputs.values()).numpy(),
                lambda: len(model.report().kinds))


def by_compile(workload, folder):
    import torch
    model = torch.compile(module_of(workload), backend="fxjit", dynamic=True,
                          options={"threads": 1})
    return lambda inputs: model(*inputs.values()).numpy()


def by_onnxruntime(workload, folder):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(folder / "model.onnx"), options,
        providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(
        None, {name: x.numpy() for name, x in inputs.items()})[0]


def by_openvino(workload, folder):
    import openvino
    model = openvino.Core().compile_model(
        str(folder / "model.onnx"), "CPU",
        {"INFERENCE_NUM_THREADS": "1", "INFERENCE_PRECISION_HINT": "f32"})
    request = model.create_infer_request()
    return lambda inputs: request.infer(
        {name: x.numpy() for name, x in inputs.items()})[0]


MAKERS = dict(zip(CONTESTANTS,
                  [by_load, by_compile, by_onnxruntime, by_openvino]))


def resident_mb():
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def contest(workload, contestant, folder):
    """The process of a contestant: sizes from standard input, figures out."""
    import torch
    torch.set_num_threads(1)
    inputs_of = WORKLOADS[workload][1]
    with torch.inference_mode():
        call = MAKERS[contestant](workload, folder)
        kinds = getattr(call, "kinds", lambda: "")
        for line in sys.stdin:
            torch.manual_seed(1)
            inputs = inputs_of(*json.loads(line))
            times = []
            for _ in range(1 + WARM_CALLS):
                begin = time.perf_counter()
                result = call(inputs)
                times.append(1e3 * (time.perf_counter() - begin))
            print(json.dumps({"first": times[0], "warm": min(times[1:]),
                              "resident": resident_mb(),
                              "kinds": kinds(),
                              "sum": float(np.abs(result).mean())}),
                  flush=True)


def start(workload, contestant, folder):
    environment = {**os.environ, "FXJIT_CACHE": str(folder / contestant)}
    return subprocess.Popen(
        [sys.executable, __file__, workload, "--contestant", contestant,
         "--folder", str(folder)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, env=environment)


def ask(process, sizes):
    process.stdin.write(json.dumps(sizes) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        raise SystemExit(f"a contestant ended: {process.args}")
    return json.loads(line)


def drawn(ranges, count):
    rng = random.Random(1)
    seen = dict.fromkeys(tuple(rng.randint(*each) for each in ranges)
                         for _ in range(4 * count))
    return list(seen)[:count]


def measure(workload, names, folder, count):
    """The figures of each tuple of sizes by contestant."""
    processes = {name: start(workload, name, folder) for name in names}
    figures = {name: [] for name in names}
    for i, sizes in enumerate(drawn(WORKLOADS[workload][2], count)):
        turns = names[i % len(names):] + names[:i % len(names)]
        for name in turns:
            figures[name].append(ask(processes[name], sizes))
        sums = [figures[name][-1]["sum"] for name in names]
        if max(sums) - min(sums) > TOLERANCE * max(sums):
            raise SystemExit(f"{workload}, {sizes}: answers differ: {sums}")
    for process in processes.values():
        process.stdin.close()
        process.wait()
    return figures


def row(workload, name, rows):
    extra = sorted(each["first"] - each["warm"] for each in rows[3:])
    near = sum(each["first"] <= 1.3 * each["warm"] for each in rows[3:])
    warm = statistics.median(each["warm"] for each in rows)
    at = min(len(rows) - 1, 50)
    return (f"| {workload}, {len(rows)} tuples, {name} | {warm:.1f} | "
            f"{statistics.median(extra):.2f} | "
            f"{extra[len(extra) * 9 // 10]:.2f} | "
            f"{100 * near // len(extra)}% | {rows[at]['resident']:.0f} | "
            f"{rows[-1]['resident']:.0f} | {rows[-1]['kinds']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", help=", ".join(WORKLOADS))
    parser.add_argument("--tuples", type=int, default=60,
                        help="tuples of sizes of each workload")
    parser.add_argument("--only", nargs="+", choices=CONTESTANTS,
                        default=CONTESTANTS, help="contestants, default all")
    parser.add_argument("--contestant", choices=CONTESTANTS,
                        help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        return contest(options.workloads[0], options.contestant,
                       options.folder)
    unknown = set(options.workloads) - set(WORKLOADS)
    if unknown or options.tuples < 8:
        parser.error(f"no workload: {', '.join(sorted(unknown))}" if unknown
                     else "--tuples: 8 at least")
    print("| work | warm call, ms | extra of a first call, median | p90 | "
          "at most 1.3 warm calls | resident MB after 50 | at the end | kinds |")
    print("|---|---|---|---|---|---|---|---|")
    for workload in options.workloads or WORKLOADS:
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            export(workload, folder)
            figures = measure(workload, options.only, folder, options.tuples)
        for name, rows in figures.items():
            print(row(workload, name, rows), flush=True)
    return None


if __name__ == "__main__":
    sys.exit(main())
