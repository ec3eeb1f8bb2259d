"""torch's functions and methods: the arguments recorded and the numbers."""

import torch
import torch.nn.functional as F
from torch.fx import symbolic_trace

from mirror import case, fill


def record(m, function, *inputs):
    gm = symbolic_trace(function)
    m.graph(gm)
    m.code(gm)
    m.outputs(gm, *inputs)


@case
def reductions(m):
    def f(x):
        return (
            torch.sum(x), torch.sum(x, 1), torch.sum(x, (0, 2), True),
            torch.mean(x, -1), x.mean(dim=(1, 2)), x.sum(1, keepdim=True),
            torch.prod(x, 2), torch.amax(x, 1), torch.amin(x, (0, 1)),
            x.var(1, correction=0), x.std(-1), torch.logsumexp(x, 1),
            torch.any(x > 0.5, 1), torch.all(x < 2, 2),
        )

    record(m, f, fill([2, 3, 4], 1))


@case
def extremes(m):
    def f(x, y):
        values, indices = torch.max(x, 1)
        low = x.min(dim=0)
        return (values, indices, low[0], torch.argmax(x, 1), x.argmin(-1),
                torch.max(x, y), torch.min(x), torch.cumsum(x, 0))

    record(m, f, fill([3, 4], 1), fill([3, 4], 2))


@case
def views(m):
    def f(x):
        return (
            torch.reshape(x, (4, 6)), x.view(-1, 3), x.permute(2, 0, 1),
            x.transpose(0, 1), torch.flatten(x, 1), x.unsqueeze(-1).squeeze(-1),
            x[:, 1], x[..., ::2], x[None, 0], x.select(1, 2),
            x.narrow(2, 1, 2), x.expand(2, 2, 3, 4), x.contiguous(),
            torch.movedim(x, 0, 2), x.unflatten(2, (2, 2)),
        )

    record(m, f, fill([2, 3, 4], 1))


@case
def pieces(m):
    def f(x, y):
        a, b = torch.split(x, 2, dim=1)
        c, d = x.chunk(2, 0)
        first = y.unbind(0)[0:1][0]
        return (torch.cat([a, b], dim=1), torch.stack((a, b)), c - d, first,
                torch.split(x, [1, 3], 1))

    record(m, f, fill([2, 4], 1), fill([3, 2], 2))


@case
def picking(m):
    def f(x, index, mask):
        return (
            torch.gather(x, 1, index), x.index_select(0, index[0]),
            torch.where(mask, x, -x), x.masked_fill(mask, 9.0),
            torch.tril(x), torch.triu(x, 1), x.flip(0), torch.roll(x, 1, 1),
            x.repeat(2, 1), F.one_hot(index, 4),
        )

    record(m, f, fill([3, 3], 1), fill([3, 3], 2, torch.int64) % 3,
           fill([3, 3], 3, torch.bool))


@case
def pointwise(m):
    def f(x, y):
        return (
            torch.exp(x), torch.log1p(y), y.sqrt(), torch.rsqrt(y), x.sin(),
            torch.cos(x), torch.tanh(x), torch.sigmoid(x), torch.erf(x),
            x.abs(), torch.sign(x), torch.floor(x), x.ceil(), torch.round(x),
            torch.reciprocal(y), torch.square(x), x.neg(), torch.expm1(x),
            torch.atan(x), torch.log(y),
        )

    record(m, f, fill([6], 1), fill([6], 2) + 2)


@case
def pointwise_with_two(m):
    def f(x, y):
        return (
            torch.add(x, y, alpha=2), torch.sub(x, 2, alpha=3),
            torch.div(x, y, rounding_mode="floor"), torch.pow(y, 1.5),
            torch.remainder(x, y), torch.fmod(x, y), torch.minimum(x, y),
            torch.maximum(x, y), torch.lerp(x, y, 0.25),
            torch.clamp(x, -0.5, 0.5), x.clamp(min=0), torch.addcmul(x, y, y),
            torch.addcdiv(x, x, y, value=0.5), torch.rsub(x, y),
            torch.eq(x, y), x.ge(y), torch.logical_and(x > 0, y > 2),
        )

    record(m, f, fill([6], 1), fill([6], 2) + 2)


@case
def activations(m):
    def f(x):
        return (
            F.relu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.silu(x),
            F.elu(x), F.leaky_relu(x, 0.2), F.softplus(x), F.hardswish(x),
            F.hardsigmoid(x), F.mish(x), F.relu6(x), F.logsigmoid(x),
            F.softsign(x), F.tanhshrink(x), F.hardtanh(x, -0.5, 0.5),
            F.selu(x), F.celu(x, 0.5), F.softshrink(x), F.hardshrink(x),
            F.threshold(x, 0.1, 20),
        )

    record(m, f, fill([9], 1))


@case
def normalisations(m):
    def f(x, w, b):
        return (
            F.softmax(x, dim=-1), torch.softmax(x, 1), x.softmax(-1),
            F.log_softmax(x, -1), F.layer_norm(x, (4,)),
            F.layer_norm(x, (4,), w, b, 1e-3), F.normalize(x),
            F.normalize(x, p=1.0, dim=0), F.rms_norm(x, (4,), w),
            F.group_norm(x, 2, w, b),
        )

    record(m, f, fill([3, 4], 1), fill([4], 2), fill([4], 3))


@case
def products(m):
    def f(x, y, z):
        return (
            torch.matmul(x, y), torch.mm(x, y), x.mm(y), torch.mv(x, z),
            torch.dot(z, z), torch.outer(z, z), torch.addmm(z, x, y),
            torch.einsum("ij,jk->ik", x, y), F.linear(x, y), F.linear(x, y, z),
            torch.bmm(x[None], y[None]),
        )

    record(m, f, fill([3, 3], 1), fill([3, 3], 2), fill([3], 4))


@case
def convolutions(m):
    def f(x, w, b, line, v):
        return (
            F.conv2d(x, w), F.conv2d(x, w, b, stride=2, padding=1),
            torch.conv2d(x, w, b, 1, 1, 1, 1), F.conv1d(line, v, None, 2),
            F.conv_transpose2d(x[:, :2], w, stride=2),
        )

    record(m, f, fill([1, 3, 6, 6], 1), fill([2, 3, 3, 3], 2), fill([2], 3),
           fill([2, 3, 8], 1), fill([4, 3, 3], 5))


@case
def pooling(m):
    def f(x):
        return (
            F.max_pool2d(x, 2), F.max_pool2d(x, 3, stride=2, padding=1),
            F.avg_pool2d(x, 2), F.adaptive_avg_pool2d(x, (2, 3)),
            F.adaptive_avg_pool2d(x, 1), F.interpolate(x, scale_factor=2),
            F.pad(x, (1, 1, 0, 2)), F.pad(x, (1, 1), "constant", 0.5),
        )

    record(m, f, fill([1, 2, 6, 6], 1))


@case
def attention(m):
    def f(q, k, v, mask):
        return (
            F.scaled_dot_product_attention(q, k, v),
            F.scaled_dot_product_attention(q, k, v, is_causal=True),
            F.scaled_dot_product_attention(q, k, v, attn_mask=mask),
        )

    record(m, f, fill([1, 2, 4, 8], 1), fill([1, 2, 4, 8], 2),
           fill([1, 2, 4, 8], 3), fill([4, 4], 4))


@case
def made_from_other_tensors(m):
    def f(x):
        return (
            torch.zeros_like(x), torch.ones_like(x), torch.full_like(x, 3.5),
            x.new_zeros(2, 2), x.to(torch.float64), x.float(), x.type_as(x),
            x.clone(), x.detach(),
        )

    record(m, f, fill([2, 2], 1))


@case
def aten_overloads(m):
    aten = torch.ops.aten

    def f(x, y):
        a = aten.add.Tensor(x, y, alpha=2)
        b = aten.mul.Scalar(a, 3)
        c = aten.relu.default(b)
        return aten.sum.dim_IntList(c, [1], True), aten.mm.default(x, y)

    record(m, f, fill([3, 3], 1), fill([3, 3], 2))


@case
def embedding_lookup(m):
    def f(tokens, table):
        return F.embedding(tokens, table), table[tokens], table[tokens, 1:]

    record(m, f, fill([2, 3], 1, torch.int64), fill([10, 4], 2))
