"""Calls with PyTorch's tensors."""

import subprocess
import sys

import fxjit
import pytest
from cases import case_of, close, path_of

torch = pytest.importorskip("torch", reason="PyTorch is not installed here")


def test_gives_tensors_for_tensors():
    inputs, answers = case_of("resnet")
    model = fxjit.load(path_of("resnet"))
    got = model(torch.from_numpy(inputs["x"]))
    assert isinstance(got, torch.Tensor)
    close(got.numpy(), answers[0])


def test_parameters_are_taken():
    inputs, answers = case_of("resnet")
    x = torch.nn.Parameter(torch.from_numpy(inputs["x"]))
    close(fxjit.load(path_of("resnet"))(x).numpy(), answers[0])


def test_half_types():
    model = fxjit.load(path_of("halves"))
    tensors = {}
    for given in model.inputs:
        tensors[given.name] = torch.ones(given.sizes, dtype=getattr(torch, given.dtype))
    got = model(**tensors)
    leaves = got if isinstance(got, (list, tuple)) else [got]
    assert all(torch.isfinite(leaf).all() for leaf in leaves)


def test_tensors_of_other_devices_are_refused():
    model = fxjit.load(path_of("resnet"))
    with pytest.raises(TypeError):
        model(torch.empty(1, 3, 64, 64, device="meta"))


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
        self.up = torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 16)

    def forward(self, x, *, scale=None):
        y = x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))
        return {"y": y if scale is None else y * scale, "mean": y.mean(-1)}


def test_modules_are_compiled():
    torch.manual_seed(0)
    block = Block().eval()
    rows = torch.export.Dim("rows", min=2, max=100)
    model = fxjit.compile(block, (torch.randn(4, 16),), {"scale": torch.ones(16)},
                          dynamic_shapes={"x": {0: rows}, "scale": None}, threads=1)
    for count in (2, 4, 33):
        x, scale = torch.randn(count, 16), torch.rand(16)
        expected = block.double()(x.double(), scale=scale.double())
        got = model(x, scale=scale)
        assert got.keys() == expected.keys()
        for name, one in got.items():
            close(one.numpy(), expected[name].detach().numpy(), 1e-5)
        block.float()
    with pytest.raises(RuntimeError, match="100"):
        model(torch.randn(101, 16), scale=torch.ones(16))


class Mapped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(4, 4)

    def forward(self, x, weights):
        y = torch.vmap(lambda row, w: self.up(row) * w.sum() + row.softmax(-1))(x, weights)
        return torch.nn.functional.scaled_dot_product_attention(y, y, y)


def test_slices_that_are_mapped(tmp_path):
    torch.manual_seed(0)
    module, inputs = Mapped().eval(), (torch.randn(5, 3, 4), torch.randn(5, 2))
    model = fxjit.compile(module, inputs)
    expected = module.double()(*[one.double() for one in inputs])
    close(model(*inputs).numpy(), expected.detach().numpy(), 1e-5)
    assert "scaled_dot_product_attention" in str(model.graph)
    program, path = torch.export.export(module.float(), inputs), tmp_path / "mapped.pt2"
    torch.export.save(program, path)
    # Taken apart by PyTorch, since that is imported.
    close(fxjit.load(path)(*inputs).numpy(), expected.detach().numpy(), 1e-5)


def test_writes_beside_mapped_slices_are_seen_by_views():
    class Grid(torch.nn.Module):
        def forward(self, x, weights):
            y = torch.vmap(lambda row, w: row * w.sum())(x, weights)
            rows, columns = torch.meshgrid(y[0], weights[0], indexing="ij")
            y.mul_(3)
            return rows + 1, columns + 1
    module, inputs = Grid().eval(), (torch.randn(5, 4), torch.randn(5, 2))
    expected = module(*inputs)
    for ours, theirs in zip(fxjit.compile(module, inputs)(*inputs), expected, strict=True):
        close(ours.numpy(), theirs.numpy(), 1e-5)


def test_modules_in_training_are_refused():
    with pytest.raises(ValueError, match="eval"):
        fxjit.compile(Block(), (torch.randn(4, 16),))


HELD = """
import gc, torch, fxjit
def anon_mib():
    with open("/proc/self/status") as status:
        return next(int(l.split()[1]) for l in status if l.startswith("RssAnon:")) / 1024
def compiled(width):
    layers = [torch.nn.Linear(width, width, bias=False) for _ in range(4)]
    model = fxjit.compile(torch.nn.Sequential(*layers).eval(), (torch.randn(64, width),))
    model(torch.randn(64, width))
    return model
compiled(8)  # What PyTorch needs for any model.
before = anon_mib()
model = compiled(2048)  # 64 MiB.
gc.collect()
print(anon_mib() - before)
"""


def test_weights_are_held_once():
    done = subprocess.run([sys.executable, "-B", "-c", HELD], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.5 * 64


def test_lazy_negations_and_conjugations_are_resolved():
    class Plus(torch.nn.Module):
        def forward(self, x):
            return x + 1

    z = torch.randn(4, 3, dtype=torch.complex64)
    real = z.conj().imag
    assert real.is_neg()
    got = fxjit.compile(Plus().eval(), (real.clone(),))(real)
    torch.testing.assert_close(got, real + 1)
    got = fxjit.compile(Plus().eval(), (z,))(z.conj())
    torch.testing.assert_close(got, z.conj() + 1)


@pytest.mark.parametrize("make", [
    lambda x: x.to_sparse(), lambda x: x.to("meta"),
    lambda x: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
    lambda x: torch.nested.nested_tensor([x, x[:2]]),
    lambda x: torch.nested.nested_tensor([x, x[:2]], layout=torch.jagged)],
    ids=["sparse", "meta", "quantised", "nested", "jagged"])
@pytest.mark.filterwarnings("ignore")
def test_tensors_without_plain_memory_are_refused(make):
    model = fxjit.compile(Block().eval(), (torch.randn(4, 16),))
    with pytest.raises(TypeError, match="argument 0"):
        model(make(torch.randn(4, 16)))
