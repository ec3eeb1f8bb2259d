"""Writes elementwise_reference.txt: PyTorch's results for every elementwise row.

Run with a Python that has torch 2.13:  python tests/ops/make_reference.py [OP...]

With names of ops only their lines are made anew: PyTorch rounds some functions
differently from CPU to CPU, which no change should hold.

Lines of the file:
  pool DTYPE BASE64            elements from which all inputs are views
  case OP ARG... -> DTYPE SIZES BASE64
An ARG is t:DTYPE:OFFSET:SIZES:STRIDES (a view of the dtype's pool), i:INT,
f:FLOAT, b:BOOL, s:TEXT, d:DTYPE or none; KEY=ARG passes it by keyword.
"""

import base64
import os
import sys

import torch
import torch.nn.functional as F

import aliasing

NAN, INF = float('nan'), float('inf')
FLOATS = ['float32', 'float64', 'float16', 'bfloat16']
INTS = ['int8', 'uint8', 'int16', 'int32', 'int64']
ALL = FLOATS + INTS + ['bool']

FLOAT_POOL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.5, -7.25, NAN, INF,
              -INF, 1e-3, -1e-3, 12.0, -20.0, 0.3, 1.75, -0.9, 4.0, -3.0, 7.0,
              -6.5, 0.1, 2.0, -1.25, 30.0, 0.75, 1.5]
INT_POOL = [0, 1, -1, 2, -2, 3, 5, -7, 100, -100, 4, 7, 12, -13, 6, 1, 2, 3, 9,
            -5, 8, -3, 1, 10, 2, 3, -6, 11, 4, 5]
POOLS = {}
for name in ALL:
    dtype = getattr(torch, name)
    values = FLOAT_POOL if name in FLOATS else INT_POOL
    if name == 'uint8':
        values = [abs(v) for v in values]
    POOLS[name] = torch.tensor(values, dtype=torch.float64).to(dtype)

A, B = 0, 8  # Offsets of first and second operands.


class View:
    def __init__(self, dtype, offset=A, sizes=(4, 5), strides=None):
        self.dtype, self.offset, self.sizes = dtype, offset, tuple(sizes)
        if strides is None:
            strides = torch.empty(self.sizes, device='meta').stride()
        self.strides = tuple(strides)

    def view(self):
        return torch.as_strided(POOLS[self.dtype], self.sizes, self.strides,
                                self.offset)

    def tensor(self):
        return self.view().clone(memory_format=torch.preserve_format)

    def text(self):
        return 't:%s:%d:%s:%s' % (self.dtype, self.offset,
                                  ','.join(map(str, self.sizes)),
                                  ','.join(map(str, self.strides)))


def arg_text(value):
    if isinstance(value, View):
        return value.text()
    if value is None:
        return 'none'
    if isinstance(value, bool):
        return 'b:' + str(value)
    if isinstance(value, int):
        return 'i:%d' % value
    if isinstance(value, float):
        return 'f:' + repr(value)
    if isinstance(value, str):
        return 's:' + value
    if isinstance(value, torch.dtype):
        return 'd:' + str(value).split('.')[1]
    raise TypeError(value)


def real(value):
    return value.tensor() if isinstance(value, View) else value


def laid_out(value):
    return value.view() if isinstance(value, View) else value


def dtype_name(dtype):
    return str(dtype).split('.')[1]


def encode(tensor):
    data = tensor.contiguous().flatten().view(torch.uint8)
    return base64.b64encode(bytes(data.tolist())).decode() or '-'


lines = ['pool %s %s' % (name, encode(POOLS[name])) for name in ALL]
refused = []


def case(op, fn, *args, **kwargs):
    try:
        result = fn(*[real(a) for a in args],
                    **{k: real(v) for k, v in kwargs.items()})
    except (RuntimeError, TypeError, NotImplementedError) as error:
        refused.append('%s %s' % (op, error))
        return
    words = [op] + [arg_text(a) for a in args]
    words += ['%s=%s' % (k, arg_text(v)) for k, v in kwargs.items()]
    text = ' '.join(words)
    aliasing.note(op, text, fn, map(laid_out, args),
                  {k: laid_out(v) for k, v in kwargs.items()})
    sizes = ','.join(map(str, result.shape)) or '()'
    lines.append('case %s -> %s %s %s' % (
        text, dtype_name(result.dtype), sizes, encode(result)))


# Shapes of a single operand: transposed, stepped, broadcast, size 1, 0-d, empty.
SHAPES = [((5, 4), (1, 5)), ((3, 4), (9, 2)), ((4, 5), (0, 1)), ((1, 1), None),
          ((), None), ((0, 3), None)]


def unary(op, fn, *rest, dtypes=ALL, **kwargs):
    for dtype in dtypes:
        case(op, fn, View(dtype, sizes=(30,)), *rest, **kwargs)
    for sizes, strides in SHAPES:
        case(op, fn, View(dtypes[0], 0, sizes, strides), *rest, **kwargs)


PAIRS = [('float32', 'int64'), ('float16', 'float32'), ('float16', 'bfloat16'),
         ('int32', 'float16'), ('uint8', 'int8'), ('int16', 'int64'),
         ('bool', 'int32'), ('float64', 'float32')]
NUMBERS = [2, 0.5, -3, True]


def binary(op, fn, dtypes=ALL, numbers=NUMBERS, left_numbers=False, **kwargs):
    for dtype in dtypes:
        case(op, fn, View(dtype), View(dtype, B), **kwargs)
    for a, b in PAIRS:
        case(op, fn, View(a), View(b, B), **kwargs)
    first = dtypes[0]
    case(op, fn, View(first, A, (4, 1, 5)), View(first, B, (3, 1)), **kwargs)
    case(op, fn, View(first, A, (5, 4), (1, 5)), View(first, B, (4,), (2,)),
         **kwargs)
    case(op, fn, View(first, A, ()), View(first, B, (2, 3)), **kwargs)
    case(op, fn, View(first, A, (0, 5)), View(first, B, (1, 5)), **kwargs)
    case(op, fn, View('float32', A, (3,)), View('float64', B, ()), **kwargs)
    case(op, fn, View('int32', A, (3,)), View('float64', B, ()), **kwargs)
    for number in numbers:
        for dtype in ['float32', 'float16', 'int32', 'int64', 'bool']:
            if op == 'pow' and dtype == 'float16' and number == -0.5:
                continue  # PyTorch's f16 differs from its f32 at -0.0.
            case(op, fn, View(dtype, A, (5,)), number, **kwargs)
            if left_numbers:
                case(op, fn, number, View(dtype, A, (5,)), **kwargs)


def inplace(op, dtypes=('float32', 'int32'), rest=(), **kwargs):
    def fn(x, *args, **kw):
        return getattr(x, op)(*args, **kw)
    for dtype in dtypes:
        case(op, fn, View(dtype), *rest, **kwargs)
    case(op, fn, View('float32', A, (5, 4), (1, 5)), *rest, **kwargs)


# Arithmetic.
binary('add', torch.add)
binary('add', torch.add, dtypes=['float32', 'int32'], numbers=[], alpha=3)
binary('sub', torch.sub)
binary('sub', torch.sub, dtypes=['float32', 'int32'], numbers=[], alpha=3)
binary('rsub', torch.rsub)
binary('mul', torch.mul)
binary('div', torch.div)
for mode in ['trunc', 'floor']:
    binary('div', torch.div, dtypes=FLOATS, rounding_mode=mode,
           numbers=[2, 0.5, -3])
    for dtype in INTS:
        case('div', torch.div, View(dtype), 3, rounding_mode=mode)
        case('div', torch.div, View(dtype, A, (8,)), View(dtype, 12, (8,)),
             rounding_mode=mode)
for op, fn in [('floor_divide', torch.floor_divide),
               ('remainder', torch.remainder), ('fmod', torch.fmod)]:
    binary(op, fn, dtypes=FLOATS, numbers=[2, 0.5, -3])
    for dtype in INTS:
        for divisor in [3, -4, 1, -1]:
            if divisor > 0 or dtype != 'uint8':
                case(op, fn, View(dtype, sizes=(30,)), divisor)
        case(op, fn, View(dtype, A, (8,)), View(dtype, 12, (8,)))
binary('pow', torch.pow, dtypes=FLOATS,
       numbers=[2, 3, 0.5, -0.5, -1, -2, 1, 0, 1.5, -1.5], left_numbers=True)
for dtype in INTS:
    case('pow', torch.pow, View(dtype, A, (8,)), View(dtype, 8, (8,)))
unary('neg', torch.neg)
unary('positive', torch.positive)
unary('abs', torch.abs)
unary('sign', torch.sign)
unary('reciprocal', torch.reciprocal)
unary('square', torch.square)
unary('sqrt', torch.sqrt)
unary('rsqrt', torch.rsqrt)
for dtype in FLOATS:
    for weight in [0.25, 0.75, 1.0, View(dtype, 10, (4, 5))]:
        case('lerp', torch.lerp, View(dtype), View(dtype, B), weight)
for op, fn in [('addcmul', torch.addcmul), ('addcdiv', torch.addcdiv)]:
    for dtype in FLOATS + INTS:
        x = View(dtype, A, (4, 5)), View(dtype, B, (5,)), View(dtype, 2, (4, 1))
        case(op, fn, *x)
        case(op, fn, *x, value=2)
        case(op, fn, *x, value=0.5)

# Bounds and rounding.
for op in ['minimum', 'maximum']:
    binary(op, getattr(torch, op), numbers=[])
for low, high in [(-1, 2), (0.5, None), (None, 1.5), (2, -2), (0, 6)]:
    unary('clamp', torch.clamp, low, high)
case('clamp', torch.clamp, View('float32'), View('float32', B, (5,)), None)
case('clamp', torch.clamp, View('float32'), View('float32', B, (5,)),
     View('float32', 15, (4, 1)))
unary('clamp_min', torch.clamp_min, 0.5)
unary('clamp_min', torch.clamp_min, 1)
unary('clamp_max', torch.clamp_max, 1)
for op in ['floor', 'ceil', 'round', 'trunc', 'frac']:
    unary(op, getattr(torch, op))
unary('round', torch.round, decimals=1, dtypes=['float32', 'float64'])
unary('round', torch.round, decimals=-1, dtypes=['float32', 'float64'])

# Smooth functions.
for op in ('exp exp2 expm1 log log2 log10 log1p erf erfc sin cos tan asin acos '
           'atan sinh cosh asinh acosh atanh').split():
    unary(op, getattr(torch, op))

# Activations.
unary('relu', torch.relu)
unary('sigmoid', torch.sigmoid)
unary('tanh', torch.tanh)
for op in 'relu6 hardsigmoid hardswish mish silu selu'.split():
    unary(op, getattr(F, op))
unary('hardtanh', F.hardtanh)
unary('hardtanh', F.hardtanh, -2.0, 0.5)
unary('leaky_relu', F.leaky_relu)
unary('leaky_relu', F.leaky_relu, 0.2)
unary('elu', F.elu)
unary('elu', F.elu, 0.7)
unary('celu', F.celu)
unary('celu', F.celu, 0.7)
unary('softplus', F.softplus)
unary('softplus', F.softplus, 2.0, 3.0)
unary('log_sigmoid', F.logsigmoid)
# oneDNN's f32 kernel gives NaN at infinity where PyTorch's own gives infinity.
with torch.backends.mkldnn.flags(enabled=False):
    unary('gelu', F.gelu)
    unary('gelu', F.gelu, approximate='tanh')
unary('softsign', F.softsign, dtypes=FLOATS)
unary('tanhshrink', F.tanhshrink, dtypes=FLOATS)
unary('hardshrink', F.hardshrink)
unary('hardshrink', F.hardshrink, 1.5)
unary('softshrink', F.softshrink)
unary('softshrink', F.softshrink, 1.5)
unary('threshold', F.threshold, 0.5, 20.0, dtypes=FLOATS)
case('prelu', F.prelu, View('float32'), View('float32', 17, (1,)))
case('prelu', F.prelu, View('float32', A, (2, 3, 4)),
     View('float32', 17, (3,)))

# Comparisons, predicates and logic.
for op in ['eq', 'ne', 'lt', 'le', 'gt', 'ge']:
    binary(op, getattr(torch, op))
for op in ['isnan', 'isinf', 'isfinite', 'logical_not']:
    unary(op, getattr(torch, op))
for op in ['logical_and', 'logical_or', 'logical_xor']:
    binary(op, getattr(torch, op), numbers=[])
for op in ['bitwise_and', 'bitwise_or', 'bitwise_xor']:
    binary(op, getattr(torch, op), dtypes=INTS + ['bool'], numbers=[2, -3, True])
unary('bitwise_not', torch.bitwise_not, dtypes=INTS + ['bool'])
for op in ['bitwise_left_shift', 'bitwise_right_shift']:
    binary(op, getattr(torch, op), dtypes=INTS, numbers=[2, 0, 5])

# Choice and filling.
for dtype in ALL:
    case('where', torch.where, View('bool'), View(dtype), View(dtype, B))
case('where', torch.where, View('bool', A, (4, 1)), View('float32', A, (5,)),
     View('float16', B, (4, 5)))
case('where', torch.where, View('bool', A, (5,)), View('int32', A, (5,)), 0.5)
case('where', torch.where, View('bool', A, (5,)), 1, View('int16', A, (5,)))
case('where', torch.where, View('bool', A, (5,)), 1.5, -INF)
case('where', torch.where, View('bool', A, (0,)), 1.5, 2)
case('where_method', lambda x, c, y: x.where(c, y), View('float32'),
     View('bool'), 0.5)
for dtype in ALL:
    case('masked_fill', torch.masked_fill, View(dtype), View('bool', 3, (5,)),
         1)
for value in [-INF, 0.5, NAN]:
    case('masked_fill', torch.masked_fill, View('float32', A, (5,)),
         View('bool', 3, (4, 5)), value)
case('masked_fill', torch.masked_fill, View('float16'), View('bool', 3, (5,)),
     View('float32', 2, ()))
for dtype in ALL:
    case('full_like', torch.full_like, View(dtype, A, (3,)), 1)
    case('zeros_like', torch.zeros_like, View(dtype, A, (3,)))
    case('ones_like', torch.ones_like, View(dtype, A, (3,)))
case('full_like', torch.full_like, View('int32', A, (3,)), 2.5,
     dtype=torch.float16)
case('full_like', torch.full_like, View('float32', A, (0, 2)), 2.5)
case('ones_like', torch.ones_like, View('float32', A, (3, 2)),
     dtype=torch.int64)

for op in ['tril', 'triu']:
    for dtype in ALL:
        case(op, getattr(torch, op), View(dtype))
    for diagonal in [-2, 1, 7]:
        case(op, getattr(torch, op), View('float32', A, (2, 3, 4)), diagonal)
    case(op, getattr(torch, op), View('float32', A, (5, 4), (1, 5)), diagonal=1)
    case(op, getattr(torch, op), View('float32', A, (0, 3)))

# torch.special, beyond what has names of its own.
# PyTorch computes some in half precision, which is worth little, and trigamma
# with errors of 1e-9.
special = torch.special
COARSE = ['special_ndtr', 'special_i0e', 'special_i1e']
for op, fn in [('special_erfcx', special.erfcx), ('special_ndtr', special.ndtr),
               ('special_ndtri', special.ndtri),
               ('special_log_ndtr', special.log_ndtr), ('i0', torch.i0),
               ('special_i0e', special.i0e), ('special_i1', special.i1),
               ('special_i1e', special.i1e), ('special_entr', special.entr)]:
    unary(op, fn, dtypes=FLOATS[:2] + INTS + ['bool'] if op in COARSE else ALL)
for op, fn in [('special_xlog1py', special.xlog1py),
               ('special_zeta', special.zeta)]:
    binary(op, fn, left_numbers=True)
for n in [0, 2, 3]:
    for dtype in FLOATS[:2] + INTS[:1]:
        case('polygamma', torch.polygamma, n, View(dtype, sizes=(30,)))
    case('polygamma', lambda x, n: x.polygamma(n),
         View('float32', 0, (5, 4), (1, 5)), n)
case('polygamma', torch.polygamma, 1, View('float32', 22, (8,)))
case('polygamma', lambda x, n: x.polygamma(n),
     View('float32', 22, (2, 4), (1, 2)), 1)
case('polygamma', torch.polygamma, 1, View('float32', 0, (0, 3)))
for p in [1, 2, 4]:
    for dtype in FLOATS[:2]:
        case('mvlgamma', torch.mvlgamma, View(dtype, 25, (1, 5)), p)
    case('mvlgamma', torch.mvlgamma, View('float32', 15, (2, 1), (3, 1)), p)

# Casts and copies. NaN and infinities to integers are unspecified: left out.
for source in ALL:
    for target in ALL:
        offset = 13 if source in FLOATS and target not in FLOATS else 0
        if source in FLOATS and target == 'uint8':
            offset = 24
        sizes = (4,) if offset == 24 else (8,)
        case('cast', torch.ops.prims.convert_element_type.default,
             View(source, 0 if target == 'bool' else offset, sizes),
             getattr(torch, target))
unary('clone', torch.clone)
for op in ('float double half bfloat16 char short int long bool').split():
    case(op, lambda x: getattr(x, op)(), View('float32', 13, (3,)))
case('byte', lambda x: x.byte(), View('int32', 2, (3,)))
case('to', lambda x, d: x.to(d), View('float32', 13, (3,)), torch.float16)
case('to', lambda x, d: x.to(d), View('float32', 13, (3,)), View('int64', 2, ()))
case('to', lambda x, dtype: x.to(dtype=dtype), View('float32', 13, (3,)),
     dtype=torch.float64)
case('_to_copy', torch.ops.aten._to_copy.default, View('float32', 13, (3,)))
case('_to_copy', torch.ops.aten._to_copy.default, View('float32', 13, (3,)),
     dtype=torch.int32)
case('type_as', lambda x, y: x.type_as(y), View('float32', 13, (3,)),
     View('int64', 2, (2,)))
unary('contiguous', lambda x: x.contiguous(), dtypes=['float32'])
unary('detach', lambda x: x.detach(), dtypes=['float32'])
unary('dropout', F.dropout, training=False, dtypes=['float32'])

# In-place methods.
for op in ['add_', 'sub_', 'mul_']:
    inplace(op, rest=[2])
    inplace(op, rest=[View('float32', B, (1,))], dtypes=['float32', 'float16'])
inplace('div_', rest=[2], dtypes=['float32'])
for op in ['floor_divide_', 'remainder_', 'fmod_']:
    inplace(op, rest=[3])
inplace('pow_', rest=[2])
for op in ('neg_ abs_ reciprocal_ square_ sqrt_ rsqrt_ floor_ ceil_ round_ '
           'trunc_ frac_ exp_ log_ sin_ cos_ relu_ sigmoid_ tanh_ '
           'zero_').split():
    inplace(op)
for op in ('acos_ acosh_ asin_ asinh_ atan_ atanh_ sinh_ cosh_ sinc_ deg2rad_ '
           'rad2deg_ lgamma_ digamma_ erfinv_ i0_').split():
    inplace(op, dtypes=['float32', 'float64'])
for op in 'atan2_ hypot_ copysign_ xlogy_ logical_xor_'.split():
    inplace(op, rest=[View('float32', B, (1,))], dtypes=['float32'])
inplace('lerp_', rest=[View('float32', B, (1,)), 0.25], dtypes=['float32'])
for op in ['addcmul_', 'addcdiv_']:
    inplace(op, rest=[View('float32', B, (1,)), View('float32', 2, (1,))],
            dtypes=['float32'])
inplace('clamp_', rest=[-1, 2])
inplace('clamp_min_', rest=[1])
inplace('clamp_max_', rest=[1])
for op in ['bitwise_and_', 'bitwise_or_', 'bitwise_xor_']:
    inplace(op, rest=[3], dtypes=['int32'])
inplace('bitwise_not_', dtypes=['int32'])
inplace('masked_fill_', rest=[View('bool', 3, (1,)), 0.5], dtypes=['float32'])
inplace('copy_', rest=[View('int32', 3, (1,))])
inplace('fill_', rest=[3])


# Quantised tensors, as ONNX defines them: quotients rounded half to even.
def quantize(x, scale, zero_point, low, high, dtype):
    return (torch.round(x.float() / scale) + zero_point).clamp(low, high).to(dtype)


def dequantize(x, scale, zero_point=None):
    return (x.float() if zero_point is None else x.float() - zero_point) * scale


for stored, low, high in (('uint8', 0, 255), ('int8', -128, 127), ('uint8', 0, 15)):
    for scale, zero in ((View('float32', 4, ()), View(stored, 6, ())),
                        (View('float32', 13, (5,)), View(stored, 3, (5,))),
                        (View('float32', 13, (4, 1)), View(stored, 6, (4, 1)))):
        case('fxjit.dequantize', dequantize, View(stored), scale, zero)
        case('fxjit.dequantize', dequantize, View(stored, A, (4, 5), (1, 4)), scale)
        for x in (View('float32', 13, (4, 5), (0, 1)), View('int32'),
                  View('float16', 13, (4, 5), (0, 1)), View('float32', 13, (4, 5), (1, 3))):
            case('fxjit.quantize', quantize, x, scale, zero, low, high,
                 getattr(torch, stored))
for sizes in ((), (0, 3), (1, 1)):
    case('fxjit.dequantize', dequantize, View('int8', 3, sizes), View('float32', 4, ()))
    case('fxjit.quantize', quantize, View('float32', 3, sizes), View('float32', 4, ()),
         View('uint8', 6, ()), 0, 255, torch.uint8)


def main():
    global lines, refused
    path = os.path.join(os.path.dirname(__file__), 'elementwise_reference.txt')
    wanted = sys.argv[1:]
    unknown = set(wanted) - {line.split()[1] for line in lines}
    if unknown:
        sys.exit('no case of ' + ', '.join(sorted(unknown)))
    if wanted:
        with open(path) as old:
            committed = {line.split(' -> ')[0]: line.rstrip('\n') for line in old}
        lines = [line if line.split()[1] in wanted else
                 committed.get(line.split(' -> ')[0], line) for line in lines]
        refused = [text for text in refused if text.split()[0] in wanted]
    with open(path, 'w') as out:
        out.write('\n'.join(lines) + '\n')
    print('%d cases, %d refused by PyTorch' % (len(lines) - len(ALL), len(refused)))
    for text in refused:
        print('  ', text.split('\n')[0][:150])


if __name__ == '__main__':
    main()
