"""The models of sizes.py: what makes them, their inputs at given sizes, their files."""

import functools
import pathlib
import shutil
import sys
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "import"), str(ROOT / "tests" / "onnx")]
from make_models import define_torchvision  # noqa: E402


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


def frames(length):
    """What the sequence model of silero-vad takes: that many pieces of sound."""
    import torch
    return {"input": 0.1 * torch.randn(length, 576),
            "h": torch.zeros(1, 1, 128), "c": torch.zeros(1, 1, 128)}


class Workload(typing.NamedTuple):
    inputs_of: typing.Callable  # Of sizes.
    ranges: list  # The least and the greatest of each size.
    make: typing.Callable | None = None  # The module; none for an ONNX file.
    dims: dict = {}  # The names of the inputs' dims.
    package: str = ""  # Of tests/onnx/published.py, and a file in it.
    file: str = ""


TEXT = {0: "batch", 1: "length"}
AREA = {"x": {2: "height", 3: "width"}}
WORKLOADS = {
    "bert": Workload(tokens, [(1, 16), (8, 135)], bert,
                     {"input_ids": TEXT, "attention_mask": TEXT}),
    "whisper_encoder": Workload(sounds, [(1, 8)], whisper_encoder,
                                {"input_features": {0: "batch"}}),
    "whisper_decoder": Workload(words, [(2, 51)], whisper_decoder,
                                {"input_ids": {1: "length"},
                                 "encoder_hidden_states": {}}),
    "silero_vad": Workload(
        frames, [(2, 60)], package="silero-vad",
        file="silero_vad/data/silero_vad_16k_sequence.onnx"),
    "unet": Workload(images, [(4, 12), (4, 12)], unet, AREA),
    "mobilenet_v3": Workload(images, [(4, 12), (4, 12)],
                             torchvision_model("mobilenet_v3_small"), AREA),
    "resnet50": Workload(images, [(4, 12), (4, 12)],
                         torchvision_model("resnet50"), AREA),
    "text_detector": Workload(
        images, [(4, 12), (4, 12)], package="rapidocr-onnxruntime",
        file="rapidocr_onnxruntime/models/ch_PP-OCRv4_det_infer.onnx"),
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

    work = WORKLOADS[workload]
    define_once()
    torch.manual_seed(0)
    names = list(work.inputs_of(*[low for low, _ in work.ranges]))
    return FirstResult(work.make(), names).eval()


def fetch(work, folder):
    """The published file, from a package in build/peers-onnx."""
    import published
    wheels = {**published.WHEELS, **published.MORE}
    pip = pathlib.Path(sys.executable).parent / "pip"
    found = published.fetched(ROOT / "build" / "peers-onnx", pip,
                              {work.package: wheels[work.package]})
    shutil.copy(found / work.file, folder / "model.onnx")


def export(workload, folder):
    """Writes model.onnx and, but for published ONNX models, model.pt2."""
    import torch
    work = WORKLOADS[workload]
    if work.file:
        return fetch(work, folder)
    module, dims = module_of(workload), work.dims
    inputs = work.inputs_of(*[max(low, 3) for low, _ in work.ranges])
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


def export_fixed(workload, folder, sizes):
    """Writes model.pt2 for these sizes alone."""
    import torch
    inputs = WORKLOADS[workload].inputs_of(*sizes)
    program = torch.export.export(module_of(workload), tuple(inputs.values()))
    torch.export.save(program, folder / "model.pt2")
