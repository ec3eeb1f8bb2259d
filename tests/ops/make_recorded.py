"""Writes recorded_reference.txt: what torch.fx records for calls on a proxy.

Run with a Python that has torch 2.13:  python tests/ops/make_recorded.py

A line is `EXPRESSION -> OPCODE TARGET ARGS KWARGS`; recorded_test.cpp holds the
C++ form of each expression.
"""

import os
import operator

import torch
import torch.fx
import torch.nn.functional as F

EXPRESSIONS = """
x + 2
2 + x
x - 2
2 - x
x * y
x / 2.5
1 / x
x % 3
3 % x
x & 1
1 | x
x ^ y
x << 2
2 >> x
-x
+x
~x
x == 1
1 == x
x != y
1 != x
x < 1
1 < x
x <= 1
1 <= x
x > 1
1 > x
x >= 1
1 >= x
x // 2
x ** 2
x @ y
abs(x)
x[0]
x[0, 1:, None, ...]
torch.add(x, 2)
torch.add(x, 2, alpha=3)
torch.sub(x, y)
torch.mul(x, y)
torch.div(x, 2)
torch.div(x, 2, rounding_mode='floor')
torch.floor_divide(x, 2)
torch.remainder(x, 2)
torch.pow(x, 2)
torch.neg(x)
torch.abs(x)
torch.clamp(x, 0)
torch.clamp(x, 0, 6)
torch.clamp_min(x, 0)
torch.minimum(x, y)
torch.lerp(x, y, 0.5)
torch.addcmul(x, x, y, value=0.5)
torch.round(x)
torch.exp(x)
torch.log(x)
torch.erf(x)
torch.tanh(x)
torch.sigmoid(x)
torch.relu(x)
torch.prelu(x, y)
torch.eq(x, 1)
torch.isnan(x)
torch.logical_and(x, y)
torch.bitwise_not(x)
torch.where(x, y, 0.0)
torch.masked_fill(x, y, -1.0)
torch.full_like(x, 2)
torch.zeros_like(x, dtype=torch.float16)
F.relu(x)
F.relu(x, True)
F.relu6(x)
F.elu(x, 0.5)
F.selu(x)
F.celu(x, 0.5)
F.threshold(x, 0.1, 20)
F.hardshrink(x)
F.softshrink(x, 0.25)
torch.asinh(x)
x.where(y, 0)
F.leaky_relu(x, 0.2)
F.hardtanh(x)
F.hardsigmoid(x)
F.hardswish(x)
F.mish(x)
F.silu(x)
F.dropout(x, 0.1, False)
F.softsign(x)
F.tanhshrink(x)
F.gelu(x)
F.gelu(x, approximate='tanh')
F.softplus(x)
F.softplus(x, 2.0)
F.logsigmoid(x)
F.prelu(x, y)
F.sigmoid(x)
F.tanh(x)
x.clamp(0, 6)
x.masked_fill(y, float('-inf'))
x.to(torch.float16)
x.float()
x.add(1, alpha=2)
""".strip().split('\n')



def write(expressions, file_name):
    lines = []
    for text in expressions:
        code = compile(text, 'expression', 'eval')
        graph = torch.fx.symbolic_trace(
            lambda x, y: eval(code, {'torch': torch, 'F': F, 'x': x, 'y': y})
        ).graph
        (node,) = [n for n in graph.nodes if n.op.startswith('call_')]
        target = node.target
        if node.op == 'call_function':
            target = torch.fx.node._get_qualified_name(target)
        lines.append('%s -> %s %s %r %r' % (text, node.op, target, node.args,
                                           dict(node.kwargs)))
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), file_name)
    with open(path, 'w') as out:
        out.write('\n'.join(lines) + '\n')


if __name__ == '__main__':
    write(EXPRESSIONS, 'recorded_reference.txt')
