"""Whole models: their graphs, their code and what they compute."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.fx import symbolic_trace

from mirror import case, fill, filled


class ResidualBlock(nn.Module):
    def __init__(self, channels, stride=1):
        super().__init__()
        wide = channels * stride
        self.conv1 = nn.Conv2d(channels, wide, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(wide)
        self.conv2 = nn.Conv2d(wide, wide, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(wide)
        self.downsample = None
        if stride != 1:
            self.downsample = nn.Sequential(
                nn.Conv2d(channels, wide, 1, stride, bias=False),
                nn.BatchNorm2d(wide),
            )
        self.relu = nn.ReLU()

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(4)
        self.relu = nn.ReLU()
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = nn.Sequential(ResidualBlock(4), ResidualBlock(4))
        self.layer2 = nn.Sequential(ResidualBlock(4, 2), ResidualBlock(8))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        x = torch.flatten(self.avgpool(x), 1)
        return self.fc(x)


@case
def resnet(m):
    gm = symbolic_trace(filled(ResNet()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3, 32, 32]))


class TransformerBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.size(0), x.size(1), x.size(2)
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        depth = c // self.heads
        q = q.view(b, t, self.heads, depth).transpose(1, 2)
        k = k.view(b, t, self.heads, depth).transpose(1, 2)
        v = v.view(b, t, self.heads, depth).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)) / math.sqrt(8)
        y = F.softmax(scores, dim=-1) @ v
        y = y.transpose(1, 2).contiguous().view(b, t, c)
        x = x + self.proj(y)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


@case
def transformer(m):
    gm = symbolic_trace(filled(TransformerBlock(16, 2)))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 5, 16]))


@case
def mlp_with_dicts(m):
    class Mlp(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.ModuleDict(
                {"wide": nn.Linear(4, 8), "deep": nn.Linear(6, 8)}
            )
            self.out = nn.Linear(8, 3)

        def forward(self, batch, scale=1.0):
            wide = torch.relu(self.hidden["wide"](batch["wide"]))
            deep = torch.tanh(self.hidden["deep"](batch["deep"]))
            hidden = (wide + deep) * scale
            return {"logits": self.out(hidden), "hidden": (hidden, wide)}

    gm = symbolic_trace(filled(Mlp()))
    m.graph(gm)
    m.code(gm)
    m.tabular(gm)
    m.outputs(gm, {"wide": fill([3, 4]), "deep": fill([3, 6], 1)})
    m.outputs(gm, {"wide": fill([2, 4]), "deep": fill([2, 6], 1)}, 0.5)


@case
def embedding_classifier(m):
    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(10, 6)
            self.norm = nn.LayerNorm(6)
            self.dropout = nn.Dropout(0.1)
            self.fc = nn.Linear(6, 4)

        def forward(self, tokens, mask):
            x = self.dropout(self.norm(self.embedding(tokens)))
            weight = mask.unsqueeze(-1).to(torch.float32)
            pooled = (x * weight).sum(1) / weight.sum(1).clamp(min=1e-9)
            return torch.log_softmax(self.fc(pooled), -1)

    gm = symbolic_trace(filled(Classifier()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 7], 3, torch.int64), fill([2, 7], 1, torch.bool))


@case
def convolutional_autoencoder(m):
    class Autoencoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(
                nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.SiLU(),
                nn.GroupNorm(2, 4), nn.Conv2d(4, 8, 3, 2, 1, groups=2),
            )
            self.decoder = nn.Sequential(
                nn.ConvTranspose2d(8, 4, 2, 2), nn.LeakyReLU(0.1),
                nn.ConvTranspose2d(4, 1, 2, 2), nn.Sigmoid(),
            )

        def forward(self, x):
            code = self.encoder(x)
            return self.decoder(code), code.flatten(1).mean(-1)

    gm = symbolic_trace(filled(Autoencoder()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 1, 8, 8]))


@case
def gated_recurrence(m):
    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.inputs = nn.Linear(3, 12)
            self.state = nn.Linear(4, 12)

        def forward(self, x, h):
            gi = self.inputs(x)
            gh = self.state(h)
            ir, iz, ia = gi.chunk(3, 1)
            hr, hz, ha = gh.chunk(3, 1)
            r = torch.sigmoid(ir + hr)
            z = torch.sigmoid(iz + hz)
            a = torch.tanh(ia + r * ha)
            return a + z * (h - a)

    class Rnn(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = Cell()

        def forward(self, x, h):
            out = []
            for t in range(3):
                h = self.cell(x[:, t], h)
                out.append(h)
            return torch.stack(out, 1)

    gm = symbolic_trace(filled(Rnn()))
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, fill([2, 3, 3]), fill([2, 4], 2))
