"""Measures quantised models beside ONNX Runtime and, where it is installed, OpenVINO,
with one thread and with two.

Models are made once, in build/peers-data/integers (integer_models.py). Answers come
first: products of each model are held against exact sums (exact_sums.py), and a peer
whose sums saturate is marked by *; ours must be exact, and a whole model's answer about
as near to that of the model before it was quantised as a peer's. All are called from
this process by turns; a time is the 10th percentile of all calls, and of several runs
the one with the median ratio counts. Prints a table in Markdown, and one more where
torchao is installed (integer_torch.py).
"""

import argparse
import importlib.util
import pathlib
import tempfile
import typing
import warnings

import fxjit
import numpy as np
import onnx
import onnxruntime

import exact_sums
import integer_models as models
from layers import better_peer_over_fxjit, measure

DATA = models.sizes_work.ROOT / "build" / "peers-data" / "integers"
RUNS, ROUNDS, SECONDS = 3, 4, 0.2
# How much further from the float model's answer than the farthest peer's.
MARGIN = 1.25


class Made(typing.NamedTuple):
    model: onnx.ModelProto
    inputs: dict  # Arrays by name.
    real: onnx.ModelProto | None = None  # Before it was quantised.


def static(make, **options):
    def made():
        real, draw = make()
        return Made(models.to_qdq(real, draw, **options), models.arrays(draw()),
                    real)
    return made


def dynamic(make):
    def made():
        real, inputs = make()
        inputs = inputs() if callable(inputs) else inputs
        return Made(models.to_dynamic(real), models.arrays(inputs), real)
    return made


def weights_only(make):
    def made():
        real, draw = make()
        before = onnx.ModelProto()
        before.CopyFrom(real)
        return Made(models.weights_only(real), models.arrays(draw()), before)
    return made


def product(*sizes):
    return lambda: Made(*models.product(*sizes))


def packed_product(*sizes):
    return lambda: Made(*models.packed_product(*sizes))


def detector(package, file):
    return lambda: models.published_detector(package, file, 320)


def image_net(name):
    return lambda: models.image_net(name)


WORKLOADS = {
    "minilm_qdq": static(lambda: models.minilm(128),
                         op_types_to_quantize=["MatMul", "Gemm"]),
    "minilm_dynamic": dynamic(lambda: models.minilm(128)),
    "bert_base_dynamic": dynamic(lambda: models.bert(768, 12, 12, 128)),
    "resnet50_qdq": static(image_net("resnet50")),
    "mobilenet_v2_qdq": static(image_net("mobilenet_v2")),
    "text_detector_qdq": static(detector(
        "rapidocr-onnxruntime",
        "rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx")),
    "yolo_detector_qdq": static(detector("nudenet", "nudenet/320n.onnx")),
    "t5_encoder_dynamic": dynamic(models.t5_encoder),
    "t5_decoder_dynamic": dynamic(models.t5_decoder),
    "lstm_dynamic": dynamic(models.lstm),
    "minilm_weights_only": weights_only(lambda: models.minilm(16)),
    **{f"product_{m}x{k}x{n}": product(m, k, n)
       for m, k, n in ((128, 768, 768), (128, 384, 1536), (16, 384, 1536),
                       (196, 256, 64), (1, 768, 3072))},
    **{f"packed_{m}x{k}x{n}_level{level}": packed_product(m, k, n, level)
       for m, k, n in ((1, 2048, 5632), (128, 768, 3072)) for level in (0, 4)},
}


def stored(name):
    """The model of that name, made if its files are missing."""
    folder = DATA / name
    if not (folder / "inputs.npz").exists():
        folder.mkdir(parents=True, exist_ok=True)
        made = WORKLOADS[name]()
        onnx.save(made.model, folder / "model.onnx")
        if made.real is not None:
            onnx.save(made.real, folder / "real.onnx")
        np.savez(folder / "inputs.npz", **made.inputs)
    real = folder / "real.onnx"
    with np.load(folder / "inputs.npz") as inputs:
        return Made(onnx.load(folder / "model.onnx"), dict(inputs),
                    onnx.load(real) if real.exists() else None)


def by_onnxruntime(threads):
    def prepare(model, inputs):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), options,
            providers=["CPUExecutionProvider"])
        known = {i.name for i in session.get_inputs()}
        feed = {k: v for k, v in inputs.items() if k in known}
        return lambda: session.run(None, feed)[0]
    return prepare


def by_openvino(threads):
    import openvino

    def prepare(model, inputs):
        core = openvino.Core()
        compiled = core.compile_model(
            core.read_model(model.SerializeToString()), "CPU",
            {"INFERENCE_NUM_THREADS": str(threads),
             "INFERENCE_PRECISION_HINT": "f32"})
        request = compiled.create_infer_request()
        known = {i.any_name for i in compiled.inputs}
        feed = {k: v for k, v in inputs.items() if k in known}
        return lambda: request.infer(feed, share_inputs=True,
                                     share_outputs=True)[0]
    return prepare


def by_fxjit(threads):
    def prepare(model, inputs):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            onnx.save(model, path)
            loaded = fxjit.load(path, threads=threads)
        feed = [inputs[i.name] for i in model.graph.input if i.name in inputs]

        def call():
            result = loaded(*feed)
            return result[0] if isinstance(result, (list, tuple)) else result
        return call
    return prepare


def preparers(threads):
    found = {"fxjit": by_fxjit(threads),
             "ONNX Runtime": by_onnxruntime(threads)}
    try:
        found["OpenVINO"] = by_openvino(threads)
    except ModuleNotFoundError:
        pass
    return found


def prepared(made, threads):
    """Calls by name, and those whose sums are not exact. A peer that lacks one of the
    model's operators is left out."""
    calls, inexact = {}, set()
    for peer, prepare in preparers(threads).items():
        try:
            calls[peer] = prepare(made.model, made.inputs)
            exact = exact_sums.is_exact(made.model, prepare)
        except RuntimeError:
            if peer == "fxjit":
                raise
            calls.pop(peer, None)
            continue
        if not exact:
            inexact.add(peer)
    if "fxjit" in inexact:
        raise SystemExit("fxjit: sums are not exact")
    return calls, inexact


def check_answers(name, made, calls):
    if made.real is None:
        return
    wanted = np.asarray(by_onnxruntime(1)(made.real, made.inputs)())

    def distance(call):
        return float(np.abs(np.asarray(call()) - wanted).mean())

    found = {peer: distance(call) for peer, call in calls.items()}
    ours, scale = found.pop("fxjit"), float(np.abs(wanted).mean())
    if not ours <= MARGIN * max(found.values()) + 1e-6 * scale:
        raise SystemExit(f"{name}: differs by {ours / scale} of the mean, "
                         f"others by { {k: v / scale for k, v in found.items()} }")


def row(name, threads):
    """The calls' times of the run with the median ratio, and who is not exact."""
    made = stored(name)
    calls, inexact = prepared(made, threads)
    check_answers(name, made, calls)
    if name.endswith("weights_only"):
        calls["fxjit, f32"] = by_fxjit(threads)(made.real, made.inputs)
    runs = [measure(calls, ROUNDS, SECONDS) for _ in range(RUNS)]
    return sorted(runs, key=better_peer_over_fxjit)[RUNS // 2], inexact


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="parts of names of models")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    models.torch.set_num_threads(1)
    peers = ["fxjit", "ONNX Runtime", "OpenVINO", "fxjit, f32"]
    print("| model | threads |", " | ".join(f"{peer}, ms" for peer in peers),
          "| better peer over fxjit |")
    print("|" + "---|" * (len(peers) + 3))
    for name in WORKLOADS:
        if options.words and not any(w in name for w in options.words):
            continue
        for threads in options.threads:
            times, inexact = row(name, threads)
            cells = [f"{times[p] / 1000:.3g}{'*' if p in inexact else ''}"
                     if p in times else "-" for p in peers]
            print(f"| {name} | {threads} |", " | ".join(cells),
                  f"| {better_peer_over_fxjit(times):.2f} |", flush=True)
    if importlib.util.find_spec("torchao") and not options.words:
        import integer_torch
        integer_torch.main(options.threads)


if __name__ == "__main__":
    main()
