"""How results lie in memory, and what sees it: beside PyTorch's eager functions, by all ways."""

import math

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from places import Call, same, tensors_of  # noqa: E402
from torch.nn import functional as F  # noqa: E402

LAST = torch.channels_last


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


def permuted(x):
    """The same numbers with the first dim innermost, as none of torch's formats has it."""
    return x.permute(1, 3, 2, 0).contiguous().permute(3, 0, 2, 1)


LAYOUTS = {
    "dense": lambda x: x.clone(),
    "permuted": permuted,
    "channels last": lambda x: x.contiguous(memory_format=LAST),
    "expanded": lambda x: x[:, :1].expand_as(x),
    "offset": lambda x: torch.cat([x[:1], x])[1:],
}
WEIGHT, BIAS = torch.linspace(-1, 1, 4 * 4 * 9).view(4, 4, 3, 3), torch.linspace(-1, 1, 4)
SQUARE = torch.linspace(-1, 1, 36).view(6, 6)
PLACES = torch.tensor([3, 0, 2])
FUNCTIONS = {
    "elementwise": lambda x: (x + 1, x.exp(), x * x, torch.where(x > 0, x, 2.), x.clamp(-1, 1),
                              F.gelu(x), F.relu(x), x > 0, x.to(torch.float64), -x, x.abs(),
                              torch.maximum(x, x * 2), F.softplus(x), F.hardtanh(x), x ** 2),
    "broadcast": lambda x: (x + BIAS.view(4, 1, 1), BIAS.view(4, 1, 1) * x, x + x[:1], x[:, :1] - x,
                            torch.atan2(x, BIAS.view(4, 1, 1))),
    "two orders": lambda x: (x + x.contiguous(), x.contiguous() * x, torch.where(x > 0, x, x.mT),
                             x.mT + x, torch.addcmul(x, x.mT, x)),
    "reductions": lambda x: (x.sum(1), x.sum((2, 3), True), x.mean(-1), x.amax(0), x.argmax(1),
                             x.max(1).values, x.var(1), x.logsumexp(2), x.prod(3), x.any(2),
                             x.norm(dim=1), x.cumsum(1), x.cumprod(3), x.cummax(2).values),
    "softmax": lambda x: (x.softmax(1), x.log_softmax(-1), x.softmax(0), F.normalize(x)),
    "sorting": lambda x: (*x.sort(dim=1, stable=True), x.topk(2, 1).values, x.kthvalue(2, 1).values),
    "norms": lambda x: (F.layer_norm(x, (6,)), F.group_norm(x, 2), F.instance_norm(x),
                        F.batch_norm(x, BIAS, BIAS.abs() + 1), F.rms_norm(x, (6,))),
    "convolutions": lambda x: (F.conv2d(x, WEIGHT, BIAS), F.conv2d(x, WEIGHT, padding=1),
                               F.conv_transpose2d(x, WEIGHT), F.conv2d(x, WEIGHT[:, :1], groups=4),
                               F.conv2d(x, WEIGHT[:, :, :1, :1]),
                               F.conv2d(x, WEIGHT.contiguous(memory_format=LAST), stride=2)),
    "pooling": lambda x: (F.max_pool2d(x, 2), F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, 1),
                          F.adaptive_avg_pool2d(x, 3), *F.max_pool2d(x, 2, return_indices=True),
                          F.lp_pool2d(x, 2., 2)),
    "images": lambda x: (F.interpolate(x, scale_factor=2.), F.pixel_shuffle(x, 2),
                         F.interpolate(x, size=(9, 7), mode="bilinear"), F.pixel_unshuffle(x, 2),
                         F.pad(x, (1, 2, 0, 1)), F.pad(x, (1, 1, 1, 1), mode="reflect"),
                         F.pad(x, (1, 1, 1, 1), mode="circular"), F.unfold(x, 2),
                         F.channel_shuffle(x, 2)),
    "products": lambda x: (x @ SQUARE, SQUARE @ x, F.linear(x, SQUARE), x @ x.mT, x.mT @ x,
                           torch.einsum("bchw,bcwk->bchk", x, x), torch.einsum("bchw->bwhc", x),
                           torch.bmm(x[0], x[1])),
    "rearranging": lambda x: (torch.cat([x, x], 1), x.flip(1), x.repeat(1, 2, 1, 1),
                              x.roll(1, 1), x.tril(), x.reshape(2, -1), x.flatten(1), x.mT.reshape(2, -1),
                              x.permute(0, 2, 3, 1).contiguous(), x.repeat_interleave(2, 1),
                              x.contiguous(), x.clone(), x.mT.clone(), x.rot90(1, (2, 3)), x.diag_embed()),
    "stacking": lambda x: (*(torch.stack([x, x * 2], d) for d in range(5)), torch.stack([x], 1),
                           torch.stack([x, x.contiguous()]), torch.stack([x[:, :1], x[:, :1]], 1),
                           torch.hstack([x, x]), torch.dstack([x, x]), torch.stack([x[0], x[0]], 1)),
    "picking": lambda x: (x[:, PLACES], x[PLACES % 2], x[..., PLACES], x.index_select(1, PLACES),
                          x.gather(1, x.argsort(1)), F.embedding(PLACES, SQUARE), x[:, PLACES, :, PLACES],
                          x.index_fill(1, PLACES, 0.), x.index_add(1, PLACES, x[:, :3]),
                          x.masked_fill(x > 0, 1.), x.scatter(1, x.argsort(1), x),
                          x.index_put((PLACES % 2,), x[:1]), x.select_scatter(x[:, 0], 1, 2)),
    "formats": lambda x: (x.contiguous(memory_format=LAST), x.clone(memory_format=LAST),
                          x.to(memory_format=LAST), x.to(torch.float64, memory_format=LAST),
                          x.clone(memory_format=torch.contiguous_format),
                          (x + 1).contiguous(memory_format=LAST) * 2,
                          torch.empty_like(x, memory_format=LAST).fill_(1),
                          torch.ones_like(x), torch.zeros_like(x, memory_format=LAST),
                          torch.full_like(x, 2.), x.new_ones(2, 3)),
    "attention": lambda x: (F.scaled_dot_product_attention(x, x, x),
                            F.scaled_dot_product_attention(x.transpose(1, 2), x.transpose(1, 2),
                                                           x.transpose(1, 2)).transpose(1, 2)),
}


def laid(tensor):
    """Strides of the dims that have several elements."""
    return [stride for stride, size in zip(tensor.stride(), tensor.shape) if size > 1]


def check(got, expected, note):
    for i, (ours, theirs) in enumerate(zip(tensors_of(got), tensors_of(expected), strict=True)):
        torch.testing.assert_close(ours, theirs, msg=lambda text: f"{note} {i}: {text}")
        assert laid(ours) == laid(theirs), (note, i, ours.stride(), theirs.stride())


def by_export(function, args):
    return fxjit.compile(Call(function).eval(), args)


def by_torch(function, args):
    return torch.compile(function, backend="fxjit")


WAYS = [by_torch, by_export]


def groups(names, size):
    """Names that are compiled together, each function of an input of its own."""
    names = list(names)
    return [names[i:i + size] for i in range(0, len(names), size)]


def check_layouts(way, functions, layouts):
    """Functions by name, compiled as one, for tensors that lie in each of the layouts."""
    def together(*inputs):
        return [function(x) for function, x in zip(functions.values(), inputs, strict=True)]

    inputs = torch.randn(len(functions), 2, 4, 6, 6)
    compiled = None
    for layout in layouts:
        args = [LAYOUTS[layout](x) for x in inputs]
        if compiled is None or way is not by_torch:
            compiled = way(together, tuple(args))
        got = compiled(*(LAYOUTS[layout](x) for x in inputs))
        for name, ours, theirs in zip(functions, got, together(*args), strict=True):
            check(ours, theirs, f"{name}, {layout}")


@pytest.mark.parametrize("names", groups(FUNCTIONS, 4), ids=", ".join)
@pytest.mark.parametrize("way", WAYS)
def test_results_lie_as_those_of_pytorch(way, names):
    check_layouts(way, {name: FUNCTIONS[name] for name in names},
                  ("dense", "permuted", "channels last", "expanded"))


@torch.library.custom_op("fxjit_tests::strides_of", mutates_args=())
def strides_of(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor([*x.stride(), x.storage_offset()])


strides_of.register_fake(lambda x: torch.empty(x.dim() + 1, dtype=torch.int64))


def seen(tensor):
    """What depends on the order of a tensor in memory."""
    return (tensor.as_strided((3, 4), (5, 1)), strides_of(tensor),
            tensor.as_strided((tensor.numel(),), (1,)))


SEEING = {
    "contiguous": lambda x: seen((x + 1).contiguous()),
    "channels last": lambda x: seen((x + 1).contiguous(memory_format=LAST)),
    "of an input": lambda x: seen(x.contiguous(memory_format=LAST)),
    "contiguous of an input": lambda x: seen(x.contiguous()),
    "clone": lambda x: seen(x.clone()),
    "clone in a format": lambda x: seen(x.clone(memory_format=LAST)),
    "permuted": lambda x: seen(x.permute(0, 2, 3, 1).contiguous()),
    "permuted back": lambda x: seen(x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)),
    "elementwise": lambda x: seen(x * 2),
    "of a view": lambda x: seen((x + 1).transpose(1, 2)),
    "convolution": lambda x: seen(F.conv2d(x, WEIGHT)),
    "pooling": lambda x: seen(F.max_pool2d(x, 2)),
    "cat": lambda x: seen(torch.cat([x, x], 1)),
    "complex": lambda x: torch.view_as_real(torch.view_as_complex(
        x.unflatten(3, (3, 2)).contiguous()) * 2),
    "written": lambda x: (y := (x + 1).contiguous(memory_format=LAST),
                          y.as_strided((4,), (3,)).fill_(7.), y + 1)[::2],
    "flat": lambda x: (x.permute(0, 2, 3, 1).contiguous().view(-1)[3:9] + 1,
                       x.contiguous(memory_format=LAST).permute(0, 2, 3, 1).reshape(-1)[2:7] * 2),
}


def another_type(x):
    return (x.permute(0, 2, 3, 1).contiguous().view(torch.int32) + 1,
            (x + 1).contiguous(memory_format=LAST).view(torch.int32) + 1,
            (x * 2).view(torch.int16), x.contiguous().view(torch.int64))


def by_file(function, args):
    import os
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.pt2")
        torch.export.save(torch.export.export(Call(function).eval(), args), path)
        return fxjit.load(path)


@pytest.mark.parametrize("names", groups(SEEING, 5), ids=", ".join)
@pytest.mark.parametrize("way", [by_torch, by_export, by_file])
def test_what_sees_strides_sees_those_of_pytorch(way, names):
    check_layouts(way, {name: SEEING[name] for name in names},
                  ("dense", "channels last", "permuted", "offset"))


@pytest.mark.parametrize("way", [by_torch, by_export, by_file])
def test_numbers_of_another_type_are_those_of_pytorch(way):
    """PyTorch has none for other strides."""
    check_layouts(way, {"another type": another_type}, ("dense",))


VOLUME = torch.linspace(-1, 1, 4 * 4 * 27).view(4, 4, 3, 3, 3)


@pytest.mark.parametrize("sizes", [(1, 4, 5, 6, 7), (2, 4, 5, 6, 7), (1, 4, 80, 70, 4)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_volumes_that_are_filtered_lie_as_those_of_pytorch(sizes, dtype):
    def function(x):
        return F.conv3d(x, VOLUME.to(x.dtype), padding=1), F.conv3d(x, VOLUME[:, :2].to(x.dtype),
                                                                    groups=2)
    x = torch.linspace(-1, 1, math.prod(sizes), dtype=dtype).view(sizes)
    for given in (x, x.contiguous(memory_format=torch.channels_last_3d)):
        check(by_export(function, (given,))(given), function(given), sizes)


MADE = {
    "zeros": lambda x: x.new_empty_strided((2, 3), (1, 2)).zero_(),
    "full": lambda x: x.new_empty_strided((2, 3), (1, 2)).fill_(2.) + 1,
    "several": lambda x: (x.new_empty_strided((2, 3), (1, 2)).zero_(), x + 1,
                          torch.zeros_like(x.new_zeros(3, 2).t())),
}


@pytest.mark.parametrize("name", MADE)
def test_what_is_made_of_no_input_is_compiled(name):
    x = torch.randn(4)
    model = by_export(MADE[name], (x,))
    check(model(x), MADE[name](x), name)
    assert model.report().native
