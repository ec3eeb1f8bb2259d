"""Writes structured_reference.txt: PyTorch's results for the structured rows.

Run with a Python that has torch 2.13:
    python tests/ops/make_structured_reference.py

Lines of the file:
  pool NAME DTYPE BASE64       elements from which inputs are views
  case ROW ARG... -> RESULT    the call's result
  view ROW ARG... -> RESULT    as above; strides and offset are checked too
  fail ROW ARG... -> error:TYPE:BASE64      the exception, with its text
An ARG is t:POOL:OFFSET:SIZES:STRIDES (a view of a pool), l:DTYPE:SIZES:NUMBERS
(a tensor of integers), i:INT, f:FLOAT, b:BOOL, s:TEXT, d:DTYPE, none, ...,
[ARG|ARG] (a list), (ARG|ARG) (a tuple) or <ARG|ARG|ARG> (a slice); KEY=ARG
passes it by keyword. A RESULT is r:DTYPE:SIZES:STRIDES:OFFSET:BASE64, a number,
or a tuple of these.
"""

import base64
import os

import torch
import torch.nn.functional as F

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
POOLS['positive_float32'] = base.abs().float()[:8] + 0.1
POOLS['positive_float64'] = base.abs()[:8] + 0.1


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
    if isinstance(result, torch.Size) or isinstance(result, (tuple, list)):
        return '(%s)' % '|'.join(result_text(r) for r in result)
    return text_of(result)


lines = []


def call_text(row, args, kwargs):
    words = [row] + [text_of(a) for a in args]
    words += ['%s=%s' % (k, text_of(v)) for k, v in kwargs.items()]
    return ' '.join(words)


def case(row, function, *args, kind='case', **kwargs):
    result = function(*[unwrap(a) for a in args],
                      **{k: unwrap(v) for k, v in kwargs.items()})
    lines.append('%s %s -> %s' % (kind, call_text(row, args, kwargs),
                                  result_text(result)))


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


def reductions():
    table = [('sum', torch.sum, ALL), ('mean', torch.mean, FLOATS),
             ('amax', torch.amax, ALL), ('amin', torch.amin, ALL)]
    for row, f, dtypes in table:
        for name in dtypes:
            case(row, f, T((3, 4), name), 1)
        for x in layouts():
            case(row, f, x)
            case(row, f, x, -1)
            case(row, f, x, 0, True)
        case(row, f, T((2, 3, 4)), (0, 2))
        case(row, f, T((2, 3, 4)), (2, 0), True)
        case(row, f, T((2, 3, 4)), ())
        case(row, f, T(()))
        case(row, f, T(()), 0)
        case(row, f, T((4, 4), 'special_float32'), 1)
        case(row, f, T((0, 3)), 1)
        fail(row, f, T((2, 3)), 2)
        fail(row, f, T((2, 3)), (0, 0))
    for row, f in [('sum', torch.sum), ('mean', torch.mean)]:
        case(row, f, T((0, 3)), 0)
        case(row, f, T((3, 4), 'int32'), 1, dtype=torch.float32)
        case(row, f, T((3, 4), 'float16'), 1, dtype=torch.float32)
    case('sum', torch.sum, T((3, 4)), 1, dtype=torch.int64)
    fail('mean', torch.mean, T((2, 3), 'int64'), 1)
    fail('amax', torch.amax, T((0, 3)), 0)
    fail('amax', torch.amax, T((0, 3)))
    for name in ALL:
        case('prod', torch.prod, T((3, 4), name), 1)
        case('any', torch.any, T((3, 4), name), 1)
        case('all', torch.all, T((3, 4), name), 1)
    for row, f in [('prod', torch.prod), ('any', torch.any),
                   ('all', torch.all)]:
        for x in layouts():
            case(row, f, x)
            case(row, f, x, -1, True)
        case(row, f, T((0, 3)), 0)
        case(row, f, T((4, 4), 'special_float32'), 1)
    for row, f in [('max', torch.max), ('min', torch.min)]:
        for name in ALL:
            case(row, f, T((3, 4), name), 1)
        for x in layouts():
            case(row, f, x)
            case(row, f, x, 0)
            case(row, f, x, -1, True)
        case(row, f, T((4, 4), 'special_float32'), 1)
        case(row, f, T((3, 4)), T((3, 4), offset=20))
        case(row, f, T((3, 4)), T((4,), offset=20))
        fail(row, f, T((0, 3)))
    for row, f in [('argmax', torch.argmax), ('argmin', torch.argmin)]:
        for name in FLOATS + INTS:
            case(row, f, T((3, 4), name), 1)
        for x in layouts():
            case(row, f, x)
            case(row, f, x, 0, True)
        case(row, f, T((4, 4), 'special_float32'), 1)
        case(row, f, T((4, 4), 'special_float32'))
        case(row, f, T(()))
        fail(row, f, T((0, 3)))
        fail(row, f, T((0, 3)), 0)
    for row, f in [('var', torch.var), ('std', torch.std)]:
        for name in FLOATS:
            case(row, f, T((3, 4), name), 1)
        for x in layouts():
            case(row, f, x)
            case(row, f, x, -1, correction=0)
            case(row, f, x, 0, keepdim=True)
        case(row, f, T((3, 4)), 1, False)
        case(row, f, T((3, 4)), False)
        case(row, f, T((3, 4)), 1, True, True)
        case(row, f, T((3, 4)), (0, 1), correction=2)
        case(row, f, T((1, 4)), 0)
        case(row, f, T((4, 4), 'special_float32'), 1)
        fail(row, f, T((3, 4), 'int64'), 1)
    for name in FLOATS:
        case('logsumexp', torch.logsumexp, T((3, 4), name), 1)
    for x in layouts():
        case('logsumexp', torch.logsumexp, x, -1)
        case('logsumexp', torch.logsumexp, x, 0, True)
    case('logsumexp', torch.logsumexp, T((2, 3, 4)), (0, 2))
    case('logsumexp', torch.logsumexp, T((4, 4), 'special_float32'), 1)
    case('logsumexp', torch.logsumexp, T((0, 3)), 0)
    norm = torch.linalg.vector_norm
    for order in [2, 1, 0, 3.0, INF, -INF, 0.5]:
        case('linalg_vector_norm', norm, T((3, 4)), order, 1)
        case('linalg_vector_norm', norm, T((3, 4)), order, (0, 1), True)
        case('linalg_vector_norm', norm, T((3, 4), 'float16'), order, 1)
    case('linalg_vector_norm', norm, T((3, 4)))
    fail('linalg_vector_norm', norm, T((3, 4), 'int64'))
    case('norm', torch.norm, T((3, 4)))
    case('norm', torch.norm, T((3, 4)), 2, 1)
    case('norm', torch.norm, T((3, 4)), 1, 1, True)
    case('norm', torch.norm, T((3, 4), 'float64'), 'fro', (0, 1))
    for name in ALL:
        case('cumsum', torch.cumsum, T((3, 4), name), 1)
    for x in layouts():
        case('cumsum', torch.cumsum, x, 0)
        case('cumsum', torch.cumsum, x, -1)
    case('cumsum', torch.cumsum, T((3, 4), 'int32'), 1, dtype=torch.float32)
    case('cumsum', torch.cumsum, T((0, 4)), 0)


def softmax_norms():
    for row, f in [('softmax', torch.softmax),
                   ('log_softmax', torch.log_softmax)]:
        for name in FLOATS:
            case(row, f, T((3, 4), name), 1)
            case(row, f, T((4, 4), 'special_' + name), 1)
        for x in layouts():
            case(row, f, x, -1)
            case(row, f, x, 0)
        case(row, f, T(()), 0)
        case(row, f, T((3, 0)), 1)
        case(row, f, T((3, 0)), 0)
        case(row, f, T((3, 4), 'float16'), 1, dtype=torch.float32)
        case(row, f, T((3, 4), 'int64'), 1, dtype=torch.float32)
        fail(row, f, T((3, 4)), 2)
    case('_softmax', torch.ops.aten._softmax.default, T((3, 4)), 1, False)
    case('_log_softmax', torch.ops.aten._log_softmax.default, T((3, 4)), 0,
         False)
    for name in FLOATS:
        case('layer_norm', F.layer_norm, T((3, 4), name), (4,))
        case('layer_norm', F.layer_norm, T((3, 4), name), (4,),
             T((4,), name, 30), T((4,), name, 40), 1e-3)
        case('rms_norm', F.rms_norm, T((3, 4), name), (4,))
        case('rms_norm', F.rms_norm, T((3, 4), name), (4,), T((4,), name, 9),
             1e-3)
        case('group_norm', F.group_norm, T((2, 4, 3), name), 2)
        case('group_norm', F.group_norm, T((2, 4, 3), name), 2,
             T((4,), name, 9), T((4,), name, 19), 1e-3)
    for x in layouts():
        case('layer_norm', F.layer_norm, x, x.sizes[-1:])
        case('rms_norm', F.rms_norm, x, x.sizes[-1:])
        case('normalize', F.normalize, x, 2.0, -1)
    case('layer_norm', F.layer_norm, T((2, 3, 4)), (3, 4), T((3, 4), offset=9))
    case('layer_norm', F.layer_norm, T((0, 4)), (4,))
    case('layer_norm', F.layer_norm, T((4, 4), 'special_float32'), (4,))
    fail('layer_norm', F.layer_norm, T((3, 4)), (3,))
    fail('layer_norm', F.layer_norm, T((3, 4)), (4,), T((3,)))
    case('native_layer_norm', torch.native_layer_norm, T((3, 4)), (4,),
         T((4,), offset=9), T((4,), offset=20), 1e-5)
    for name in ['float32', 'float64']:
        case('batch_norm', F.batch_norm, T((2, 3, 4, 5), name),
             T((3,), name, 7), T((3,), 'positive_' + name))
    mean, var = T((3,), offset=7), T((3,), 'positive_float32')
    case('batch_norm', F.batch_norm, T((2, 3)), mean, var)
    case('batch_norm', F.batch_norm, T((2, 3, 4)), mean, var,
         T((3,), offset=30), T((3,), offset=50), eps=1e-3)
    case('batch_norm', F.batch_norm, T((2, 3, 4, 5), strides=(60, 1, 15, 3)),
         mean, var, T((3,), offset=30), T((3,), offset=50))
    case('batch_norm', F.batch_norm, T((2, 3, 4)), None, None, training=True)
    case('aten_batch_norm', torch.batch_norm, T((2, 3, 4)), T((3,), offset=30),
         T((3,), offset=50), mean, var, False, 0.1, 1e-5, False)
    fail('batch_norm', F.batch_norm, T((2, 3, 4)), T((4,)), T((4,)))
    fail('group_norm', F.group_norm, T((2, 4, 3)), 3)
    case('instance_norm', F.instance_norm, T((2, 3, 4, 5)))
    case('instance_norm', F.instance_norm, T((2, 3, 4)), None, None,
         T((3,), offset=30), T((3,), offset=50))
    for p in [1.0, 2.0, 3.0, INF]:
        case('normalize', F.normalize, T((3, 4)), p)
    case('normalize', F.normalize, T((3, 4), 'float16'))
    case('normalize', F.normalize, T((3, 4), strides=(0, 0), offset=1))


def views():
    tensor = torch.Tensor
    for x in layouts():
        n = x.value().numel()
        view('reshape', torch.reshape, x, (n,))
        view('reshape', torch.reshape, x, (-1, 1))
        view('flatten', torch.flatten, x)
        view('flatten', torch.flatten, x, -1)
        view('permute', torch.permute, x, tuple(reversed(range(len(x.sizes)))))
        view('transpose', torch.transpose, x, 0, -1)
        view('unsqueeze', torch.unsqueeze, x, 0)
        view('unsqueeze', torch.unsqueeze, x, -1)
        view('unsqueeze', torch.unsqueeze, x, 1)
        view('squeeze', torch.squeeze, x)
        view('squeeze', torch.squeeze, x, 0)
        view('select', torch.select, x, 0, 0)
        view('select', torch.select, x, -1, -1)
        view('slice', torch.ops.aten.slice.Tensor, x, 0, 1, 3)
        view('slice', torch.ops.aten.slice.Tensor, x, -1, -3, 1000, 2)
        view('slice', torch.ops.aten.slice.Tensor, x, 0, 3, 1)
        view('narrow', torch.narrow, x, -1, 1, 2)
        view('split', torch.split, x, 2)
        view('split_method', tensor.split, x, 3, -1)
        view('chunk', torch.chunk, x, 2, -1)
        view('unbind', torch.unbind, x)
        view('getitem', tensor.__getitem__, x, 0)
        view('getitem', tensor.__getitem__, x, -1)
        view('getitem', tensor.__getitem__, x, slice(None, None, None))
        view('getitem', tensor.__getitem__, x, (slice(1, None, 2), None))
        view('getitem', tensor.__getitem__, x, (Ellipsis, -1))
        view('getitem', tensor.__getitem__, x, (None, Ellipsis, slice(-2, 9)))
        view('movedim', torch.movedim, x, 0, -1)
        view('expand', tensor.expand, x, (2,) + x.sizes)
        view('expand', tensor.expand, x, (-1,) * len(x.sizes))
        case('size', lambda x, *a: x.size(*a), x)
        case('size', lambda x, *a: x.size(*a), x, -1)
        case('dim', lambda x: x.dim(), x)
        case('numel', torch.numel, x)
        case('stride', lambda x, *a: x.stride(*a), x)
        if len(x.sizes) > 1:
            view('getattr', getattr, x, 'mT')
        case('getattr', getattr, x, 'shape')
    x = T((2, 3, 4))
    view('reshape', torch.reshape, x, (6, 4))
    view('reshape', torch.reshape, x, (2, -1, 2))
    view('reshape', torch.reshape, T((0, 3)), (3, 0))
    view('reshape', torch.reshape, T(()), (1, 1))
    view('reshape', torch.reshape, T((2, 3, 4), strides=(24, 8, 1)), (6, 4))
    view('reshape', torch.reshape, T((2, 3, 4), strides=(24, 8, 1)), (2, 12))
    fail('reshape', torch.reshape, T((2, 3)), (4,))
    fail('reshape', torch.reshape, T((2, 3)), (2, 5))
    fail('reshape', torch.reshape, T((2, 3)), (-1, -1))
    fail('reshape', torch.reshape, T((2, 3)), (-2, 3))
    fail('reshape', torch.reshape, T((2, 3)), (-1, 4))
    fail('reshape', torch.reshape, T((0,)), (-1, 0))
    view('reshape_as', tensor.reshape_as, T((2, 6)), T((3, 4)))
    view('view', tensor.view, T((2, 6)), (3, -1))
    view('view', tensor.view, T((2, 3, 4), strides=(1, 8, 2)), (2, 12))
    view('view', tensor.view, T((4,), 'float32'), torch.int32)
    fail('view', tensor.view, T((4, 3), strides=(1, 4)), (12,))
    fail('view', tensor.view, T((4, 3)), (5,))
    view('view_as', tensor.view_as, T((2, 6)), T((3, 4)))
    view('flatten', torch.flatten, x, 1)
    view('flatten', torch.flatten, x, 0, 1)
    view('flatten', torch.flatten, T(()))
    view('flatten', torch.flatten, T((2, 3, 4), strides=(1, 2, 6)), 1)
    fail('flatten', torch.flatten, x, 2, 1)
    view('unflatten', torch.unflatten, x, 2, (2, 2))
    view('unflatten', torch.unflatten, x, -1, (-1, 2))
    view('unflatten', torch.unflatten, T((4, 6), strides=(1, 4)), 1, (3, 2))
    fail('unflatten', torch.unflatten, x, 2, (3, 2))
    view('permute', torch.permute, x, (2, 0, 1))
    view('permute', torch.permute, x, (-1, -2, -3))
    fail('permute', torch.permute, x, (0, 1))
    fail('permute', torch.permute, x, (0, 1, 1))
    view('transpose', torch.transpose, T(()), 0, -1)
    fail('transpose', torch.transpose, x, 0, 3)
    view('t', torch.t, T((3, 4)))
    view('t', torch.t, T((3,)))
    fail('t', torch.t, x)
    view('getattr', getattr, T((3, 4)), 'T')
    case('getattr', getattr, x, 'dtype')
    case('getattr', getattr, x, 'ndim')
    view('movedim', torch.movedim, x, (0, 1), (2, 0))
    view('expand', tensor.expand, T((3, 1)), (3, 4))
    view('expand', tensor.expand, T((1, 3)), (2, -1, 3))
    view('expand', tensor.expand, T((1, 3)), (1, 1, 3))
    view('expand', tensor.expand, T(()), (2, 3))
    view('expand', tensor.expand, T((1,)), (0,))
    fail('expand', tensor.expand, T((2, 3)), (2, 4))
    fail('expand', tensor.expand, T((2, 3)), (-1, 2, 3))
    view('expand_as', tensor.expand_as, T((1, 3)), T((4, 3)))
    view('squeeze', torch.squeeze, T((1, 3, 1, 2)))
    view('squeeze', torch.squeeze, T((1, 3, 1, 2)), 2)
    view('squeeze', torch.squeeze, T((1, 3, 1, 2)), (0, 1))
    fail('squeeze', torch.squeeze, T((1, 3)), 2)
    view('unsqueeze', torch.unsqueeze, T(()), 0)
    fail('unsqueeze', torch.unsqueeze, T((2, 3)), 3)
    view('as_strided', torch.as_strided, T((2, 3)), (3, 2), (1, 2))
    view('as_strided', torch.as_strided, T((2, 3)), (2, 2), (1, 1), 3)
    view('diagonal', torch.diagonal, T((3, 4)))
    view('diagonal', torch.diagonal, T((3, 4)), 1)
    view('diagonal', torch.diagonal, T((3, 4)), -2)
    view('diagonal', torch.diagonal, T((3, 4)), 7)
    view('diagonal', torch.diagonal, x, 0, 0, 2)
    fail('diagonal', torch.diagonal, x, 0, 1, 1)
    fail('select', torch.select, T((2, 3)), 1, 5)
    fail('select', torch.select, T(()), 0, 0)
    fail('slice', torch.ops.aten.slice.Tensor, T((2, 3)), 0, 0, 2, 0)
    fail('narrow', torch.narrow, T((3,)), 0, 1, 4)
    view('narrow', torch.narrow, T((5,)), 0, -2, 2)
    view('split', torch.split, T((6, 2)), [2, 1, 3])
    view('split', torch.split, T((2, 6)), [2, 4], 1)
    view('split', torch.split, T((5, 2)), 2)
    view('split', torch.split, T((0, 2)), 2)
    fail('split', torch.split, T((6, 2)), [2, 3])
    fail('split', torch.split, T((6, 2)), -1)
    fail('split', torch.split, T((6, 2)), 0)
    view('chunk', torch.chunk, T((5, 2)), 3)
    view('chunk', torch.chunk, T((0, 2)), 3)
    view('chunk', torch.chunk, T((2, 2)), 5)
    fail('chunk', torch.chunk, T((5, 2)), 0)
    view('unbind', torch.unbind, T((2, 3)), 1)
    get = tensor.__getitem__
    view('getitem', get, x, (1, slice(None), 2))
    view('getitem', get, x, (slice(None, None, 3), slice(5, 1), 0))
    view('getitem', get, x, Ellipsis)
    view('getitem', get, x, None)
    view('getitem', get, T(()), None)
    view('getitem', get, T(()), Ellipsis)
    fail('getitem', get, x, 2)
    fail('getitem', get, x, (0, 0, 0, 0))
    fail('getitem', get, x, (0, -4))
    fail('getitem', get, T(()), 0)
    fail('getitem', get, x, slice(None, None, -1))
    case('getitem', get, x, [0, 1])
    case('getitem', get, x, L([1, 0, 1]))
    case('getitem', get, x, (0, L([[2, 0], [1, -1]])))
    case('getitem', get, x, (slice(None), L([2, 0]), slice(1, 3)))
    case('getitem', get, x, (L([1, 0]), slice(None), L([3, 2])))
    case('getitem', get, x, (Ellipsis, L([3, 2, 0])))
    case('getitem', get, x, (L([[0], [1]]), L([2, 0])))
    case('getitem', get, T((3, 4)), L([True, False, True], 'bool'))
    case('getitem', get, T((2, 2)), L([[True, False], [True, True]], 'bool'))
    fail('getitem', get, x, L([2]))


def shape_ops():
    a, b = T((2, 3)), T((2, 3), offset=10)
    for name in ALL:
        case('cat', torch.cat, [T((2, 3), name), T((1, 3), name, 9)])
        case('flip', torch.flip, T((2, 3), name), (1,))
        case('tril', torch.tril, T((3, 4), name))
        case('triu', torch.triu, T((3, 4), name), 1)
    case('cat', torch.cat, [a, b], 1)
    case('cat', torch.cat, [a, b], -1)
    case('cat', torch.cat, [a, T((0, 3)), T((0,)), b])
    case('cat', torch.cat, [T((0,)), a])
    case('cat', torch.cat, [a, T((2, 3), 'float64')])
    case('cat', torch.cat, [T((2, 3), 'int64'), T((2, 3), 'float16')])
    case('cat', torch.cat, [T((3, 2), strides=(1, 3)), T((3, 1))], 1)
    fail('cat', torch.cat, [a, T((2, 4))])
    fail('cat', torch.cat, [a, T((2, 3, 1))])
    fail('cat', torch.cat, [a, b], 2)
    case('stack', torch.stack, [a, b])
    case('stack', torch.stack, [a, b], -1)
    case('stack', torch.stack, [T(()), T((), offset=1)])
    fail('stack', torch.stack, [a, T((3,))])
    repeat = torch.Tensor.repeat
    for x in layouts():
        case('repeat', repeat, x, (2,) + (1,) * (len(x.sizes) - 1))
        case('repeat', repeat, x, (3, 1) + (2,) * (len(x.sizes) - 1))
        case('repeat_interleave', torch.repeat_interleave, x, 3)
        case('repeat_interleave', torch.repeat_interleave, x, 2, 0)
        case('flip', torch.flip, x, (0, -1) if len(x.sizes) > 1 else (0,))
        case('roll', torch.roll, x, 1)
        case('roll', torch.roll, x, -2, 0)
    case('repeat', repeat, a, (1, 1))
    case('repeat', repeat, a, (0, 2))
    case('repeat', repeat, T(()), (3,))
    fail('repeat', repeat, a, (2,))
    case('flip', torch.flip, a, ())
    case('roll', torch.roll, T((3, 4)), (1, -3), (0, 1))
    for d in range(-3, 4):
        case('tril', torch.tril, T((3, 4)), d)
        case('triu', torch.triu, T((2, 3, 4)), d)
    case('masked_select', torch.masked_select, T((2, 3)),
         L([[True, False, True], [False, False, True]], 'bool'))
    case('masked_select', torch.masked_select, T((2, 3)),
         L([True, False, True], 'bool'))
    for name in ['float32', 'float16', 'int64', 'bool']:
        case('pad', F.pad, T((2, 3), name), (1, 2))
    case('pad', F.pad, a, (1, 2, 0, 1), 'constant', 7.0)
    case('pad', F.pad, a, (-1, 0), 'constant', 7.0)
    case('pad', F.pad, a, (2, -1, -1, 2))
    case('pad', F.pad, a, (0, 0))
    fail('pad', F.pad, a, (1, 2, 3))
    image = T((1, 2, 4, 5))
    for mode in ['reflect', 'replicate', 'circular']:
        case('pad', F.pad, image, (1, 2, 3, 0), mode)
        case('pad', F.pad, T((1, 2, 5)), (2, 1), mode)
    case('constant_pad_nd', torch.constant_pad_nd, a, (1, 0, 0, 2), 3)


def contractions():
    for name in ALL:
        if name != 'bool':
            case('matmul', torch.matmul, T((3, 4), name), T((4, 5), name, 17))
    for name in FLOATS + ['int64']:
        case('linear', F.linear, T((3, 4), name), T((5, 4), name, 30),
             T((5,), name, 70))
        case('bmm', torch.bmm, T((2, 3, 4), name), T((2, 4, 5), name, 40))
    for name in FLOATS:
        case('addmm', torch.addmm, T((5,), name, 90), T((3, 4), name),
             T((4, 5), name, 17))
    case('linear', F.linear, T((2, 3, 4)), T((5, 4), offset=30))
    case('linear', F.linear, T((4,)), T((5, 4), offset=30), T((5,), offset=7))
    case('linear', F.linear, T((4,)), T((4,), offset=30))
    case('linear', F.linear, T((3, 4)), T((4,), offset=30))
    case('linear', F.linear, T((4, 3), strides=(1, 4)), T((2, 3), offset=9))
    case('linear', F.linear, T((2, 3, 4), strides=(1, 2, 6)),
         T((5, 4), offset=30, strides=(1, 5)), T((5,), offset=7))
    case('linear', F.linear, T((0, 4)), T((5, 4)), T((5,)))
    case('linear', F.linear, T((3, 0)), T((5, 0)), T((5,)))
    case('linear', F.linear, T((1, 1)), T((1, 1), offset=3), T((1,), offset=5))
    fail('linear', F.linear, T((2, 3)), T((5, 4)))
    fail('linear', F.linear, T((2, 2, 3)), T((5, 4)))
    fail('linear', F.linear, T((2, 3)), T((5, 3), 'float64'))
    fail('linear', F.linear, T((2, 3)), T((5, 3), 'float64'), T((5,)))
    fail('matmul', torch.matmul, T((2, 3)), T((3, 5), 'int16'))
    fail('bmm', torch.bmm, T((2, 3, 3)), T((2, 3, 5), 'int64'))
    fail('addmm', torch.addmm, T((5,), 'float64'), T((2, 3)), T((3, 5)))
    shapes = [((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 4), (4, 5)),
              ((2, 3, 4), (4,)), ((4,), (2, 4, 5)), ((2, 3, 4), (4, 5)),
              ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)),
              ((2, 1, 3, 4), (3, 4, 2)), ((1, 3, 4), (5, 4, 2)),
              ((2, 3, 0), (2, 0, 4)), ((0, 4), (4, 5)), ((1, 1), (1, 1)),
              ((2, 0, 3, 4), (4, 5))]
    for a, b in shapes:
        case('matmul', torch.matmul, T(a), T(b, offset=41))
    case('matmul', torch.matmul, T((4, 3), strides=(1, 4)),
         T((3, 4), offset=20, strides=(1, 3)))
    case('matmul', torch.matmul, T((2, 3, 4), strides=(0, 8, 2)),
         T((2, 4, 3), offset=20, strides=(1, 6, 2)))
    case('matmul', torch.matmul, T((4, 4), 'special_float32'), T((4, 2)))
    fail('matmul', torch.matmul, T((2, 3)), T((4, 5)))
    fail('matmul', torch.matmul, T((2, 3)), T((4,)))
    fail('matmul', torch.matmul, T((3,)), T((4,)))
    fail('matmul', torch.matmul, T((3,)), T((4, 5)))
    fail('matmul', torch.matmul, T(()), T((4, 5)))
    fail('matmul', torch.matmul, T((2, 3, 4)), T((3, 4, 5)))
    fail('matmul', torch.matmul, T((2, 3, 4)), T((2, 3, 5)))
    case('mm', torch.mm, T((3, 4)), T((4, 5), offset=9))
    fail('mm', torch.mm, T((3, 4)), T((3, 5)))
    fail('mm', torch.mm, T((4,)), T((4, 5)))
    fail('bmm', torch.bmm, T((2, 3, 4)), T((2, 3, 5)))
    fail('bmm', torch.bmm, T((3, 4)), T((2, 3, 5)))
    case('addmm', torch.addmm, T((3, 5), offset=80), T((3, 4)),
         T((4, 5), offset=17), beta=0.5, alpha=2)
    case('addmm', torch.addmm, T((3, 1), offset=80), T((3, 4)),
         T((4, 5), offset=17))
    case('addmm', torch.addmm, T((4, 4), 'special_float32'), T((4, 3)),
         T((3, 4)), beta=0)
    case('baddbmm', torch.baddbmm, T((3, 1)), T((2, 3, 4)),
         T((2, 4, 5), offset=30), alpha=0.25)
    case('dot', torch.dot, T((5,)), T((5,), offset=9, strides=(3,)))
    case('dot', torch.dot, T((0,)), T((0,)))
    fail('dot', torch.dot, T((5,)), T((4,)))
    case('mv', torch.mv, T((3, 4)), T((4,), offset=9))
    fail('mv', torch.mv, T((3, 4)), T((3,)))
    case('outer', torch.outer, T((3,)), T((4,), offset=9))
    equations = [('ij,jk->ik', (2, 3), (3, 4)), ('ij,jk', (2, 3), (3, 4)),
                 ('bij,bjk->bik', (2, 3, 4), (2, 4, 5)),
                 ('bhid,bhjd->bhij', (2, 2, 3, 4), (2, 2, 5, 4)),
                 ('ij->ji', (2, 3)), ('ii->i', (3, 3)), ('ii', (3, 3)),
                 ('ij->', (2, 3)), ('ij->j', (2, 3)), ('i,j->ij', (2,), (3,)),
                 ('...ij,...jk->...ik', (2, 3, 4), (4, 5)),
                 ('ij,kj->ki', (2, 3), (4, 3)), ('ij,ij->', (2, 3), (2, 3)),
                 ('i,i', (3,), (3,)), ('ij,jk,kl->il', (2, 3), (3, 4), (4, 2)),
                 ('b n d, e d -> b n e', (2, 3, 4), (5, 4)),
                 ('ijk,k->ij', (2, 3, 4), (4,)), ('ij,ij->ij', (2, 3), (2, 3)),
                 ('iji,j->i', (2, 3, 2), (3,))]
    for equation, *sizes in equations:
        operands = [T(s, offset=11 * i) for i, s in enumerate(sizes)]
        case('einsum', lambda e, *t: torch.einsum(e.replace('_', ' '), *t),
             equation, *operands)
    fail('einsum', torch.einsum, 'ij,jk->ik', T((2, 3)))


def convolutions():
    x = T((2, 4, 7), offset=3)
    w = T((6, 4, 3), offset=60)
    for name in FLOATS:
        case('conv1d', F.conv1d, T((1, 2, 6), name), T((3, 2, 3), name, 40),
             T((3,), name, 90))
        case('conv2d', F.conv2d, T((1, 2, 4, 4), name),
             T((2, 2, 3, 3), name, 40), T((2,), name, 90), 1, 1)
    case('conv1d', F.conv1d, x, w)
    case('conv1d', F.conv1d, x, w, T((6,)), 2, 1)
    case('conv1d', F.conv1d, x, w, None, 1, 2, 2)
    case('conv1d', F.conv1d, x, T((6, 2, 3), offset=60), None, 1, 0, 1, 2)
    case('conv1d', F.conv1d, x, T((4, 1, 3)), T((4,)), 1, 1, 1, 4)
    case('conv1d', F.conv1d, T((4, 7)), w)
    case('conv1d', F.conv1d, T((2, 4, 7), strides=(1, 14, 2)), w)
    case('conv1d', F.conv1d, x, w, None, 1, 'same')
    case('conv1d', F.conv1d, x, T((6, 4, 2), offset=60), None, 1, 'same')
    case('conv1d', F.conv1d, x, w, None, 2, 'valid')
    case('conv1d', F.conv1d, T((0, 4, 7)), w)
    x, w = T((2, 3, 5, 6)), T((4, 3, 3, 2), offset=80)
    case('conv2d', F.conv2d, x, w)
    case('conv2d', F.conv2d, x, w, T((4,)), (2, 1), (1, 2))
    case('conv2d', F.conv2d, x, w, T((4,)), 2, 1, 2)
    case('conv2d', F.conv2d, x, T((3, 1, 3, 3)), None, 1, 1, 1, 3)
    case('conv2d', F.conv2d, x, T((4, 3, 1, 1), offset=9))
    case('conv2d', F.conv2d, x, w, None, 1, 'same', 2)
    case('conv2d', F.conv2d, T((2, 3, 5, 6), strides=(90, 1, 18, 3)), w)
    case('conv2d', F.conv2d, T((3, 5, 6)), w)
    fail('conv2d', F.conv2d, T((2, 2, 5, 6)), w)
    fail('conv2d', F.conv2d, T((2, 3)), w)
    fail('conv2d', F.conv2d, T((2, 3, 2, 2)), w)
    fail('conv2d', F.conv2d, x, w, T((3,)))
    fail('conv2d', F.conv2d, x, w, None, 2, 'same')
    case('conv3d', F.conv3d, T((1, 2, 3, 4, 3)), T((2, 2, 2, 2, 2), offset=50),
         T((2,)), 1, 1)
    case('conv_transpose1d', F.conv_transpose1d, T((2, 4, 5)),
         T((4, 3, 3), offset=50), T((3,)), 2, 1, 1)
    w = T((3, 4, 3, 2), offset=80)
    case('conv_transpose2d', F.conv_transpose2d, x, w)
    case('conv_transpose2d', F.conv_transpose2d, x, w, T((4,)), 2, 1, (1, 0))
    case('conv_transpose2d', F.conv_transpose2d, x, w, None, 1, 1, 0, 1, 2)
    case('conv_transpose2d', F.conv_transpose2d, T((2, 4, 3, 3)),
         T((4, 2, 3, 3), offset=80), None, 2, 0, 0, 2)
    case('conv_transpose2d', F.conv_transpose2d, T((3, 4, 4)), w)
    fail('conv_transpose2d', F.conv_transpose2d, T((2, 4, 5, 6)), w)
    fail('conv_transpose2d', F.conv_transpose2d, x, w, None, 1, 0, 1)
    conv = torch.ops.aten.convolution.default
    case('convolution', conv, x, T((4, 3, 3, 2), offset=80), T((4,)), [1, 2],
         [1, 0], [1, 1], False, [0, 0], 1)
    case('convolution', conv, x, w, None, [2, 2], [1, 1], [1, 1], True, [1, 1],
         1)


def pools():
    x = T((2, 3, 6, 7))
    for name in FLOATS:
        case('max_pool2d', F.max_pool2d, T((1, 2, 4, 4), name), 2)
        case('avg_pool2d', F.avg_pool2d, T((1, 2, 4, 4), name), 2)
        case('adaptive_avg_pool2d', F.adaptive_avg_pool2d,
             T((1, 2, 4, 4), name), (1, 1))
    case('max_pool2d', F.max_pool2d, T((1, 2, 4, 4), 'int64'), 2)
    for args in [(2,), (3, 2), (3, 1, 1), ((3, 2), (2, 1), (1, 0)),
                 (2, 2, 0, 2), (3, 2, 1, 2)]:
        case('max_pool2d', F.max_pool2d, x, *args)
        case('max_pool2d_with_indices', lambda x, *a, **k: F.max_pool2d(
            x, *a, return_indices=True), x, *args)
        case('max_pool2d', F.max_pool2d, x, *args, ceil_mode=True)
        if len(args) < 4:
            case('avg_pool2d', F.avg_pool2d, x, *args)
            case('avg_pool2d', F.avg_pool2d, x, *args, ceil_mode=True)
            case('avg_pool2d', F.avg_pool2d, x, *args, ceil_mode=True,
                 count_include_pad=False)
            case('avg_pool2d', F.avg_pool2d, x, *args, divisor_override=5)
    case('max_pool2d', F.max_pool2d, T((3, 6, 7)), 2)
    case('max_pool2d', F.max_pool2d, T((1, 2, 4, 4), strides=(32, 1, 8, 2)), 2)
    case('max_pool2d', F.max_pool2d, T((1, 1, 4, 4), 'special_float32'), 2)
    case('max_pool2d', F.max_pool2d, T((0, 2, 4, 4)), 2)
    fail('max_pool2d', F.max_pool2d, T((1, 2, 4, 4)), 2, 2, 2)
    fail('max_pool2d', F.max_pool2d, T((1, 2, 2, 2)), 3)
    case('max_pool1d', F.max_pool1d, T((2, 3, 7)), 3, 2, 1)
    case('avg_pool1d', F.avg_pool1d, T((2, 3, 7)), 3, 2, 1)
    case('max_pool3d', F.max_pool3d, T((1, 2, 4, 3, 4)), 2, 1)
    case('avg_pool3d', F.avg_pool3d, T((1, 2, 4, 3, 4)), 2, 1, 1)
    for size in [(1, 1), (2, 3), (4, 5), (6, 7), (3, 1), 2, (None, 4), (7, 8)]:
        case('adaptive_avg_pool2d', F.adaptive_avg_pool2d, x, size)
        case('adaptive_max_pool2d', F.adaptive_max_pool2d, x, size)
    case('adaptive_avg_pool2d', F.adaptive_avg_pool2d, T((3, 6, 7)), 2)
    case('adaptive_avg_pool1d', F.adaptive_avg_pool1d, T((2, 3, 7)), 3)
    case('adaptive_max_pool1d', F.adaptive_max_pool1d, T((2, 3, 7)), 3)
    for mode in ['nearest', 'nearest-exact', 'bilinear']:
        for size in [(3, 4), (12, 14), (6, 7), (9, 5), (1, 1)]:
            case('interpolate', F.interpolate, x, size, mode=mode)
        case('interpolate', F.interpolate, x, None, 2, mode)
        case('interpolate', F.interpolate, x, None, (0.7, 1.6), mode)
    case('interpolate', F.interpolate, x, (9, 5), mode='bilinear',
         align_corners=True)
    case('interpolate', F.interpolate, T((2, 3, 7)), 5, mode='linear')
    case('interpolate', F.interpolate, T((2, 3, 7), 'float16'), 5,
         mode='linear')


def gathers():
    w = T((6, 4))
    for name in ALL:
        case('embedding', F.embedding, L([[1, 5], [0, 1]]), T((6, 4), name))
        case('index_select', torch.index_select, T((3, 4), name), 1,
             L([3, 0, 0]))
        case('gather', torch.gather, T((3, 4), name), 1, L([[0, 3], [2, 2]]))
    case('embedding', F.embedding, L(2), w)
    case('embedding', F.embedding, L([3, 1], 'int32'), w)
    case('embedding', F.embedding, L([3, 0, 1]), w, 0)
    case('embedding', F.embedding, L([3, 0]), T((6, 4), strides=(1, 6)))
    case('embedding', F.embedding, L([]), w)
    fail('embedding', F.embedding, L([6]), w)
    fail('embedding', F.embedding, L([-1]), w)
    case('aten_embedding', torch.embedding, w, L([1, 2]))
    case('index_select', torch.index_select, T((2, 3, 4)), 0, L([1, 1, 0]))
    case('index_select', torch.index_select, T((2, 3, 4)), -1, L([1, 3]))
    case('index_select', torch.index_select,
         T((2, 3, 4), strides=(1, 2, 6)), 1, L([2, 0]))
    case('index_select', torch.index_select, T((3, 4)), 0, L([]))
    case('index_select', torch.index_select, T((3, 4)), 0, L([2], 'int32'))
    fail('index_select', torch.index_select, T((3, 4)), 0, L([3]))
    fail('index_select', torch.index_select, T((3, 4)), 2, L([0]))
    case('gather', torch.gather, T((3, 4)), 0, L([[0, 2, 1], [1, 0, 0]]))
    case('gather', torch.gather, T((3, 4), strides=(1, 3)), 0, L([[0, 2]]))
    case('gather', torch.gather, T((3,)), 0, L([2, 2, 1, 0]))
    fail('gather', torch.gather, T((3, 4)), 1, L([[4]]))
    case('take_along_dim', torch.take_along_dim, T((3, 4)), L([[0], [3], [1]]),
         1)
    case('take_along_dim', torch.take_along_dim, T((3, 4)), L([[0, 3]]), 1)
    case('take_along_dim', torch.take_along_dim, T((3, 4)), L([0, 11, 5]))
    index = torch.ops.aten.index.Tensor
    case('index', index, T((2, 3, 4)), [None, L([2, 0])])
    case('index', index, T((2, 3, 4)), [L([1, 0]), None, L([0, 3])])
    case('index', index, T((2, 3, 4)), [L([[1], [0]]), L([0, 2])])
    case('index', index, T((2, 3)), [L([[True, False, True],
                                        [False, True, True]], 'bool')])
    fail('index', index, T((2, 3)), [L([2])])
    for name in ['float32', 'int64', 'float16']:
        case('scatter', torch.scatter, T((3, 4), name), 1, L([[0, 2], [3, 1]]),
             T((2, 2), name, 40))
        case('scatter_add', torch.scatter_add, T((3, 4), name), 0,
             L([[0, 2, 0, 1], [0, 2, 1, 1]]), T((2, 4), name, 40))
    case('scatter', torch.scatter, T((3, 4)), 0, L([[2, 1]]), 5.0)
    fail('scatter', torch.scatter, T((3, 4)), 0, L([[3, 1]]), 5.0)
    case('one_hot', F.one_hot, L([0, 2, 1]))
    case('one_hot', F.one_hot, L([[0, 2], [1, 3]]), 5)
    fail('one_hot', F.one_hot, L([0, 2]), 2)
    fail('one_hot', F.one_hot, L([-1]), 2)


def attentions():
    f = F.scaled_dot_product_attention
    row = 'scaled_dot_product_attention'
    q, k, v = T((2, 2, 3, 4)), T((2, 2, 5, 4), offset=31), \
        T((2, 2, 5, 4), offset=77)
    for name in FLOATS:
        case(row, f, T((1, 2, 3, 4), name), T((1, 2, 5, 4), name, 31),
             T((1, 2, 5, 4), name, 77))
    case(row, f, q, k, v, scale=0.3)
    case(row, f, q, k, v, is_causal=True)
    case(row, f, q, q, q, is_causal=True)
    case(row, f, q, k, v, T((3, 5), offset=100))
    case(row, f, q, k, v, T((2, 1, 1, 5), offset=100))
    mask = [[True, False, True, True, False], [False] * 5, [True] * 5]
    case(row, f, q, k, v, L(mask, 'bool'))
    case(row, f, q, k, v, L([[[mask[0]]], [[mask[2]]]], 'bool'))
    case(row, f, T((3, 4)), T((5, 4), offset=31), T((5, 4), offset=77))
    case(row, f, T((2, 3, 4)), T((2, 5, 4), offset=31),
         T((2, 5, 4), offset=77))
    case(row, f, T((2, 2, 3, 4), strides=(24, 4, 8, 1)), k, v)
    case(row, f, T((1, 4, 3, 4)), T((1, 2, 5, 4), offset=31),
         T((1, 2, 5, 4), offset=77), enable_gqa=True)
    case(row, f, T((1, 1, 1, 1)), T((1, 1, 1, 1)), T((1, 1, 1, 1)))
    fail(row, f, q, k, v, T((3, 5), 'int64'))


def creations():
    for name in ALL:
        dtype = getattr(torch, name)
        case('zeros', torch.zeros, (2, 3), dtype=dtype)
        case('ones', torch.ones, (2, 3), dtype=dtype)
        case('full', torch.full, (2, 3), 3, dtype=dtype)
    case('zeros', torch.zeros, 3)
    case('zeros', torch.zeros, 2, 3)
    case('zeros', torch.zeros, ())
    case('ones', torch.ones, (0, 2))
    case('full', torch.full, (2,), 1.5)
    case('full', torch.full, (2,), 7)
    case('full', torch.full, (2,), True)
    case('full', torch.full, (2,), 2 ** 60 + 1)
    fail('zeros', torch.zeros, (2, -1))
    fail('ones', torch.ones, (2, -1))
    fail('full', torch.full, (2, -1), 1.0)
    case('new_zeros', torch.Tensor.new_zeros, T((2,), 'float16'), (2, 3))
    case('new_ones', torch.Tensor.new_ones, T((2,), 'int32'), (2, 3))
    case('new_full', torch.Tensor.new_full, T((2,), 'int32'), (2, 3), 4)
    case('arange', torch.arange, 5)
    case('arange', torch.arange, 0)
    case('arange', torch.arange, 2, 9, 3)
    case('arange', torch.arange, 9, 2, -3)
    case('arange', torch.arange, 0, 1, 0.25)
    case('arange', torch.arange, 1.5, 4.2)
    case('arange', torch.arange, 5, dtype=torch.float16)
    case('arange', torch.arange, 0, 5, 2, dtype=torch.int32)
    fail('arange', torch.arange, 5, 2)
    fail('arange', torch.arange, 0, 2, 0)
    case('eye', torch.eye, 3)
    case('eye', torch.eye, 2, 4)
    case('eye', torch.eye, 3, 2, dtype=torch.int64)
    case('linspace', torch.linspace, 0, 1, 5)
    case('linspace', torch.linspace, -2.0, 3.0, 8)
    case('linspace', torch.linspace, 1, 2, 1)
    case('linspace', torch.linspace, 1, 2, 0)


def main():
    for family in (reductions, softmax_norms, views, shape_ops, contractions,
                   convolutions, pools, gathers, attentions, creations):
        family()
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        'structured_reference.txt')
    with open(path, 'w') as out:
        for name, data in POOLS.items():
            raw = data.view(torch.uint8).numpy().tobytes()
            out.write('pool %s %s %s\n' % (
                name, str(data.dtype).replace('torch.', ''), encode(raw)))
        out.write('\n'.join(dict.fromkeys(lines)) + '\n')
    print('%d cases, %d bytes' % (len(lines), os.path.getsize(path)))


if __name__ == '__main__':
    main()
