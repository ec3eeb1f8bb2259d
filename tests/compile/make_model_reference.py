"""Writes model_reference.txt: what torch gives, in double precision, for the
models of models.h.

Run with a Python that has torch 2.13:
    python tests/compile/make_model_reference.py

Lines of the file: the model's name, the result's sizes joined by commas, its
numbers. Weights and inputs are not committed: `number` makes them from their
names, here and in made_numbers.h.
"""

import math
import os

import torch
import torch.nn as nn
import torch.nn.functional as F


def number(name, i):
    """One of 2001 numbers from -1 to 1."""
    h = 2166136261
    for c in name.encode():
        h = (h ^ c) * 16777619 % 2 ** 32
    h = (h + i * 2654435761) % 2 ** 32
    h ^= h >> 15
    h = h * 2246822519 % 2 ** 32
    h ^= h >> 13
    return (h % 2001 - 1000) / 1000


def numbers(name, sizes):
    count = math.prod(sizes)
    return torch.tensor([number(name, i) for i in range(count)],
                        dtype=torch.float64).view(sizes)


def ids(name, sizes, limit):
    return (numbers(name, sizes) * 1000 + 1000).round().long() % limit


def fill(model):
    for name, p in model.named_parameters():
        values = numbers(name, p.shape)
        if p.dim() > 1:
            values = values * math.sqrt(3 / p.shape[-1])
        else:
            values = values * 0.1 + (0 if name.endswith('bias') else 1)
        p.data = values.float().double()
    return model.double().eval()


class WindowBlock(nn.Module):
    def __init__(self, shift):
        super().__init__()
        self.shift = shift
        self.norm = nn.LayerNorm(8)
        self.qkv = nn.Linear(8, 24)
        self.proj = nn.Linear(8, 8)
        self.table = nn.Parameter(torch.zeros(49, 2))
        at = torch.stack(torch.meshgrid(torch.arange(4), torch.arange(4),
                                        indexing='ij')).flatten(1)
        apart = at[:, :, None] - at[:, None, :] + 3
        self.places = apart[0] * 7 + apart[1]
        image = torch.zeros(1, 8, 8, 1)
        parts = (slice(0, 4), slice(4, 6), slice(6, 8))
        for i, rows in enumerate(parts):
            for j, columns in enumerate(parts):
                image[:, rows, columns] = i * 3 + j
        regions = self.windows(image).view(4, 16)
        same = regions[:, None, :] == regions[:, :, None]
        self.mask = torch.where(same, 0.0, -100.0).double()

    def windows(self, x):
        x = x.view(x.shape[0], 2, 4, 2, 4, x.shape[3])
        return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, x.shape[5])

    def forward(self, x):
        batch = x.shape[0]
        y = self.norm(x).view(batch, 8, 8, 8)
        y = torch.roll(y, (-self.shift, -self.shift), (1, 2))
        q, k, v = self.qkv(self.windows(y)).reshape(
            -1, 16, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q * 0.5 @ k.transpose(-2, -1)
        bias = self.table[self.places.view(-1)].view(16, 16, -1)
        scores = scores + bias.permute(2, 0, 1)
        if self.shift:
            scores = scores.view(batch, 4, 2, 16, 16) + self.mask[:, None]
            scores = scores.view(-1, 2, 16, 16)
        y = (scores.softmax(-1) @ v).transpose(1, 2).reshape(-1, 16, 8)
        y = self.proj(y).view(batch, 2, 2, 4, 4, 8)
        y = y.permute(0, 1, 3, 2, 4, 5).reshape(batch, 8, 8, 8)
        y = torch.roll(y, (self.shift, self.shift), (1, 2))
        return x + y.view(batch, 64, 8)


class Windows(nn.Module):
    def __init__(self):
        super().__init__()
        self.plain = WindowBlock(0)
        self.shifted = WindowBlock(2)
        self.merge = nn.Linear(32, 16, bias=False)

    def forward(self, x):
        x = self.shifted(self.plain(x)).view(-1, 8, 8, 8)
        x = torch.cat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2],
                       x[:, 1::2, 1::2]], -1)
        return self.merge(x.view(x.shape[0], -1, 32))


class RmsNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return self.weight * x * (x.pow(2).mean(-1, True) + 1e-6).rsqrt()


class Rotary(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(20, 16)
        self.first, self.second = RmsNorm(16), RmsNorm(16)
        self.q, self.o = (nn.Linear(16, 16, bias=False) for _ in range(2))
        self.k, self.v = (nn.Linear(16, 8, bias=False) for _ in range(2))
        self.gate, self.up = (nn.Linear(16, 24, bias=False) for _ in range(2))
        self.down = nn.Linear(24, 16, bias=False)

    def attended(self, x):
        batch, length, _ = x.shape
        speed = torch.tensor([1, 0.01, 1, 0.01], dtype=torch.float64)
        angles = torch.arange(length)[:, None] * speed

        def heads(y):
            return y.view(batch, length, -1, 4).transpose(1, 2)

        def rotated(y):
            half = torch.cat((-y[..., 2:], y[..., :2]), -1)
            return y * angles.cos() + half * angles.sin()

        y = F.scaled_dot_product_attention(
            rotated(heads(self.q(x))),
            rotated(heads(self.k(x))).repeat_interleave(2, 1),
            heads(self.v(x)).repeat_interleave(2, 1), is_causal=True)
        return self.o(y.transpose(1, 2).reshape(batch, length, 16))

    def forward(self, x):
        x = self.tokens(x)
        x = x + self.attended(self.first(x))
        y = self.second(x)
        x = x + self.down(F.silu(self.gate(y)) * self.up(y))
        return F.linear(x, self.tokens.weight)


class Buckets(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(20, 8)
        self.qkv = nn.Linear(8, 24, bias=False)
        self.distances = nn.Embedding(8, 2)

    def bias(self, length):
        distance = torch.arange(length)[None] - torch.arange(length)[:, None]
        far = distance.abs()
        steps = 2 + ((far.float() / 2).log() / math.log(8.0) * 2).long()
        steps = torch.min(steps, torch.full_like(steps, 3))
        bucket = (distance > 0).long() * 4 + torch.where(far < 2, far, steps)
        return self.distances(bucket).permute(2, 0, 1)[None]

    def forward(self, x, mask):
        x = self.tokens(x)
        batch, length, _ = x.shape
        q, k, v = (y.view(batch, length, 2, 4).transpose(1, 2)
                   for y in self.qkv(x).chunk(3, -1))
        scores = q @ k.transpose(3, 2) + self.bias(length)
        scores = scores + (1.0 - mask[:, None, None, :]) * -1e9
        y = scores.softmax(-1) @ v
        return y.transpose(1, 2).reshape(batch, length, 8)


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(8, 4, bias=False)
        self.up = nn.Parameter(torch.zeros(4, 8, 20))
        self.down = nn.Parameter(torch.zeros(4, 20, 8))

    def forward(self, x):
        shares = self.gate(x).softmax(-1)
        chosen = shares.topk(2, -1).indices
        weights = shares.gather(1, chosen)
        weights = weights / weights.sum(1, True)
        spread = torch.zeros_like(shares).scatter(1, chosen, weights)
        hidden = F.silu(torch.einsum('td,edh->teh', x, self.up))
        y = torch.einsum('teh,ehd->ted', hidden, self.down)
        return (y * spread[..., None]).sum(1), chosen


class Interactions(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(3, 6)
        for i in range(4):
            setattr(self, 'table%d' % i, nn.Embedding(10, 6))
        self.top = nn.Linear(16, 1)

    def forward(self, x, bags):
        x = self.dense(x).relu()
        features = [x] + [getattr(self, 'table%d' % i)(bags[:, i]).sum(1)
                          for i in range(4)]
        all_of_them = torch.stack(features, 1)
        products = torch.bmm(all_of_them, all_of_them.transpose(1, 2))
        first, second = torch.triu_indices(5, 5, 1)
        picked = products[:, first, second]
        return torch.sigmoid(self.top(torch.cat([x, picked], 1)))


class Squeezed(nn.Module):
    def __init__(self):
        super().__init__()
        self.expand = nn.Conv2d(4, 12, 1, bias=False)
        self.norm = nn.BatchNorm2d(12)
        self.deep = nn.Conv2d(12, 12, 5, padding=2, groups=12, bias=False)
        self.less, self.more = nn.Conv2d(12, 3, 1), nn.Conv2d(3, 12, 1)
        self.project = nn.Conv2d(12, 4, 1)

    def forward(self, x):
        y = F.relu6(self.deep(F.hardswish(self.norm(self.expand(x)))))
        share = self.more(F.silu(self.less(F.adaptive_avg_pool2d(y, 1))))
        return x + self.project(y * F.hardsigmoid(share))


CASES = {
    'windows': (Windows, (numbers('x', (1, 64, 8)),)),
    'rotary': (Rotary, (ids('x', (2, 6), 20),)),
    'buckets': (Buckets, (ids('x', (2, 9), 20),
                          ids('mask', (2, 9), 4).clamp(max=1).double())),
    'experts': (Experts, (numbers('x', (7, 8)),)),
    'interactions': (Interactions, (numbers('x', (5, 3)),
                                    ids('ids', (5, 4, 3), 10))),
    'squeezed': (Squeezed, (numbers('x', (2, 4, 9, 9)),)),
}


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, 'model_reference.txt'), 'w') as out:
        for name, (make, inputs) in CASES.items():
            with torch.no_grad():
                results = fill(make())(*inputs)
            if isinstance(results, torch.Tensor):
                results = (results,)
            for result in results:
                out.write('%s %s %s\n' % (
                    name, ','.join(map(str, result.shape)),
                    ' '.join('%.7g' % x for x in result.flatten().tolist())))


if __name__ == '__main__':
    main()
