"""The graphs that all contestants run, as PyTorch modules with their inputs.

bench/graphs.cpp and examples/minilm hold the same graphs for fxjit; those that
are called *_pt2 it loads as torch.export saved them, those called *_onnx from the
file that its peers read. Weights and inputs are drawn here once and handed to
everybody through files.
"""

import os
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
# Contestants run this file by its path, with another folder as the script's.
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "import")]
from make_models import define_torchvision  # noqa: E402

import recurrent  # noqa: E402

define_torchvision()  # transformers imports torchvision as well.


class Mlp(nn.Module):
    """Four linear layers of 256 with relu between."""

    WIDTH = 256

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Linear(self.WIDTH, self.WIDTH) for _ in range(4))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.relu(layer(x))
        return self.layers[-1](x)


class SwiGlu(nn.Module):
    """x + down(silu(gate(n)) * up(n)) with n = rmsnorm(x)."""

    WIDTH, HIDDEN = 768, 3072

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.rand(self.WIDTH) * 2 - 1)
        self.gate = nn.Linear(self.WIDTH, self.HIDDEN, bias=False)
        self.up = nn.Linear(self.WIDTH, self.HIDDEN, bias=False)
        self.down = nn.Linear(self.HIDDEN, self.WIDTH, bias=False)

    def forward(self, x):
        power = x.pow(2).mean(-1, keepdim=True)
        n = x * torch.rsqrt(power + 1e-6) * self.scale
        return x + self.down(F.silu(self.gate(n)) * self.up(n))


class Gated(nn.Module):
    def forward(self, x, y):
        return torch.sigmoid(x * y + 0.5) * torch.tanh(x - y) + F.gelu(y)


class NormSoftmax(nn.Module):
    def forward(self, x):
        width = x.shape[-1:]
        inner = x + F.gelu(F.layer_norm(x, width))
        return torch.softmax(F.layer_norm(inner, width), -1)


class SentenceEncoder(nn.Module):
    """The published encoder, mean pooling over the mask, rows of length one."""

    def __init__(self, folder):
        super().__init__()
        from transformers import BertModel
        self.bert = BertModel.from_pretrained(
            folder, add_pooling_layer=False, attn_implementation="sdpa")

    def forward(self, ids, mask):
        hidden = self.bert(input_ids=ids, attention_mask=mask)[0]
        weights = mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1e-9)
        return F.normalize(mean, p=2.0, dim=1)


class UNet(nn.Module):
    """Four levels of two 3x3 convolutions with SiLU, links from down to up."""

    WIDTHS = (16, 32, 64, 128)

    def __init__(self):
        super().__init__()
        def block(ins, outs):
            return nn.Sequential(nn.Conv2d(ins, outs, 3, padding=1), nn.SiLU(),
                                 nn.Conv2d(outs, outs, 3, padding=1), nn.SiLU())
        widths = self.WIDTHS
        pairs = list(zip(widths, widths[1:]))
        self.down = nn.ModuleList(map(block, (3, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(below, above, 2, stride=2)
                                for above, below in pairs)
        self.join = nn.ModuleList(block(2 * above, above) for above, _ in pairs)
        self.head = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        links = []
        for level in self.down[:-1]:
            links.append(level(x))
            x = F.max_pool2d(links[-1], 2)
        x = self.down[-1](x)
        for up, join, link in zip(reversed(self.up), reversed(self.join),
                                  reversed(links)):
            x = join(torch.cat([up(x), link], 1))
        return self.head(x)


class Gpt2Block(nn.Module):
    """One layer of GPT-2 for one token; keys and values of the tokens before it are kept."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.between = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        for name in ("keys", "values"):
            self.register_buffer(
                name, torch.randn(1, heads, length, width // heads))

    def forward(self, x, place, mask):
        query, key, value = (
            part.unflatten(2, (self.heads, -1)).transpose(1, 2)
            for part in self.attention(self.before(x)).chunk(3, 2))
        self.keys.index_copy_(2, place, key)
        self.values.index_copy_(2, place, value)
        mixed = F.scaled_dot_product_attention(query, self.keys, self.values,
                                               attn_mask=mask)
        x = x + self.project(mixed.transpose(1, 2).flatten(2))
        up = F.gelu(self.up(self.between(x)), approximate="tanh")
        return x + self.down(up)


class Gpt2Step(nn.Module):
    """The logits after one token, of DistilGPT-2's sizes."""

    LAYERS, WIDTH, HEADS, LENGTH, WORDS = 6, 768, 12, 128, 50257

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(self.WORDS, self.WIDTH)
        self.places = nn.Embedding(self.LENGTH, self.WIDTH)
        self.blocks = nn.ModuleList(
            Gpt2Block(self.WIDTH, self.HEADS, self.LENGTH)
            for _ in range(self.LAYERS))
        self.norm = nn.LayerNorm(self.WIDTH)
        for weight in (self.words.weight, self.places.weight):
            nn.init.normal_(weight, std=0.02)

    def forward(self, token, place):
        x = self.words(token) + self.places(place)
        mask = (torch.arange(self.LENGTH) <= place).unsqueeze(0)
        for block in self.blocks:
            x = block(x, place, mask)
        return F.linear(self.norm(x), self.words.weight)


class WithState(nn.Module):
    """The module with its buffers as further inputs and outputs, as ONNX has them."""

    def __init__(self, module):
        super().__init__()
        self.module = module
        self.names = [name for name, _ in module.named_buffers()]

    def forward(self, *values):
        count = len(values) - len(self.names)
        buffers = {name: value.clone()
                   for name, value in zip(self.names, values[count:])}
        result = torch.func.functional_call(self.module, buffers,
                                            values[:count])
        return (result, *buffers.values())


def _torchvision(name):
    """A model of torchvision with statistics of batch norms as training would
    leave them: with others results grow or vanish from layer to layer."""
    import torchvision
    model = getattr(torchvision.models, name)(weights=None).train()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = 1.
    with torch.no_grad():
        model(torch.rand(4, 3, 224, 224))
    return model


def _uniform(*sizes):
    return torch.rand(*sizes) * 2 - 1


def _sentences(batch, tokens):
    """Any ordinary words; the later sentences of a batch are shorter."""
    count = batch * tokens
    ids = (2000 + torch.arange(count) * 7919 % 20000).reshape(batch, tokens)
    lengths = tokens - torch.arange(batch).unsqueeze(1) % tokens
    mask = (torch.arange(tokens).unsqueeze(0) < lengths).long()
    return {"ids": ids, "mask": mask}


class Workload:
    """name: as fxjit_peer knows it; title: for people. `exported`: made by
    torch.export; `graph` is then the name of the same graph in C++, if there is
    one. `onnx` makes the peers' graph where PyTorch's exporter knows no operator
    for it."""

    published = None

    def __init__(self, name, title, make, inputs, exported=False, graph=None,
                 onnx=None):
        self.name, self.title = name, title
        self.exported, self.graph, self.onnx = exported, graph, onnx
        self._make, self._inputs = make, inputs

    def module(self, model_folder):
        torch.manual_seed(1)
        return self._make(model_folder).eval().requires_grad_(False)

    def inputs(self):
        torch.manual_seed(2)
        return self._inputs()

    @property
    def file(self):
        """What fxjit loads, in C++ as in Python; None: a graph in C++."""
        if self.name.endswith("_onnx"):
            return "model.onnx"
        return "model.pt2" if self.exported else None


class Published(Workload):
    """A model that others published as an ONNX file; `published` is its path in
    the folder of tests/onnx/published.py."""

    def __init__(self, name, title, published, inputs):
        super().__init__(f"{name}_onnx", f"{title}, .onnx", None, inputs)
        self.published = published


def _minilm(batch, tokens, exported=False):
    name = f"minilm_{batch}x{tokens}"
    title = f"MiniLM-L6, {batch} x {tokens} tokens"
    return Workload(name + exported * "_pt2", title + exported * ", .pt2",
                    SentenceEncoder, lambda: _sentences(batch, tokens), exported,
                    name if exported else None)


def _vit():
    from transformers import ViTConfig, ViTModel
    model = ViTModel(ViTConfig(hidden_size=384, num_hidden_layers=12,
                               num_attention_heads=6, intermediate_size=1536),
                     add_pooling_layer=False)
    return Picked(model)


class Picked(nn.Module):
    """The last hidden state alone."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x).last_hidden_state


def _images(name, title, size, make, kind="pt2"):
    return Workload(f"{name}_{kind}", f"{title}, {size} x {size}, .{kind}",
                    lambda _: make(),
                    lambda: {"x": torch.rand(1, 3, size, size)}, True)


def _text(length):
    """The first bytes of a text as magika takes them."""
    return torch.tensor([list(pathlib.Path(__file__).read_bytes()[:length])],
                        dtype=torch.int32)


def _chord(length, rate):
    """Three tones and a little noise, as a microphone would give them."""
    time = torch.arange(length) / rate
    tones = sum(torch.sin(6.2831853 * pitch * time)
                for pitch in (261.63, 329.63, 392.))
    return 0.2 * tones + 0.01 * torch.randn(length)


def _recurrent(kind, batch, time, inputs, hidden, **options):
    title = f"{kind} {batch} x {time} x {inputs}, hidden {hidden}"
    name = f"{kind}_{batch}x{time}x{inputs}".lower()
    if options:
        title += ", 2 layers, both ways"
        name += "_both"
    return Workload(
        f"{name}_pt2", f"{title}, .pt2",
        lambda _: recurrent.Layers(kind, inputs, hidden, **options),
        lambda: {"x": _uniform(time, batch, inputs)}, True,
        onnx=recurrent.rnn_model if kind == "RNN" else None)


def _recurrent_step(inputs, hidden):
    return Workload(
        f"lstm_step_{inputs}_pt2", f"LSTM, one step of {inputs}, .pt2",
        lambda _: recurrent.Step(inputs, hidden),
        lambda: {"x": _uniform(1, 1, inputs), "h": _uniform(1, 1, hidden),
                 "c": _uniform(1, 1, hidden)}, True)


WORKLOADS = [
    Workload("mlp", "MLP 4 x 256, batch 1", lambda _: Mlp(),
             lambda: {"x": _uniform(1, Mlp.WIDTH)}),
    Workload("swiglu", "SwiGLU block, 1 x 768, hidden 3072",
             lambda _: SwiGlu(), lambda: {"x": _uniform(1, SwiGlu.WIDTH)}),
    Workload("gated", "sigmoid(x*y+0.5)*tanh(x-y)+gelu(y), 1024 x 1024",
             lambda _: Gated(),
             lambda: {"x": _uniform(1024, 1024), "y": _uniform(1024, 1024)}),
    Workload("norm_softmax", "softmax(layernorm(x+gelu(layernorm(x)))), "
             "512 x 1024", lambda _: NormSoftmax(),
             lambda: {"x": _uniform(512, 1024)}),
    _minilm(1, 16),
    _minilm(1, 128),
    _minilm(8, 32),
    _images("resnet50", "ResNet-50", 224, lambda: _torchvision("resnet50")),
    _images("mobilenetv3", "MobileNetV3-Large", 224,
            lambda: _torchvision("mobilenet_v3_large")),
    Workload("mlp_pt2", "MLP 4 x 256, batch 1, .pt2", lambda _: Mlp(),
             lambda: {"x": _uniform(1, Mlp.WIDTH)}, True),
    Workload("gpt2_step_pt2", "DistilGPT-2, one token, cache of 128, .pt2",
             lambda _: Gpt2Step(),
             lambda: {"token": torch.tensor([[4711]]),
                      "place": torch.tensor([77])}, True),
    _images("vit_small", "ViT-S/16", 224, _vit),
    _images("unet", "U-Net", 256, UNet),
    _minilm(1, 16, exported=True),
    _minilm(1, 128, exported=True),
    _recurrent("LSTM", 1, 400, 128, 128),
    _recurrent("GRU", 1, 400, 128, 128),
    _recurrent("RNN", 1, 400, 128, 128),
    _recurrent("LSTM", 16, 50, 256, 512),
    _recurrent("GRU", 16, 50, 256, 512),
    _recurrent("RNN", 16, 50, 256, 512),
    _recurrent("LSTM", 1, 200, 128, 128, num_layers=2,
               bidirectional=True),
    _recurrent_step(128, 128),
    _images("resnet50", "ResNet-50", 224, lambda: _torchvision("resnet50"),
            "onnx"),
    _images("mobilenetv3", "MobileNetV3-Large", 224,
            lambda: _torchvision("mobilenet_v3_large"), "onnx"),
    Published("magika", "magika, 2048 bytes",
              "magika/models/standard_v3_3/model.onnx",
              lambda: {"bytes": _text(2048)}),
    Published("silero", "silero-vad, 512 samples and state",
              "silero_vad/data/silero_vad.onnx",
              lambda: {"input": _chord(576, 16000).unsqueeze(0),
                       "state": 0.1 * torch.randn(2, 1, 128),
                       "sr": torch.tensor(16000)}),
    Published("basic_pitch", "basic-pitch, 2 s",
              "basic_pitch/saved_models/icassp_2022/nmp.onnx",
              lambda: {"serving_default_input_2:0":
                       _chord(43844, 22050).reshape(1, -1, 1)}),
]


def make(name):
    """The module of this name, for contestant.py; MiniLM's weights are in
    $FXJIT_MODEL_DIR."""
    work = next(work for work in WORKLOADS if work.name == name)
    return work.module(os.environ["FXJIT_MODEL_DIR"])
