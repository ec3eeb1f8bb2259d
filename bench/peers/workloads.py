"""The graphs that all contestants run, as PyTorch modules with their inputs.

bench/graphs.cpp and examples/minilm hold the same graphs for fxjit. Weights and
inputs are drawn here once and handed to everybody through files.
"""

import torch
import torch.nn.functional as F
from torch import nn


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
    """name: as fxjit_peer knows it; title: for people."""

    def __init__(self, name, title, target, make, inputs):
        self.name, self.title = name, title
        # Least speed-up over the better of ONNX Runtime and OpenVINO that the
        # project wants, by number of threads.
        self.target = target
        self._make, self._inputs = make, inputs

    def module(self, model_folder):
        torch.manual_seed(1)
        return self._make(model_folder).eval().requires_grad_(False)

    def inputs(self):
        torch.manual_seed(2)
        return self._inputs()


def _minilm(batch, tokens, target):
    return Workload(f"minilm_{batch}x{tokens}",
                    f"MiniLM-L6, {batch} x {tokens} tokens", target,
                    SentenceEncoder, lambda: _sentences(batch, tokens))


WORKLOADS = [
    Workload("mlp", "MLP 4 x 256, batch 1", {1: 1.4, 2: 1.1},
             lambda _: Mlp(), lambda: {"x": _uniform(1, Mlp.WIDTH)}),
    Workload("swiglu", "SwiGLU block, 1 x 768, hidden 3072", {1: 1.4, 2: 1.0},
             lambda _: SwiGlu(), lambda: {"x": _uniform(1, SwiGlu.WIDTH)}),
    Workload("gated", "sigmoid(x*y+0.5)*tanh(x-y)+gelu(y), 1024 x 1024",
             {1: 2.5, 2: 2.5}, lambda _: Gated(),
             lambda: {"x": _uniform(1024, 1024), "y": _uniform(1024, 1024)}),
    Workload("norm_softmax", "softmax(layernorm(x+gelu(layernorm(x)))), "
             "512 x 1024", {1: 2.2, 2: 2.2}, lambda _: NormSoftmax(),
             lambda: {"x": _uniform(512, 1024)}),
    _minilm(1, 16, {1: 1.25, 2: 1.2}),
    _minilm(1, 128, {1: 1.04, 2: 1.03}),
    _minilm(8, 32, {1: 1.04, 2: 1.03}),
]
