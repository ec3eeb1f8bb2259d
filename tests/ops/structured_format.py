"""How make_structured_reference.py writes a call and its result: inputs as
views of shared pools, arguments as words, results as bytes."""

import base64
import os

import torch
import torch.nn.functional as F

import aliasing

torch.manual_seed(1)
torch.set_num_threads(1)
NAN, INF = float('nan'), float('inf')
FLOATS = ['float32', 'float64', 'float16', 'bfloat16']
INTS = ['int8', 'uint8', 'int16', 'int32', 'int64']
ALL = FLOATS + INTS + ['bool']
POOL_SIZE = 256

POOLS = {}
base = torch.randn(POOL_SIZE, dtype=torch.float64)
whole = torch.randint(-9, 10, (POOL_SIZE,))
for name in ALL:
    dtype = getattr(torch, name)
    if name in FLOATS:
        POOLS[name] = base.to(dtype)
    elif name == 'uint8':
        POOLS[name] = whole.abs().to(dtype)
    elif name == 'bool':
        POOLS[name] = whole > 0
    else:
        POOLS[name] = whole.to(dtype)
special = torch.tensor([0.0, 1.0, NAN, -1.0, INF, 2.0, -INF, -0.0, 3.0, -INF,
                        -INF, -INF, -INF, INF, NAN, 0.5], dtype=torch.float64)
for name in FLOATS:
    POOLS['special_' + name] = special.to(getattr(torch, name))
for name, part in [('complex64', torch.float32), ('complex128', torch.float64)]:
    POOLS[name] = torch.complex(base.to(part), base.flip(0).to(part))
POOLS['positive_float32'] = base.abs().float()[:8] + 0.1
POOLS['positive_float64'] = base.abs()[:8] + 0.1
POOLS['positive_wide_float32'] = base.abs().float()[:16] + 0.1
POOLS['positive_wide_float64'] = base.abs()[:16] + 0.1


class T:
    """A view of a pool."""

    def __init__(self, sizes=(), pool='float32', offset=0, strides=None):
        self.pool, self.offset, self.sizes = pool, offset, tuple(sizes)
        if strides is None:
            strides = torch.empty(self.sizes, device='meta').stride()
        self.strides = tuple(strides)

    def value(self):
        return torch.as_strided(POOLS[self.pool], self.sizes, self.strides,
                                self.offset)

    def text(self):
        return 't:%s:%d:%s:%s' % (self.pool, self.offset, ints(self.sizes),
                                  ints(self.strides))


class L:
    """A tensor of integers or bools written out."""

    def __init__(self, data, dtype='int64'):
        self.tensor = torch.tensor(data, dtype=getattr(torch, dtype))
        self.dtype = dtype

    def value(self):
        return self.tensor

    def text(self):
        return 'l:%s:%s:%s' % (
            self.dtype, ints(self.tensor.shape),
            ','.join(str(int(v)) for v in self.tensor.flatten()) or '()')


def ints(values):
    return ','.join(map(str, values)) if len(values) else '()'


def unwrap(arg):
    if isinstance(arg, (T, L)):
        return arg.value()
    if isinstance(arg, (list, tuple)):
        return type(arg)(unwrap(a) for a in arg)
    if isinstance(arg, slice):
        return slice(*map(unwrap, (arg.start, arg.stop, arg.step)))
    return arg


def text_of(arg):
    if isinstance(arg, (T, L)):
        return arg.text()
    if arg is None:
        return 'none'
    if arg is Ellipsis:
        return '...'
    if isinstance(arg, bool):
        return 'b:%s' % arg
    if isinstance(arg, int):
        return 'i:%d' % arg
    if isinstance(arg, float):
        return 'f:%r' % arg
    if isinstance(arg, str):
        return 's:' + arg.replace(' ', '_')
    if isinstance(arg, torch.dtype):
        return 'd:' + str(arg).replace('torch.', '')
    if isinstance(arg, slice):
        return '<%s|%s|%s>' % tuple(
            text_of(a) for a in (arg.start, arg.stop, arg.step))
    if isinstance(arg, (list, tuple)):
        inner = '|'.join(text_of(a) for a in arg)
        return '[%s]' % inner if isinstance(arg, list) else '(%s)' % inner
    raise TypeError(arg)


def encode(data):
    return base64.b64encode(data).decode() or '-'


def result_text(result):
    if isinstance(result, torch.Tensor):
        data = torch.empty(result.numel(), dtype=result.dtype)
        data.copy_(result.reshape(-1))
        raw = data.view(torch.uint8).numpy().tobytes()
        return 'r:%s:%s:%s:%d:%s' % (
            str(result.dtype).replace('torch.', ''), ints(result.shape),
            ints(result.stride()), result.storage_offset(), encode(raw))
    if isinstance(result, (torch.Size, tuple)):
        return '(%s)' % '|'.join(result_text(r) for r in result)
    if isinstance(result, list):
        return '[%s]' % '|'.join(result_text(r) for r in result)
    return text_of(result)


lines = []


def call_text(row, args, kwargs):
    words = [row] + [text_of(a) for a in args]
    words += ['%s=%s' % (k, text_of(v)) for k, v in kwargs.items()]
    return ' '.join(words)


def case(row, function, *args, kind='case', **kwargs):
    values = [unwrap(a) for a in args]
    named = {k: unwrap(v) for k, v in kwargs.items()}
    text = call_text(row, args, kwargs)
    aliasing.note(row, text, function, values, named)
    result = function(*values, **named)
    lines.append('%s %s -> %s' % (kind, text, result_text(result)))


def view(row, function, *args, **kwargs):
    case(row, function, *args, kind='view', **kwargs)


def fail(row, function, *args, **kwargs):
    try:
        function(*[unwrap(a) for a in args],
                 **{k: unwrap(v) for k, v in kwargs.items()})
    except Exception as error:
        text = str(error).split('\n')[0]
        lines.append('fail %s -> error:%s:%s' % (
            call_text(row, args, kwargs), type(error).__name__,
            encode(text.encode())))
        return
    raise AssertionError('no error: ' + call_text(row, args, kwargs))


# Inputs that each family sees: plain, transposed, stepped, broadcast, size 1.
def layouts(pool='float32'):
    yield T((3, 4), pool)
    yield T((4, 3), pool, 2, (1, 4))
    yield T((3, 4), pool, 1, (12, 2))
    yield T((3, 4), pool, 0, (0, 1))
    yield T((1, 4), pool)
    yield T((2, 3, 4), pool)
    yield T((2, 3, 4), pool, 5, (1, 2, 6))
    yield T((5,), pool)
