"""Exports small models with torch.export.save, and torch's answers in double precision.

    build/venv/bin/python tests/import/make_models.py [NAME...]

(all without names; those of real_models.py need transformers, timm, pillow and torchvision)
writes tests/import/models/NAME.pt2 and NAME.safetensors: inputs under their names in the
exported graph, results as "output.N" in the order of the leaves. Weights are seeded.
"""

import io
import json
import os
import pathlib
import sys
import zipfile

import torch
from real_models import REAL_MODELS
from safetensors.torch import save_file
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as map_slices
from torch.export import Dim

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE / 'models'


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))

    def forward(self, x):
        return self.layers(x).softmax(-1)


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(8)
        self.relu = nn.ReLU(inplace=True)
        self.head = nn.Linear(8, 5)
        with torch.no_grad():
            self.norm.running_mean.uniform_(-1, 1)
            self.norm.running_var.uniform_(0.5, 2)
            self.norm.weight.uniform_(0.5, 2)

    def forward(self, x):
        x = self.relu(self.norm(self.conv(x)))
        x = nn.functional.max_pool2d(x, 2)
        return self.head(x.mean((2, 3)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(32, 32) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], 4, 8).transpose(1, 2)

    def forward(self, x, *, mask=None):
        y = nn.functional.scaled_dot_product_attention(
            self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x)), mask)
        return self.out(y.transpose(1, 2).reshape(x.shape[0], x.shape[1], 32)) + x


class Tagger(nn.Module):
    """Words to tags by a GRU of two layers that reads both ways."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.layers = nn.GRU(8, 6, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(12, 5)

    def forward(self, words):
        return self.head(self.layers(self.words(words))[0]).log_softmax(-1)


class Stream(nn.Module):
    """An LSTM whose states the caller carries, and an RNN on top."""

    def __init__(self):
        super().__init__()
        self.lower = nn.LSTM(5, 12, proj_size=4)
        self.upper = nn.RNN(4, 3, nonlinearity='relu', bias=False)

    def forward(self, x, h, c):
        y, states = self.lower(x, (h, c))
        return self.upper(y)[0], states


class Tables(nn.Module):
    """Buffers that are written at places which the inputs say."""
    NAMES = ('added', 'copied', 'put', 'pairs', 'cells', 'filled', 'sums', 'largest', 'items',
             'columns', 'counts')

    def __init__(self):
        super().__init__()
        for name in self.NAMES:
            dtype = torch.int64 if name == 'counts' else torch.float32
            self.register_buffer(name, torch.zeros(6, 4, dtype=dtype))

    def forward(self, x, rows, places, order):
        x = x.to(self.added.dtype)
        self.added.index_add_(0, rows, x, alpha=0.5)
        self.copied.index_copy_(0, order, x)
        self.put.index_put_((rows - 6,), x, accumulate=True)
        self.pairs.index_put_((rows, order - 4), x[:, 0], accumulate=True)
        self.counts.index_put_((rows[:, None], order), torch.ones_like(rows), accumulate=True)
        self.cells.scatter_(0, places, x)
        self.filled.scatter_(0, places, 2.5)
        self.sums.scatter_add_(0, rows[:, None].expand(3, 4), x)
        self.largest.scatter_reduce_(0, places, x, 'amax')
        self.items[order] = x
        self.columns[:, order] = x[0, :3]
        return torch.stack([getattr(self, name).to(x.dtype) for name in self.NAMES])

    def steps(self):
        for _ in range(5):
            order = torch.randperm(4)[:3]
            yield (torch.randn(3, 4), torch.randint(6, (3,)),
                   torch.stack([torch.randperm(6)[:3] for _ in range(4)], 1), order)


class Counter(nn.Module):
    """Writes a buffer and an input."""

    def __init__(self):
        super().__init__()
        self.register_buffer('total', torch.zeros(3))
        self.register_buffer('scale', torch.tensor([1., 2., 3.]), persistent=False)

    def forward(self, x, cache):
        self.total.add_(x.sum(0))
        cache[:, 1].add_(x[:, 0])
        return self.total * self.scale, cache + 1


class Block(nn.Module):
    """A layer of a decoder that keeps keys and values of 16 places."""

    def __init__(self, by_index):
        super().__init__()
        self.by_index = by_index
        self.norm, self.mlp_norm = nn.LayerNorm(16), nn.LayerNorm(16)
        self.project, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.register_buffer('keys', torch.zeros(1, 2, 16, 8))
        self.register_buffer('values', torch.zeros(1, 2, 16, 8))

    def forward(self, x, at):
        q, k, v = self.project(self.norm(x)).view(1, 1, 3, 2, 8).permute(2, 0, 3, 1, 4)
        if self.by_index:
            self.keys[:, :, at] = k
            self.values[:, :, at] = v
        else:
            self.keys.index_copy_(2, at, k)
            self.values.index_copy_(2, at, v)
        seen = (torch.arange(16) <= at)[None, None, None]
        y = nn.functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=seen)
        x = x + self.out(y.transpose(1, 2).reshape(1, 1, 16))
        return x + self.mlp(self.mlp_norm(x))


class Decoder(nn.Module):
    """One step of a decoder with a static cache."""

    def __init__(self):
        super().__init__()
        self.embedding, self.places = nn.Embedding(20, 16), nn.Embedding(16, 16)
        self.blocks = nn.ModuleList([Block(False), Block(True)])
        self.head = nn.Linear(16, 20)

    def forward(self, token, at):
        x = self.embedding(token) + self.places(at)
        for block in self.blocks:
            x = block(x, at)
        return self.head(x)

    def steps(self):
        """Ten calls, one after the other."""
        return [(torch.tensor([[7 * i % 20]]), torch.tensor([i])) for i in range(10)]


def decoder():
    model = Decoder()
    return model, model.steps()[3], {}, None


class Tied(nn.Module):
    """One weight under two names, one stored by columns, one as a part of another."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.head = nn.Linear(6, 10, bias=False)
        self.head.weight = self.embed.weight
        self.columns = nn.Parameter(torch.randn(6, 6).t())
        base = torch.randn(4, 6)
        self.base = nn.Parameter(base)
        self.register_buffer('part', base[1:3, 2:5])

    def forward(self, tokens):
        x = self.embed(tokens) @ self.columns + self.base[0]
        return self.head(x), self.part * 2


class Nested(nn.Module):
    """Containers, None and numbers."""

    def forward(self, x, parts, *, flag=None, factor=3):
        y = parts['a'][0] * factor + parts['b'] + 1.5
        return {'sum': x + y, 'rest': [y.sum(), (x.shape[0], None, 7)]}


class Modes(nn.Module):
    """Modes of torch, within one another, and a constant in the code."""

    def forward(self, x):
        with torch.no_grad():
            y = x * 2
            with torch.enable_grad():
                a, b = (y + x).split([1, 3], 1)
        with torch.autocast('cpu', enabled=False):
            c = a * b + torch.tensor([1., 2., 3.])
        return c, b - x[:, 1:]


class Dynamic(nn.Module):
    """Sizes that are symbols, and a condition on them."""

    def forward(self, x, y):
        if x.shape[0] * 2 < y.shape[0] + 7:
            z = x.sum(0, keepdim=True) + y[: x.shape[0]]
        else:
            z = x - 1
        return torch.cat([x, z], 1).view(x.shape[0] * 2, -1)


class Symbols(nn.Module):
    """torch's functions of sizes that are symbols."""

    def forward(self, x, y):
        n, m = x.shape[0], y.shape[0]
        most, least = torch.sym_max(n, m), torch.sym_min(n, m)
        picked = torch.sym_ite(n > m, n, 2 * m)
        return (torch.ones(most) * 2, torch.ones(least), torch.ones(picked),
                x * torch.sym_float(n), y * torch.sym_not(n == m), torch.ones(torch.sym_int(n / 2)),
                y * (m / n))


class Halves(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8).to(torch.bfloat16)
        self.b = nn.Linear(8, 8).to(torch.float16)

    def forward(self, x):
        return self.a(x.to(torch.bfloat16)).float() + self.b(x.half()).float()


class LogMel(nn.Module):
    """A front end of speech: spectra of windows in bands, as decibels."""

    def __init__(self):
        super().__init__()
        self.register_buffer('window', torch.hann_window(64))
        self.register_buffer('bands', torch.rand(12, 33))

    def forward(self, x):
        spectra = torch.stft(x, 64, hop_length=16, window=self.window, return_complex=True)
        power = spectra.abs() ** 2
        decibels = torch.clamp(self.bands @ power, min=1e-10).log10()
        return torch.maximum(decibels, decibels.amax((1, 2), keepdim=True) - 8), power


class Denoiser(nn.Module):
    """Weakens the quiet parts of a spectrum and goes back to the signal."""

    def __init__(self):
        super().__init__()
        self.register_buffer('window', torch.hann_window(32))

    def forward(self, x):
        spectra = torch.stft(x, 32, 8, window=self.window, return_complex=True)
        size, phase = spectra.abs(), spectra.angle()
        weakened = torch.polar(size * torch.sigmoid(size - size.mean()), phase)
        return torch.istft(weakened, 32, 8, window=self.window, length=x.shape[-1]), phase.cos()


class GlobalFilter(nn.Module):
    """Mixes places of an image by weights of its frequencies."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 5, 6, 2))

    def forward(self, x):
        spectra = torch.fft.rfft2(x, dim=(1, 2), norm='ortho')
        return torch.fft.irfft2(spectra * torch.view_as_complex(self.weight), s=(8, 8), dim=(1, 2),
                                norm='ortho')


class Rotary(nn.Module):
    """Positions as Llama's first code has them."""

    def __init__(self):
        super().__init__()
        steps = 1.0 / 10000 ** (torch.arange(0, 8, 2).float() / 8)
        angles = torch.outer(torch.arange(16).float(), steps)
        self.register_buffer('angles', angles)
        self.register_buffer('turns', torch.polar(torch.ones_like(angles), angles))
        self.query, self.key = nn.Linear(16, 16), nn.Linear(16, 16)

    @staticmethod
    def turned(x, turns):
        pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        turns = turns[: x.shape[1]].view(1, x.shape[1], 1, -1)
        return torch.view_as_real(pairs * turns).flatten(3).type_as(x)

    def forward(self, x):
        query = self.query(x).view(x.shape[0], x.shape[1], 2, 8)
        key = self.key(x).view(x.shape[0], x.shape[1], 2, 8)
        made = torch.polar(torch.ones_like(self.angles), self.angles)
        query, key = self.turned(query, self.turns), self.turned(key, made)
        return query.transpose(1, 2) @ key.permute(0, 2, 3, 1)


def x_of(*sizes):
    return (torch.randn(*sizes),)


class Branches(nn.Module):
    """Control flow of every kind, with weights that branches and bodies use."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(6, 6), nn.Linear(6, 6)

    def forward(self, steps, x):
        def settle(i, x):
            return i + 1, torch.tanh(self.down(x))

        def add(carry, row):
            y = torch.cond(row.sum() > 0, lambda r: r * 2, lambda r: r - 1, (row,))
            return carry + y, carry * row

        y = torch.cond(x.sum() > 0, lambda x: self.up(x).relu(), lambda x: self.down(x) + x, (x,))
        _, settled = while_loop(lambda i, y: i < steps, settle, (torch.tensor(0), y))
        carry, products = scan(add, torch.ones(6, dtype=x.dtype), x)
        return settled, carry, products, map_slices(lambda row, w: row @ w, x, self.up.weight)


SMALL_MODELS = {
    'branches': lambda: (Branches(), (torch.tensor(7), torch.randn(4, 6)), {}, None),
    'perceptron': lambda: (Perceptron(), x_of(3, 8), {}, {'x': {0: Dim('batch', min=1, max=64)}}),
    'images': lambda: (Images(), x_of(2, 3, 12, 12), {}, None),
    'attention': lambda: (Attention(), x_of(2, 5, 32), {}, None),
    'tagger': lambda: (Tagger(), (torch.randint(0, 20, (3, 7)),), {},
                       {'words': {0: Dim('batch', min=1, max=64)}}),
    'stream': lambda: (Stream(), (*x_of(6, 2, 5), *x_of(1, 2, 4), *x_of(1, 2, 12)), {},
                       None),
    'tables': lambda: (Tables(), next(Tables().steps()), {}, None),
    'counter': lambda: (Counter(), (torch.randn(4, 3), torch.randn(4, 2)), {}, None),
    'decoder': decoder,
    'decoder_decomposed': decoder,
    'tied': lambda: (Tied(), (torch.randint(0, 10, (2, 3)),), {}, None),
    'counter_decomposed': lambda: (Counter(), (torch.randn(4, 3), torch.randn(4, 2)), {}, None),
    'modes': lambda: (Modes(), x_of(2, 4), {}, None),
    'nested': lambda: (Nested(), (torch.randn(2, 2), {'a': x_of(2, 2), 'b': torch.randn(2)}),
                       {'flag': None, 'factor': 3}, None),
    'dynamic': lambda: (Dynamic(), (torch.randn(4, 6), torch.randn(9, 6)), {},
                        {'x': {0: Dim('rows', min=4, max=100)}, 'y': {0: Dim.DYNAMIC}}),
    'symbols': lambda: (Symbols(), (torch.randn(4, 3), torch.randn(6)), {},
                        {'x': {0: Dim.DYNAMIC}, 'y': {0: Dim.DYNAMIC}}),
    'halves': lambda: (Halves(), x_of(3, 8), {}, None),
    'log_mel': lambda: (LogMel(), x_of(2, 400), {}, None),
    'log_mel_decomposed': lambda: (LogMel(), x_of(2, 400), {}, None),
    'denoiser': lambda: (Denoiser(), x_of(2, 200), {}, None),
    'global_filter': lambda: (GlobalFilter(), x_of(2, 8, 8, 6), {}, None),
    'global_filter_decomposed': lambda: (GlobalFilter(), x_of(2, 8, 8, 6), {}, None),
    'rotary': lambda: (Rotary(), x_of(2, 6, 16), {}, None),
    'rotary_decomposed': lambda: (Rotary(), x_of(2, 6, 16), {}, None),
}


# --- Writing. ---

def relative(trace):
    """Paths in stack traces below the package that they lie in."""
    for line in trace.split('\n'):
        if not line.strip().startswith('File "'):
            continue
        path = line.split('"')[1]
        for mark in ('site-packages/', str(HERE.parent.parent) + '/'):
            if mark in path:
                trace = trace.replace(path, path.split(mark)[-1])
    return trace


def make_relative(value):
    if isinstance(value, dict):
        return {key: relative(part) if key == 'stack_trace' else make_relative(part)
                for key, part in value.items() if key != 'torch_fn'}
    return [make_relative(part) for part in value] if isinstance(value, list) else value


# Example inputs as pickles, numbers of the build: nothing that programs need.
LEFT_OUT = ('data/sample_inputs/model.pt', '.data/serialization_id')


def without_weights(text, names):
    """The table of weights without these, and the ends of the names of their entries."""
    table = json.loads(text)
    dropped = [table['config'].pop(name)['path_name'] for name in names & set(table['config'])]
    kept = {entry['path_name'] for entry in table['config'].values()}
    return json.dumps(table).encode(), tuple(f'data/weights/{name}'
                                             for name in dropped if name not in kept)


def rewrite(path, without=frozenset()):
    """The archive with relative paths and without what differs between runs, nor weights of the
    names in `without`. Weights keep their alignment of 64 bytes."""
    source = zipfile.ZipFile(io.BytesIO(path.read_bytes()))
    tables = {entry: without_weights(source.read(entry), without)
              for entry in source.namelist() if entry.endswith('_weights_config.json')}
    left_out = LEFT_OUT + tuple(end for _, ends in tables.values() for end in ends)
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_STORED) as target:
        for entry in source.infolist():
            content = source.read(entry)
            if entry.filename.endswith(left_out):
                continue
            if without and entry.filename in tables:
                content = tables[entry.filename][0]
            if entry.filename.endswith('models/model.json'):
                content = json.dumps(make_relative(json.loads(content)),
                                     separators=(',', ':')).encode()
            made = zipfile.ZipInfo(entry.filename)
            at = target.fp.tell() + 30 + len(made.filename.encode()) + 4
            made.extra = b'FB' + (-at % 64).to_bytes(2, 'little') + b'Z' * (-at % 64)
            target.writestr(made, content)


def as_double(value):
    floating = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.double() if floating else value


def answers(model, args, kwargs):
    """Leaves of the result, computed in double precision; of half types as they are."""
    halves = any(p.dtype in (torch.bfloat16, torch.float16) for p in model.parameters())
    convert = (lambda value: value) if halves else as_double
    args, kwargs = torch.utils._pytree.tree_map(convert, (args, kwargs))
    model = model if halves else model.double()
    with torch.no_grad():
        result = model(*args, **kwargs)
    return torch.utils._pytree.tree_leaves(result)


def clones(values):
    return torch.utils._pytree.tree_map(
        lambda v: v.clone() if isinstance(v, torch.Tensor) else v, values)


SETTLED = ('coatnet', 'efficientnet', 'mobilenetv3', 'resnet', 'segformer')


def settle(model, args, kwargs):
    """Gives batch norms the statistics of these inputs, as training would, and convolutions weights
    of a common size: without it results of some models vanish."""
    def observe(module, inputs):
        x = inputs[0].transpose(0, 1).flatten(1)
        module.running_mean.copy_(x.mean(1) / 2)
        square = x.square().mean(1) + x.square().mean() / 10 + 1e-12
        module.running_var.copy_(square)
        module.weight.copy_((1 + module.eps / square).sqrt())

    hooks = []
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            hooks.append(module.register_forward_pre_hook(observe))
    for module in model.modules() if hooks else ():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight)
    model(*args, **kwargs)
    for hook in hooks:
        hook.remove()


def write(name, model, args, kwargs, shapes):
    model.eval()
    if name in SETTLED:
        with torch.no_grad():
            settle(model, clones(args), clones(kwargs))
    state = clones(dict(model.state_dict()))
    with torch.set_grad_enabled(name == 'modes'):
        program = torch.export.export(model, clones(args), clones(kwargs), dynamic_shapes=shapes)
    if name.endswith('_decomposed'):
        program = program.run_decompositions()
    path = MODELS / f'{name}.pt2'
    torch.export.save(program, path)
    rewrite(path)
    leaves = torch.utils._pytree.tree_leaves((args, kwargs))
    tensors = {}
    for spec, leaf in zip(program.graph_signature.user_inputs, leaves):
        if isinstance(leaf, torch.Tensor):
            tensors[spec] = leaf.clone().contiguous()
    with torch.no_grad():
        rough = torch.utils._pytree.tree_leaves(model(*clones(args), **clones(kwargs)))
    model.load_state_dict(state)
    for i, leaf in enumerate(answers(model, clones(args), clones(kwargs))):
        if isinstance(leaf, torch.Tensor):
            tensors[f'output.{i}'] = leaf.detach().clone().contiguous()
            largest, error = leaf.abs().max(), (leaf - rough[i]).abs().max()
            if largest < 1e-6 or error > 2e-4 * largest:
                raise ValueError(f'{name}: result {i} says nothing: at most {largest}, in single '
                                 f'precision off by {error}')
    if hasattr(model, 'steps'):
        model.load_state_dict(state)
        for i, step in enumerate(model.steps()):
            for place, value in zip(program.graph_signature.user_inputs, step):
                tensors[f'step.{i}.{place}'] = value
            with torch.no_grad():
                tensors[f'step.{i}.output'] = model(*step)
    save_file(tensors, MODELS / f'{name}.safetensors')
    print(f'{name}: {os.path.getsize(path)} bytes')


def define_torchvision():
    """torchvision's own library may not fit this torch; its Python asks for these two only."""
    if KEPT:
        return
    library = torch.library.Library('torchvision', 'DEF')
    for schema in ('nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor',
                   'qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor'):
        library.define(schema)
    KEPT.append(library)


KEPT = []  # A library is taken back when nobody holds it.


def main(names):
    MODELS.mkdir(exist_ok=True)
    define_torchvision()
    for name in names or [*SMALL_MODELS, *REAL_MODELS]:
        torch.manual_seed(1)
        write(name, *{**SMALL_MODELS, **REAL_MODELS}[name]())


if __name__ == '__main__':
    main(sys.argv[1:])
