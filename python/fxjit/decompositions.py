"""ATen functions in terms of functions that fxjit has, where PyTorch's rules leave them whole."""

import functools
import struct
import sys

import torch

aten = torch.ops.aten


def table():
    """{overload: function of the same arguments}."""
    return {**_of_lists(), **_RULES, **_of_dynamic_quantisation()}


def _of_dynamic_quantisation():
    """What torch.ao runs for its own functions, if something has defined them.

    Where it asks for numbers of a tensor, a rule of our own does not.
    """
    module = sys.modules.get("torch.ao.quantization.fx._decomposed")
    if module is None:
        return {}
    ops = torch.ops.quantized_decomposed
    return {ops.choose_qparams.tensor: _scale_and_zero,
            ops.choose_qparams_symmetric.tensor: _symmetric_scale,
            ops.choose_qparams_per_token.default: module.choose_qparams_per_token,
            ops.choose_qparams_per_token_asymmetric.default:
                module.choose_qparams_per_token_asymmetric,
            ops.quantize_per_token.default: module.quantize_per_token,
            ops.dequantize_per_token.default: module.dequantize_per_token}


def _bounds(x):
    low, high = torch.aminmax(x)
    return low.clamp(max=0), high.clamp(min=0)


def _scale_and_zero(x, least, greatest, eps, dtype):
    low, high = _bounds(x)
    scale = ((high - low) / float(greatest - least)).clamp(min=eps).reshape(1)
    zero = least - torch.round(low / scale).to(torch.int32)
    return scale.to(torch.float64), zero.clamp(least, greatest).to(torch.int64)


def _symmetric_scale(x, least, greatest, eps, dtype):
    low, high = _bounds(x)
    scale = (torch.maximum(-low, high) / (float(greatest - least) / 2)).clamp(min=eps).reshape(1)
    zero = torch.full((1,), 128 if dtype == torch.uint8 else 0, dtype=torch.int64)
    return scale.to(torch.float64), zero


@functools.cache
def _of_lists():
    """PyTorch's functions on lists do one on each."""
    return {overload: functools.partial(_on_each, overload)
            for overload in map(_overload, torch._C._jit_get_all_schemas())
            if overload is not None and _is_on_lists(overload)}


def _overload(schema):
    if not schema.name.startswith("aten::_foreach_"):
        return None
    packet = getattr(aten, schema.name.removeprefix("aten::"))
    return getattr(packet, schema.overload_name or "default")


def _is_on_lists(overload):
    schema = overload._schema
    # Factors in one tensor would have to be known when the graph is made.
    return (not schema.is_mutable and hasattr(aten, _name_of_one(overload))
            and all(argument.name != "scalars" or "Tensor" not in str(argument.type)
                    for argument in schema.arguments))


def _name_of_one(overload):
    name = overload._schema.name.removeprefix("aten::_foreach_")
    bounds = {"minimum": "clamp_max", "maximum": "clamp_min"}
    if overload._overloadname != "List":
        name = bounds.get(name, name)
    return {"norm": "linalg_vector_norm"}.get(name, name)


def _on_each(overload, *args, **kwargs):
    name = _name_of_one(overload)
    if name in ("addcmul", "addcdiv") and len(args) > 3:
        *args, kwargs["value"] = args
    one = getattr(aten, name)

    def item(arg, i):
        return arg[i] if isinstance(arg, (list, tuple)) else arg
    lists = [arg for arg in args if isinstance(arg, (list, tuple))]
    return [one(*(item(arg, i) for arg in args), **{k: item(v, i) for k, v in kwargs.items()})
            for i in range(len(lists[0]))]


def _nextafter(x, y):
    x, y = torch.broadcast_tensors(x, y)
    bits = {2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    x, y = x.contiguous(), y.contiguous()
    places = x.view(bits)
    # Away from zero the integers with a float's bits grow.
    moved = torch.where((y > x) == (x > 0), places + 1, places - 1)
    least = torch.where(y > 0, 1, torch.iinfo(bits).min + 1).to(bits)
    stepped = torch.where(x == 0, least, moved).view(x.dtype)
    return torch.where(x.isnan() | y.isnan(), x + y, torch.where(x == y, y, stepped))


def _put(x, index, source, accumulate=False):
    if not x.is_contiguous():
        return NotImplemented  # The result has the argument's strides.
    return aten.index_put(x.view(-1), [index.reshape(-1)], source.reshape(-1), accumulate).view(x.shape)


def _as_strided_scatter(x, source, size, stride, storage_offset=None):
    if not x.is_contiguous():
        return NotImplemented
    first = 0 if storage_offset is None else storage_offset - x.storage_offset()
    places = torch.full([1] * len(size), first)
    for d, (count, step) in enumerate(zip(size, stride, strict=True)):
        line = torch.arange(count) * step
        places = places + line.view([-1 if d == i else 1 for i in range(len(size))])
    return aten.index_put(x.view(-1), [places.reshape(-1)],
                          source.expand(size).reshape(-1)).view(x.shape)


def _single(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def _quantized(x, scale, zero_point, least, greatest):
    """(numbers, whether each is inside of the bounds)."""
    if isinstance(scale, float):
        scale = _single(scale)
        inverse = _single(1 / scale)
    else:
        inverse = scale.reciprocal()
    places = zero_point + (x * inverse).round()
    steps, inside = _steps(places, least, greatest)
    # An infinity is beyond the bounds here, though it is no integer's.
    steps = torch.where(places > greatest, greatest, steps)
    return (steps - zero_point).to(x.dtype) * scale, inside


def _steps(places, least, greatest):
    whole = places.long()
    return whole.clamp(least, greatest), (whole >= least) & (whole <= greatest)


def _quantized_channels(x, scale, zero_point, axis, least, greatest):
    sizes = [-1 if d == axis % x.dim() else 1 for d in range(x.dim())]
    scale, zero_point = scale.view(sizes), zero_point.view(sizes)
    steps, inside = _steps(zero_point + (x * scale.reciprocal()).round(), least, greatest)
    return (steps - zero_point).to(x.dtype) * scale, inside


def _quantized_where_enabled(x, scale, zero_point, enabled, least, greatest):
    numbers, inside = _quantized(x, scale, zero_point, least, greatest)
    return torch.where(enabled != 0, numbers, x), torch.where(enabled != 0, inside, True)


_RULES = {
    aten.nextafter.default: _nextafter,
    aten.put.default: _put,
    aten.fake_quantize_per_tensor_affine_cachemask.default: _quantized,
    aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default:
        _quantized_where_enabled,
    aten.fake_quantize_per_channel_affine_cachemask.default: _quantized_channels,
}

# PyTorch's rules for these raise errors by calls that tokens order.
WHOLE = {aten.linalg_lu_factor.default, aten.linalg_ldl_factor.default}

# For programs. Their results are not placed by what PyTorch would have copied (see places.py), and
# of a loaded one PyTorch does not know the shapes of what its own functions of fake quantisation
# call.
OF_PROGRAMS = {
    aten.as_strided_scatter.default: _as_strided_scatter,
    aten.fake_quantize_per_tensor_affine.default: lambda *args: _quantized(*args)[0],
    aten.fake_quantize_per_tensor_affine.tensor_qparams: lambda *args: _quantized(*args)[0],
    aten.fake_quantize_per_channel_affine.default: lambda *args: _quantized_channels(*args)[0],
}
