"""Functions that torch exports under several names are recorded under one: the
name of what they are."""

import torch
import torch.nn.functional as F
from torch.fx import symbolic_trace
from torch.fx.node import _get_qualified_name

from mirror import case, fill

# Also in spellings_test.cpp.
NAMES = """
F.adaptive_avg_pool1d F.avg_pool1d F.avg_pool2d F.avg_pool3d F.bilinear
F.channel_shuffle F.native_channel_shuffle F.conv1d F.conv2d F.conv3d
F.conv_transpose1d F.conv_transpose2d F.conv_transpose3d F.cosine_similarity
F.gelu F.hardshrink F.linear F.logsigmoid F.one_hot F.pairwise_distance
F.pixel_shuffle F.pixel_unshuffle F.prelu F.relu_ F.scaled_dot_product_attention
F.softplus F.softshrink F.threshold
F.relu F.silu F.softmax F.layer_norm F.dropout F.embedding F.pad F.interpolate
F.max_pool1d F.max_pool2d F.max_pool3d F.adaptive_avg_pool2d F.cross_entropy
F.glu F.elu F.selu F.celu F.leaky_relu F.hardtanh F.relu6 F.mish F.normalize
torch.atleast_1d torch.atleast_2d torch.atleast_3d torch.broadcast_tensors
torch.cdist torch.einsum torch.meshgrid torch.norm torch.split torch.tensordot
torch.unique torch.unique_consecutive
torch.special.erf torch.special.erfc torch.special.expit torch.special.expm1
torch.special.exp2 torch.special.log_softmax torch.special.softmax
torch.special.logsumexp torch.special.logit torch.special.xlogy
torch.linalg.vector_norm torch.linalg.cross torch.linalg.inv torch.linalg.det
torch.linalg.slogdet torch.linalg.solve torch.linalg.solve_triangular
torch.linalg.cholesky torch.linalg.svdvals torch.linalg.matrix_norm
torch.linalg.norm torch.linalg.matrix_power torch.linalg.multi_dot
torch.linalg.vecdot torch.linalg.diagonal torch.linalg.matmul
torch.special.entr torch.special.gammaln torch.special.digamma torch.special.psi
torch.special.i0e torch.special.ndtr torch.special.zeta torch.special.xlog1py
torch.special.polygamma torch.special.multigammaln
torch.threshold torch.prelu torch.celu torch.selu torch.conv2d torch.softmax
"""


def find(name):
    found = F if name.startswith("F.") else torch
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@case
def names_of_functions(m):
    for name in NAMES.split():
        m.text(name, _get_qualified_name(find(name)))


@case
def recorded_by_either_name(m):
    m.graph(symbolic_trace(lambda x: F.gelu(F.softplus(F.logsigmoid(x)))))
    m.graph(symbolic_trace(lambda x, w: F.linear(F.avg_pool1d(x, 2), w)))
    m.graph(symbolic_trace(lambda x: F.threshold(x, 0.5, 1.0)))
    m.graph(symbolic_trace(lambda x: torch.special.expit(torch.special.erf(x))))
    m.graph(symbolic_trace(lambda x, y: torch.meshgrid(x, y)))
    m.graph(symbolic_trace(lambda x: torch.linalg.norm(torch.linalg.inv(x))))
    m.graph(symbolic_trace(lambda x: torch.linalg.matmul(x, x)))


@case
def computes_by_either_name(m):
    gm = symbolic_trace(lambda x: F.gelu(F.softplus(F.threshold(x, 0.25, -1.0))))
    m.outputs(gm, fill([3, 4]))
    m.code(gm)
