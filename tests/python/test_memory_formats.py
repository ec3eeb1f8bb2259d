"""Orders of memory inside a graph, where a later call sees strides, and of results."""

import fxjit
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
from test_borders import Call, same  # noqa: E402


@pytest.fixture(autouse=True)
def fresh():
    torch.manual_seed(0)
    torch._dynamo.reset()
    with torch.no_grad():
        yield


LAST, LAST_3D = torch.channels_last, torch.channels_last_3d
PLAIN, KEPT = torch.contiguous_format, torch.preserve_format

# Calls that ask for an order of memory, of an image.
ORDERED = {
    "contiguous": lambda x: x.contiguous(),
    "contiguous last": lambda x: x.contiguous(memory_format=LAST),
    "contiguous plain": lambda x: x.contiguous(memory_format=PLAIN),
    "clone": lambda x: x.clone(),
    "clone last": lambda x: x.clone(memory_format=LAST),
    "clone plain": lambda x: x.clone(memory_format=PLAIN),
    "clone kept": lambda x: x.clone(memory_format=KEPT),
    "permute": lambda x: x.permute(0, 2, 3, 1).contiguous(),
    "permute back": lambda x: x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2),
    "transpose": lambda x: x.transpose(1, 3).contiguous(memory_format=LAST),
    "to last": lambda x: x.to(memory_format=LAST),
    "to plain": lambda x: x.to(memory_format=PLAIN),
    "to double last": lambda x: x.to(torch.float64, memory_format=LAST).float(),
    "to copy last": lambda x: x.to(torch.float32, copy=True, memory_format=LAST),
    "float plain": lambda x: x.double().float(memory_format=PLAIN),
    "zeros_like": lambda x: torch.zeros_like(x) + x,
    "ones_like last": lambda x: torch.ones_like(x, memory_format=LAST),
    "full_like plain": lambda x: torch.full_like(x, 2., memory_format=PLAIN),
    "results": lambda x: (x.sin() * 2).contiguous(memory_format=LAST),
    "convolution": lambda x: torch.nn.functional.conv2d(x, torch.ones(4, 4, 1, 1)),
    "convolution plain": lambda x: torch.nn.functional.conv2d(
        x, torch.ones(4, 4, 1, 1)).contiguous(),
}

# What sees strides.
SEEING = {
    "as it is": lambda y: y,
    "as_strided": lambda y: y.as_strided((3, 2), (2, 1)) + 1,
    "as_strided, later": lambda y: y.as_strided((2, 3), (3, 1), 2) * 2 if y.storage_offset() == 0
    else y,
    "another type": lambda y: y.view(torch.int32) + 1,
    "wider": lambda y: y.view(torch.int64) + 1 if y.stride(-1) == 1 else y,
    "complex": lambda y: torch.view_as_complex(y.unflatten(-1, (-1, 2))).abs()
    if y.stride(-1) == 1 else y,
    "strides": lambda y: y * float(y.stride(1)),
    "is_contiguous": lambda y: y + float(y.is_contiguous()) + 2. * y.is_contiguous(
        memory_format=LAST),
    "a view or a copy": lambda y: (z := y + 0, z.reshape(-1).mul_(2), z)[2],
    "flattened": lambda y: y.flatten(1),
    "rolled": lambda y: y.roll(1, 2),
}

IMAGE = torch.arange(2. * 4 * 2 * 6).reshape(2, 4, 2, 6)
INPUTS = {
    "plain": IMAGE,
    "last": IMAGE.contiguous(memory_format=LAST),
    "permuted": IMAGE.permute(2, 1, 0, 3),
    "expanded": IMAGE[:, :, :1].expand(2, 4, 2, 6),
    "one channel": IMAGE[:, :1].repeat(1, 4, 1, 1)[:, :4],
    "one place": torch.arange(2. * 4 * 6).reshape(2, 4, 1, 6),
}


def ways(function, x):
    yield torch.compile(function, backend="fxjit")
    yield fxjit.compile(Call(function).eval(), (x,))


@pytest.mark.parametrize("layout", INPUTS)
@pytest.mark.parametrize("name", ORDERED)
def test_what_sees_strides(name, layout):
    for seeing in SEEING.values():
        def function(x, seeing=seeing):
            return seeing(ORDERED[name](x))
        x = INPUTS[layout]
        try:
            expected = function(x)
        except RuntimeError:
            continue  # Not of such strides.
        torch._dynamo.reset()
        for fast in ways(function, x):
            same(fast(x), expected)


def test_formats_of_other_ranks():
    volume, line = torch.randn(2, 3, 4, 5, 6), torch.randn(2, 3, 4)

    def last_3d(x):
        return x.contiguous(memory_format=LAST_3D), torch.empty_like(x, memory_format=LAST_3D) * 0
    for fast in ways(last_3d, volume):
        same(fast(volume), last_3d(volume))

    def empty(x):
        return x + torch.empty(2, 3, 4, 5, memory_format=LAST).zero_().sum()
    for fast in ways(empty, line):
        same(fast(line), empty(line))
    with pytest.raises(Exception, match="rank 4"):
        torch.compile(lambda x: x.contiguous(memory_format=LAST), backend="fxjit")(line)


def test_new_tensors_with_strides():
    def function(x):
        return (x.new_empty_strided((2, 3), (1, 2)).zero_(),
                torch.empty_strided((2, 3), (1, 2)).fill_(3) + x,
                x.new_empty_strided((2, 1, 3), (1, 7, 2)).zero_(),
                torch.empty_permuted((2, 3), (1, 0)).zero_())
    x = torch.ones(2, 3)
    for fast in ways(function, x):
        same(fast(x), function(x))


# Results of torch.compile lie as PyTorch's own: an op of each kind of layout.
OPS = {
    "add": lambda x: x + 1, "with number first": lambda x: 1 - x, "sin": torch.sin,
    "where": lambda x: torch.where(x > 3, x, 0.), "cast": lambda x: x.double(),
    "sum": lambda x: x.sum(1), "sum kept": lambda x: x.sum((2, 3), keepdim=True),
    "softmax": lambda x: x.softmax(1), "cumsum": lambda x: x.cumsum(1),
    "cat": lambda x: torch.cat([x, x], 1), "stack": lambda x: torch.stack([x, x], 1),
    "pad": lambda x: torch.nn.functional.pad(x, (1, 1)), "roll": lambda x: x.roll(1, 2),
    "flip": lambda x: x.flip(3), "sort": lambda x: x.sort(1)[0], "topk": lambda x: x.topk(2, 1)[0],
    "index_select": lambda x: x.index_select(1, torch.tensor([1, 0])),
    "index": lambda x: x[:, torch.tensor([1, 0])], "gather": lambda x: x.gather(1, x.long() % 2),
    "max_pool": lambda x: torch.nn.functional.max_pool2d(x, 2),
    "avg_pool": lambda x: torch.nn.functional.avg_pool2d(x, 2),
    "interpolate": lambda x: torch.nn.functional.interpolate(x, scale_factor=2.),
    "batch_norm": lambda x: torch.nn.functional.batch_norm(x, torch.zeros(4), torch.ones(4)),
    "group_norm": lambda x: torch.nn.functional.group_norm(x, 2),
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, (6,)),
    "matmul": lambda x: x @ x.transpose(2, 3), "tril": lambda x: x.tril(),
    "repeat": lambda x: x.repeat(1, 2, 1, 1), "clamp": lambda x: x.clamp(1, 5),
    "masked_fill": lambda x: x.masked_fill(x > 5, 0.), "pixel_shuffle":
    lambda x: torch.nn.functional.pixel_shuffle(x, 2), "unfold": lambda x: x.unfold(3, 2, 2),
    "diagonal": lambda x: x.diagonal(0, 2, 3), "index_add":
    lambda x: x.index_add(1, torch.tensor([0]), x[:, :1]), "scatter":
    lambda x: x.scatter(1, x.long() % 4, x), "argmax": lambda x: x.argmax(1),
    "rand": lambda x: torch.rand_like(x) * 0, "convolution": ORDERED["convolution"],
}


@pytest.mark.parametrize("layout", INPUTS)
@pytest.mark.parametrize("name", OPS)
def test_results_lie_as_pytorchs(name, layout):
    x = INPUTS[layout]
    function = OPS[name]
    expected = function(x)
    for fast in ways(function, x):
        got = fast(x)
        assert got.stride() == expected.stride() and got.dtype == expected.dtype
        torch.testing.assert_close(got, expected)
